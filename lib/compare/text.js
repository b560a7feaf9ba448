// A comparison as text, and in one sentence. Pure.

import { alignedTable, blocksText, wrapped } from '../base/layout.js'
import { plainText, several } from '../base/units.js'
import {
  changeWords,
  differenceWords,
  effectWords,
  intervalWords,
  verdictWords,
} from '../chart/change-words.js'
import { shownFigure } from '../report/cells.js'
import { rankBlocks, rankConclusion } from './ranked.js'

/**
 * @import { Comparison, Row } from './comparison.js'
 * @import { Ruling } from './gates.js'
 * @import { Verdict } from '../result/verdict.js'
 */

const shownSettings = 6

/** @param {Comparison} comparison @returns {string[]} */
const settingsWords = ({ settings, ranks }) => {
  const words = settings.map(
    ({ name, baseline, other }) =>
      `${name} ${baseline.join(' and ')} → ${other.join(ranks ? ' / ' : ' and ')}`,
  )
  const more = words.length > shownSettings ? `, and ${words.length - shownSettings} more` : ''
  const mixed = ranks ? [] : settings.filter(({ baseline, other }) => baseline.length > 1 || other.length > 1)
  return [
    words.length > 0
      ? `settings that differ: ${plainText(words.slice(0, shownSettings).join(', '))}${more}`
      : 'all settings are the same',
    ...(mixed.length > 0
      ? [
          `! not repeats of one thing: a side has runs of more than one ${mixed.map(({ name }) => name).join(', ')}`,
        ]
      : []),
  ]
}

/** @param {Row} row */
const metricWords = (row) => `${row.figure.title} ${differenceWords(row, row.difference.change)}`

/** @param {Row} row */
const intervalIn = (row) => (row.difference.low === null ? '' : ` (95 % interval ${intervalWords(row)})`)

/** The headline metric in a sentence. @param {Comparison} comparison @param {Row} row */
const headline = ({ baseline, other, effect }, row) => {
  const [a, b] = [plainText(baseline.name), plainText(other.name)]
  const { verdict, low, detectable } = row.difference
  const found = `${metricWords(row)}${intervalIn(row)}`
  if (low === null) return `${b} against ${a}: ${found}. Each side has one run: repeat both for an interval.`
  if (verdict === 'same')
    return `${b} and ${a} do not differ${row.difference.relative ? ` by more than ${effectWords(effect)}` : ''}: ${found}.`
  if (verdict === 'unclear')
    return `No significant difference between ${b} and ${a}: ${found}. Only changes above ${differenceWords(row, detectable).replace('+', '')} are detectable; more or longer runs show smaller ones.`
  return `${b} is ${verdict} than ${a}: ${found}.`
}

/**
 * The conclusion of a comparison in sentences, by the metrics that Millrace is for.
 * @param {Comparison} comparison
 * @param {string} label
 */
export const conclusionOf = (comparison, label) => {
  if (comparison.ranks && label === '') return rankConclusion(comparison)
  const own = comparison.rows.filter((row) => row.label === label)
  const [first, ...others] = own.filter(({ primary }) => primary)
  if (!first) return 'No metric with a verdict was measured on both sides.'
  const named = (/** @type {string} */ what, /** @type {Verdict} */ verdict) => {
    const found = others.filter(({ difference }) => difference.low !== null && difference.verdict === verdict)
    const words =
      verdict === 'better' || verdict === 'worse' ? metricWords : (/** @type {Row} */ row) => row.figure.title
    return found.length > 0 ? `${what}: ${found.map(words).join(', ')}.` : ''
  }
  return [
    headline(comparison, first),
    named(first.difference.verdict === 'better' ? 'Also better' : 'Better', 'better'),
    named(first.difference.verdict === 'worse' ? 'Also worse' : 'Worse', 'worse'),
    named(`No difference beyond ${effectWords(comparison.effect)}`, 'same'),
    named('Cannot tell', 'unclear'),
  ]
    .filter(Boolean)
    .join(' ')
}

/** @param {Ruling} ruling */
export const rulingWords = ({ threshold, label, value, low, high, relative, figure, outcome }) => {
  const shown = (/** @type {number | null} */ number) =>
    relative ? changeWords(number) : shownFigure(figure, number)
  const interval =
    value === null
      ? ' (not measured on both sides)'
      : low === null
        ? ' (one run: a point without an interval)'
        : ` (${shown(low)} to ${shown(high)})`
  const word = { passed: 'passed', failed: 'FAILED', unclear: 'cannot tell' }[outcome]
  const advice =
    outcome === 'unclear' && value !== null ? '; the interval includes the limit, more rounds narrow it' : ''
  return `threshold ${word}: ${threshold}, ${label ? `${plainText(label)}: ` : ''}measured ${shown(value)}${interval}${advice}`
}

const intervalTitle = '95 % interval'
const shownTitle = 'would show'

