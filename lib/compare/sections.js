// What the page and the summary of a comparison say. Pure.
import { forest, runsInOrder } from '../../charts/comparison.js'
import { plainData, several } from '../base/units.js'
import { differenceWords, effectWords, intervalWords, verdictWords } from '../chart/change-words.js'
import { cell, shownFigure } from '../report/cells.js'
import { conclusionOf, rulingWords } from './text.js'

/**
 * @typedef {import('./comparison.js').Comparison} Comparison
 * @typedef {import('./comparison.js').Row} Row
 * @typedef {import('../report/sections.js').Sections} Sections
 *
 * @typedef {object} Facts of a comparison whose rounds were run for it
 * @property {string} command
 * @property {string} method how many rounds, and when it stopped
 * @property {string} where
 * @property {('a' | 'b')[]} firsts which side ran first in each round
 * @property {{ a: string, b: string }[]} runs folders of the runs of both sides, a round each
 * @property {boolean} isValid
 */

/** @param {Comparison} comparison @param {Row[]} rows @param {string} title @param {boolean} more without verdicts @returns {import('../report/sections.js').Table} */
const metricsTable = ({ effect, baseline, other }, rows, title, more) => ({
  title,
  fold: title,
  ...(more && { more: /** @type {true} */ (true) }),
  note: more
    ? 'Without verdicts: of twenty metrics, one differs by chance.'
    : `Geometric means. 'Would show' is the smallest change that this many runs detect in four of five comparisons.`,
  columns: [
    { title: 'metric', left: true },
    { title: baseline.name },
    { title: other.name },
    { title: 'change' },
    { title: '95 % interval' },
    ...(more ? [] : [{ title: 'would show' }, { title: 'verdict', left: /** @type {true} */ (true) }]),
  ],
  rows: rows.map((row) => {
    const { figure, label, difference } = row
    return [
      cell(label ? `${label}: ${figure.title}` : figure.title),
      cell(shownFigure(figure, difference.centreA), difference.centreA),
      cell(shownFigure(figure, difference.centreB), difference.centreB),
      cell(differenceWords(row, difference.change), difference.change),
      cell(intervalWords(row), difference.low),
      ...(more
        ? []
        : [
            cell(differenceWords(row, difference.detectable).replace('+', ''), difference.detectable),
            cell(verdictWords(row, effect)),
          ]),
    ]
  }),
})

const words = { better: 'Better', worse: 'Worse', same: 'No difference', unclear: 'Cannot tell' }

/** @param {boolean} isValid @param {boolean} failed @param {Row | undefined} first metric */
const wordOf = (isValid, failed, first) => {
  if (!isValid) return 'Not valid'
  if (failed) return 'Threshold failed'
  return first && first.difference.low !== null ? words[first.difference.verdict] : 'Answer'
}

/** @param {Comparison} comparison @param {Facts} facts @returns {Sections} */
export const comparisonSections = (comparison, facts) => {
  const shown = /** @type {Comparison} */ (plainData(comparison))
  const { rows, rulings, settings, warnings, baseline, other, effect } = shown
  const failed = rulings.some(({ outcome }) => outcome === 'failed')
  const first = rows.find(({ primary }) => primary)
  const good = facts.isValid && !failed && (rulings.length > 0 || first?.difference.verdict !== 'worse')
  const hidden = rows.filter(({ primary }) => !primary)
  return {
    title: `${other.name} against ${baseline.name}`,
    question: `Does ${other.name} cost more or less than ${baseline.name}?`,
    verdict: {
      good,
      neutral: good && first?.difference.verdict !== 'better' && rulings.length === 0,
      word: wordOf(facts.isValid, failed, first),
      sentence: conclusionOf(comparison, ''),
    },
    highlights: [],
    facts: [
      {
        label: 'differs in',
        text:
          settings
            .map((each) => `${each.name}: ${each.baseline.join(', ')} → ${each.other.join(', ')}`)
            .join('; ') || 'nothing: a comparison of one thing with itself',
      },
      { label: 'method', text: `${facts.method}; smallest effect that matters ${effectWords(effect)}` },
      { label: 'servers', text: facts.where },
      { label: 'again', text: facts.command },
    ],
    tables: [
      metricsTable(
        shown,
        rows.filter(({ primary }) => primary),
        'Metrics with a verdict',
        false,
      ),
      ...(rulings.length > 0
        ? [
            {
              title: 'Thresholds',
              columns: [{ title: 'result', left: /** @type {true} */ (true) }],
              rows: rulings.map((ruling) => [cell(rulingWords(ruling))]),
            },
          ]
        : []),
      ...(facts.firsts.length > 0 ? [roundsTable(shown, facts)] : []),
      ...(hidden.length > 0
        ? [metricsTable(shown, hidden, `${several(hidden.length, 'more metric')}`, true)]
        : []),
    ],
    remarksLast: true,
    warnings: warnings.map(({ message, code }) => ({
      text: message,
      serious: code === 'invalid' && !facts.isValid,
    })),
  }
}

/** @param {Comparison} comparison @param {Facts} facts @returns {import('../report/sections.js').Table} */
const roundsTable = ({ rows, baseline, other }, { firsts, runs }) => {
  const shown = rows.filter(({ primary }) => primary).slice(0, 3)
  return {
    title: 'Rounds',
    fold: 'Rounds',
    more: true,
    note: 'Each round has a run of each side, in ABBA order.',
    columns: [
      { title: 'round', left: true },
      { title: 'first', left: true },
      { title: baseline.name, left: true },
      { title: other.name, left: true },
      ...shown.map(({ figure }) => ({ title: figure.title })),
    ],
    rows: firsts.map((first, at) => [
      cell(String(at + 1), at),
      cell(first === 'a' ? baseline.name : other.name),
      { ...cell('run'), ...(runs[at] && { link: `${runs[at].a}/report.html` }) },
      { ...cell('run'), ...(runs[at] && { link: `${runs[at].b}/report.html` }) },
      ...shown.map((row) => {
        const change = row.difference.relative ? row.b[at] / row.a[at] - 1 : row.b[at] - row.a[at]
        return {
          ...cell(differenceWords(row, change), change),
          detail: `${shownFigure(row.figure, row.a[at])} → ${shownFigure(row.figure, row.b[at])}`,
        }
      }),
    ]),
  }
}

/** @param {Comparison} comparison @param {Facts} facts @returns {import('../report/charts.js').NamedPicture[]} */
export const comparisonPictures = (comparison, { firsts }) => {
  const charts = [
    { ...forest, option: forest.option(comparison) },
    { ...runsInOrder, option: runsInOrder.option({ ...comparison, firsts }) },
  ]
  return charts.flatMap(({ option, ...named }) =>
    option ? [{ ...named, option, wide: /** @type {true} */ (true) }] : [],
  )
}
