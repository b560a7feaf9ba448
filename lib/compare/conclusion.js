// What a comparison comes to, in sentences. Pure.
import { plainText } from '../base/units.js'
import { changeWords, differenceWords, effectWords, intervalWords, rangeWords } from '../chart/parts.js'
import { shownFigure } from '../report/cells.js'

/**
 * @import { Comparison, Row } from './comparison.js'
 * @import { Ruling } from './gates.js'
 * @import { Rank } from './many.js'
 * @import { Verdict } from '../result/verdict.js'
 */

/** a, b or c @param {readonly string[]} names @param {'and' | 'or'} word */
const joined = (names, word) =>
  [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).map(plainText).join(` ${word} `)

/** The row of a side; none of the baseline. @param {Comparison} comparison @param {Rank} rank @param {string} side @returns {Row | undefined} */
export const rowOfSide = ({ rows }, { figure }, side) =>
  rows.find((row) => row.label === side && row.figure.name === figure.name)

/** Which sides are best by a metric, in a few words; '' where it has no verdict. @param {Comparison} comparison @param {Rank} rank */
export const bestWords = ({ effect }, { order, best, alike }) => {
  const isAll = best.length === order.length
  if (best.length < 2) return best.map(plainText).join('')
  if (alike)
    return isAll
      ? `none, no two differ by more than ${effectWords(effect)}`
      : `${joined(best, 'and')}, which do not differ by more than ${effectWords(effect)}`
  return isAll ? 'cannot tell' : `${joined(best, 'or')}, cannot tell which`
}

/** The headline metric in a sentence. @param {Comparison} comparison @param {Rank} rank */
const rankHeadline = (comparison, rank) => {
  const { figure, order, best, alike } = rank
  const names = joined(best, alike ? 'and' : 'or')
  const values = order
    .filter(({ name }) => best.includes(name))
    .map(({ centre }) => shownFigure(figure, centre))
    .join(', ')
  if (best.length === 1) {
    const row = rowOfSide(comparison, rank, best[0])
    const change = row
      ? `, ${differenceWords(row, row.difference.change)} (95 % interval ${intervalWords(row)}) against ${plainText(comparison.baseline.name)}`
      : ''
    return `${names} is the best of ${order.length} by ${figure.title}: ${values}${change}.`
  }
  if (alike)
    return `By ${figure.title}, ${names} do not differ by more than ${effectWords(comparison.effect)}${best.length < order.length ? `, and are the best of ${order.length}` : ''}: ${values}.`
  const more = 'More or longer runs show smaller differences.'
  return best.length === order.length
    ? `Cannot tell which of ${joined(best, 'and')} is best by ${figure.title}. ${more}`
    : `The best of ${order.length} by ${figure.title} is ${names}, cannot tell which: ${values}. ${more}`
}

/** The conclusion of more than two sides. @param {Comparison} comparison */
const rankConclusion = (comparison) => {
  const [first, ...others] = (comparison.ranks ?? []).filter(({ best }) => best.length > 0)
  if (!first) return 'No metric with a verdict was measured on all sides.'
  /** @type {Map<string, string[]>} */
  const found = new Map()
  for (const rank of others) {
    const words = bestWords(comparison, rank)
    found.set(words, [...(found.get(words) ?? []), rank.figure.title])
  }
  return [
    rankHeadline(comparison, first),
    ...[...found].map(([words, titles]) => `Best by ${joined(titles, 'and')}: ${words}.`),
  ].join(' ')
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
    return `Cannot tell whether ${b} is better or worse than ${a}: ${found}. Only changes above ${differenceWords(row, detectable).replace('+', '')} are detectable; more or longer runs show smaller ones.`
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
export const rulingWords = (ruling) => {
  const { label, value, low, high, outcome } = ruling
  const shown = (/** @type {number | null} */ number) =>
    ruling.relative ? changeWords(number) : shownFigure(ruling.figure, number)
  const interval =
    value === null
      ? ' (not measured on both sides)'
      : low === null || high === null
        ? ' (one run: a point without an interval)'
        : ` (${ruling.relative ? rangeWords(low, high) : `${shown(low)} to ${shown(high)}`})`
  const word = { passed: 'passed', failed: 'FAILED', unclear: 'cannot tell' }[outcome]
  const advice =
    outcome === 'unclear' && value !== null ? '; the interval includes the limit, more rounds narrow it' : ''
  return `threshold ${word}: ${ruling.threshold}, ${label ? `${plainText(label)}: ` : ''}measured ${shown(value)}${interval}${advice}`
}
