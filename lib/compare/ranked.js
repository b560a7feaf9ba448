// More than two sides in words: a table a metric, and a sentence that names the best. Pure.
import { alignedTable } from '../base/layout.js'
import { plainText } from '../base/units.js'
import { differenceWords, effectWords, intervalWords, verdictWords } from '../chart/change-words.js'
import { shownFigure } from '../report/cells.js'

/**
 * @import { Comparison, Row } from './comparison.js'
 * @import { Rank } from './many.js'
 */

/** a, b or c @param {readonly string[]} names @param {'and' | 'or'} word */
const joined = (names, word) =>
  [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).map(plainText).join(` ${word} `)

/** The row of a side; none of the baseline. @param {Comparison} comparison @param {Rank} rank @param {string} side @returns {Row | undefined} */
const rowOfSide = ({ rows }, { figure }, side) =>
  rows.find((row) => row.label === side && row.figure.name === figure.name)

/** The sides of a metric, best first, as cells. @param {Comparison} comparison @param {Rank} rank */
export const rankCells = (comparison, rank) =>
  rank.order.map(({ name, centre }) => {
    const row = rowOfSide(comparison, rank, name)
    return {
      name: plainText(name),
      centre,
      value: shownFigure(rank.figure, centre),
      change: row ? differenceWords(row, row.difference.change) : '',
      interval: row ? intervalWords(row) : '',
      detectable: row ? differenceWords(row, row.difference.detectable).replace('+', '') : '',
      verdict: row ? verdictWords(row, comparison.effect) : 'baseline',
      row,
    }
  })

const shownTitle = 'would show'

/** @param {Comparison} comparison @param {Rank} rank @param {number} columns */
const block = (comparison, rank, columns) => {
  const cells = rankCells(comparison, rank).map((cell, at) => ({ ...cell, place: at + 1 }))
  return alignedTable(
    [
      {
        title: rank.figure.name,
        left: true,
        cell: ({ place, name }) => `${String(place).padStart(3)} ${name}`,
      },
      { title: 'value', cell: ({ value }) => value },
      { title: 'change', cell: ({ change }) => change },
      { title: '95 % interval', cell: ({ interval }) => interval, rank: 1 },
      { title: shownTitle, cell: ({ detectable }) => detectable, rank: 2 },
      { title: '', left: true, cell: ({ verdict }) => verdict },
    ],
    cells,
    columns,
  )
}

/** Which sides are best by a metric, in a few words; '' where it has no verdict. @param {Comparison} comparison @param {Rank} rank */
export const bestWords = ({ effect }, { order, best, alike }) => {
  const isAll = best.length === order.length
  if (best.length < 2) return best.map(plainText).join('')
  if (alike)
    return isAll
      ? `none, no two differ by more than ${effectWords(effect)}`
      : `${joined(best, 'and')}, which do not differ by more than ${effectWords(effect)}`
  return isAll ? 'these runs cannot tell' : `${joined(best, 'or')}, these runs cannot tell which`
}

/** A block of lines a metric. @param {Comparison} comparison @param {readonly Rank[]} ranks @param {number} columns */
export const rankBlocks = (comparison, ranks, columns) =>
  ranks.map((rank) => [
    ...block(comparison, rank, columns),
    ...[bestWords(comparison, rank)].filter(Boolean).map((words) => `    best: ${words}`),
  ])

/** The headline metric in a sentence. @param {Comparison} comparison @param {Rank} rank */
const headline = (comparison, rank) => {
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
    ? `These runs cannot tell which of ${names} is best by ${figure.title}. ${more}`
    : `The best of ${order.length} by ${figure.title} is ${names}: ${values}; these runs cannot tell which. ${more}`
}

/** The conclusion of more than two sides. @param {Comparison} comparison */
export const rankConclusion = (comparison) => {
  const [first, ...others] = (comparison.ranks ?? []).filter(({ best }) => best.length > 0)
  if (!first) return 'No metric with a verdict was measured on all sides.'
  /** @type {Map<string, string[]>} */
  const found = new Map()
  for (const rank of others) {
    const words = bestWords(comparison, rank)
    found.set(words, [...(found.get(words) ?? []), rank.figure.title])
  }
  return [
    headline(comparison, first),
    ...[...found].map(([words, titles]) => `Best by ${joined(titles, 'and')}: ${words}.`),
  ].join(' ')
}