/** @param {Comparison} comparison @param {Row[]} rows @param {number} columns @param {boolean} named whether the metrics are a column */
const tableIn = ({ effect }, rows, columns, named) =>
  alignedTable(
    [
      ...(named
        ? [{ title: 'metric', left: true, cell: (/** @type {Row} */ { figure }) => figure.name }]
        : []),
      { title: 'baseline', cell: ({ figure, difference }) => shownFigure(figure, difference.centreA) },
      { title: 'other', cell: ({ figure, difference }) => shownFigure(figure, difference.centreB) },
      { title: 'change', cell: (row) => differenceWords(row, row.difference.change) },
      { title: intervalTitle, cell: intervalWords, rank: 1 },
      {
        title: shownTitle,
        cell: (row) => differenceWords(row, row.difference.detectable).replace('+', ''),
        rank: 2,
      },
      { title: '', left: true, cell: (row) => verdictWords(row, effect) },
    ],
    rows,
    columns,
  )

/** Metrics by the names that thresholds have: a column, or where that takes the room of the intervals, a line each. @param {Comparison} comparison @param {Row[]} rows @param {number} columns */
const table = (comparison, rows, columns) => {
  const whole = tableIn(comparison, rows, columns, true)
  if (whole[0].includes(intervalTitle)) return whole
  const [titles, ...lines] = tableIn(comparison, rows, columns - 2, false).map((line) => `  ${line}`)
  return [titles, ...lines.flatMap((line, at) => [rows[at].figure.name, line])]
}

const notes = {
  separate: "geometric means; the intervals are Welch's, of the logarithms",
  paired: 'geometric means; the intervals are of the changes within the rounds',
}

/** @param {Comparison} comparison @param {number} columns @param {boolean} all @returns {string[][]} */
const rankedTables = (comparison, columns, all) => {
  const { baseline, runs, ranks = [], design } = comparison
  const whole = (/** @type {string[]} */ lines) => lines.flatMap((line) => wrapped(line, columns))
  const shown = all ? ranks : ranks.filter(({ primary }) => primary)
  const blocks = rankBlocks(comparison, shown, columns)
  const sides = Object.entries(runs).map(
    ([name, { b }]) => `${plainText(name)} (${several(b, design === 'paired' ? 'round' : 'run')})`,
  )
  const hidden = ranks.length - shown.length
  return [
    whole([
      `${sides.join(', ')}, each against ${plainText(baseline.name)}; the best is above`,
      ...settingsWords(comparison),
    ]),
    ...blocks,
    whole([
      `${notes[design]}, against ${plainText(baseline.name)}; those of a metric hold together for all sides${detectableWords(blocks.flat())}`,
      ...(hidden > 0 ? [`${several(hidden, 'more metric')} without a verdict: -v`] : []),
    ]),
  ]
}

/** @param {readonly string[]} lines of a table */
const detectableWords = (lines) =>
  lines[0]?.includes(shownTitle)
    ? `; '${shownTitle}' is the change that this many runs detect in four of five comparisons`
    : ''

/**
 * @param {Comparison} comparison
 * @param {{ columns?: number, all?: boolean }} [layout] all: metrics without a verdict too
 * @returns {string}
 */
export const comparisonText = (comparison, { columns = 110, all = false } = {}) => {
  const { baseline, other, rows, runs, rulings, unmatched, warnings, design, ranks } = comparison
  const labels = ranks ? [''] : [...new Set(rows.map(({ label }) => label))]
  const whole = (/** @type {string[]} */ lines) => lines.flatMap((line) => wrapped(line, columns))
  const tableOf = (/** @type {string} */ label) => {
    const own = rows.filter((row) => row.label === label)
    const shown = all ? own : own.filter(({ primary }) => primary)
    const hidden = own.length - shown.length
    const sides = `${plainText(other.name)} (${several(runs[label].b, 'run')}) against ${plainText(baseline.name)} (${several(runs[label].a, 'run')})`
    const lines = table(comparison, shown, columns)
    return [
      ...whole([`${label ? `${plainText(label)}: ` : ''}${sides}`]),
      ...(label === '' ? whole(settingsWords(comparison)) : []),
      ...lines,
      ...whole([
        `${notes[design]}${detectableWords(lines)}`,
        ...(hidden > 0 ? [`${several(hidden, 'more metric')} without a verdict: -v`] : []),
      ]),
    ]
  }
  const invalid = [...baseline.invalid, ...other.invalid]
  return blocksText([
    ...(ranks ? rankedTables(comparison, columns, all) : labels.map(tableOf)),
    whole(warnings.map(({ message }) => `! ${plainText(message)}`)),
    whole([
      ...unmatched.map((label) => `only on one side: ${plainText(label)}`),
      ...(invalid.length > 0
        ? [`compared although they are not valid: ${plainText(invalid.join(', '))}`]
        : []),
      ...rulings.map(rulingWords),
    ]),
    labels.flatMap((label) =>
      whole([`${label ? `${plainText(label)}: ` : ''}${conclusionOf(comparison, label)}`]),
    ),
  ])
}
