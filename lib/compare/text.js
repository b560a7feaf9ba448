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

/**
 * @typedef {import('./comparison.js').Comparison} Comparison
 * @typedef {import('./comparison.js').Row} Row
 * @typedef {import('./gates.js').Ruling} Ruling
 */

const shownSettings = 6

/** @param {Comparison} comparison @returns {string[]} */
const settingsWords = ({ settings }) => {
  const words = settings.map(
    ({ name, baseline, other }) => `${name} ${baseline.join(' and ')} → ${other.join(' and ')}`,
  )
  const more = words.length > shownSettings ? `, and ${words.length - shownSettings} more` : ''
  const mixed = settings.filter(({ baseline, other }) => baseline.length > 1 || other.length > 1)
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

/** What the headline metric says. @param {Comparison} comparison @param {Row} row */
const headline = ({ baseline, other, effect }, row) => {
  const [a, b] = [plainText(baseline.name), plainText(other.name)]
  const { verdict, low, detectable } = row.difference
  const found = `${metricWords(row)}${intervalIn(row)}`
  if (low === null) return `${b} against ${a}: ${found}. That is one run a side: repeat both for an interval.`
  if (verdict === 'same')
    return `${b} and ${a} do not differ${row.difference.relative ? ` by more than ${effectWords(effect)}` : ''}: ${found}.`
  if (verdict === 'unclear')
    return `These runs cannot tell ${b} from ${a}: ${found}. They would have shown a change of ${differenceWords(row, detectable).replace('+', '')}; more or longer runs show smaller ones.`
  return `${b} is ${verdict} than ${a}: ${found}.`
}

/**
 * The plain sentences in which a comparison ends, by the metrics that Millrace is for.
 * @param {Comparison} comparison
 * @param {string} label
 */
export const conclusionOf = (comparison, label) => {
  const own = comparison.rows.filter((row) => row.label === label)
  const [first, ...others] = own.filter(({ primary }) => primary)
  if (!first) return 'No metric with a verdict was measured on both sides.'
  const named = (/** @type {string} */ what, /** @type {import('./verdict.js').Verdict} */ verdict) => {
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
  const advice = outcome === 'unclear' ? '; the interval includes the limit, more rounds narrow it' : ''
  return `threshold ${word}: ${threshold}, ${label ? `${plainText(label)}: ` : ''}measured ${shown(value)}${interval}${advice}`
}

const intervalTitle = '95 % interval'
const shownTitle = 'would show'

/** @param {Comparison} comparison @param {Row[]} rows @param {number} columns @param {'name' | 'title'} by */
const tableBy = ({ effect }, rows, columns, by) =>
  alignedTable(
    [
      { title: 'metric', left: true, whole: by === 'title', cell: ({ figure }) => figure[by] },
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

/** Metrics by the names that thresholds have; where these take the room of the intervals, by their titles. @param {Comparison} comparison @param {Row[]} rows @param {number} columns */
const table = (comparison, rows, columns) => {
  const named = tableBy(comparison, rows, columns, 'name')
  return named[0].includes(intervalTitle) ? named : tableBy(comparison, rows, columns, 'title')
}

const notes = {
  separate: "geometric means; the intervals are Welch's, of the logarithms",
  paired: 'geometric means; the intervals are of the changes within the rounds',
}

/**
 * @param {Comparison} comparison
 * @param {{ columns?: number, all?: boolean }} [look] all: metrics without a verdict too
 * @returns {string}
 */
export const comparisonText = (comparison, { columns = 110, all = false } = {}) => {
  const { baseline, other, rows, runs, rulings, unmatched, warnings, design } = comparison
  const labels = [...new Set(rows.map(({ label }) => label))]
  const whole = (/** @type {string[]} */ lines) => lines.flatMap((line) => wrapped(line, columns))
  const tables = labels.map((label) => {
    const own = rows.filter((row) => row.label === label)
    const shown = all ? own : own.filter(({ primary }) => primary)
    const hidden = own.length - shown.length
    const sides = `${plainText(other.name)} (${several(runs[label].b, 'run')}) against ${plainText(baseline.name)} (${several(runs[label].a, 'run')})`
    const lines = table(comparison, shown, columns)
    const detectable = lines[0].includes(shownTitle)
      ? `; '${shownTitle}' is the change that this many runs detect in four of five comparisons`
      : ''
    return [
      ...whole([`${label ? `${plainText(label)}: ` : ''}${sides}`]),
      ...(label === '' ? whole(settingsWords(comparison)) : []),
      ...lines,
      ...whole([
        `${notes[design]}${detectable}`,
        ...(hidden > 0 ? [`${several(hidden, 'more metric')} without a verdict: --all`] : []),
      ]),
    ]
  })
  const invalid = [...baseline.invalid, ...other.invalid]
  return blocksText([
    ...tables,
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
