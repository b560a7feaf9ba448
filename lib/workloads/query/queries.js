// Queries over documents: those of one status whose price lies between two bounds, sorted, and a page of them. The bounds
// of each are chosen so that it matches a stated share of the documents.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { statuses } from './documents.js'

/**
 * @import { Columns } from './documents.js'
 *
 * @typedef {'created' | 'created-desc' | 'rating' | 'rating-desc'} SortBy desc: the highest first
 *
 * @typedef {object} Query
 * @property {string} status
 * @property {number} min price, in cents
 * @property {number} max the same, still in it
 * @property {number} matches documents as they were loaded
 */

/** @param {SortBy} sortBy */
export const fieldOf = (sortBy) => (sortBy.startsWith('created') ? 'created' : 'rating')
/** @param {SortBy} sortBy */
export const isDescending = (sortBy) => sortBy.endsWith('-desc')

/**
 * What a document is sorted by, the lowest first; those without the field come last.
 * @param {Columns} columns
 * @param {SortBy} sortBy
 * @returns {(n: number) => number}
 */
export const sortKeyOf = ({ created, rating }, sortBy) => {
  const sign = isDescending(sortBy) ? -1 : 1
  if (fieldOf(sortBy) === 'created') return (n) => sign * created[n]
  return (n) => (rating[n] === 0 ? Number.POSITIVE_INFINITY : sign * rating[n])
}

/**
 * @param {Columns} columns
 * @param {{ count: number, queries: number, share: number, seed: number }} needs share: of the documents that a query matches
 * @returns {Query[]}
 */
export const queriesOf = ({ status, price }, { count, queries, share, seed }) => {
  const wanted = Math.max(1, Math.round(share * count))
  const prices = statuses.map((_, code) => {
    const own = []
    for (let n = 1; n <= count; n++) if (status[n] === code && price[n] >= 0) own.push(price[n])
    return Int32Array.from(own).sort()
  })
  const possible = prices.flatMap(({ length }, code) => (length >= wanted ? [code] : []))
  // A share that no status reaches is asked of the largest: what it matches is counted.
  const codes = possible.length > 0 ? possible : [0]
  const random = xoroshiro128plus(seed ^ 0x51e7)
  const below = (/** @type {number} */ n) => (random.next() >>> 0) % n
  return Array.from({ length: queries }, () => {
    const code = codes[below(codes.length)]
    const own = prices[code]
    const many = Math.min(wanted, own.length)
    const from = below(own.length - many + 1)
    const [min, max] = [own[from], own[from + many - 1]]
    const matches = own.filter((one) => one >= min && one <= max).length
    return { status: statuses[code], min, max, matches }
  })
}
