// Draws the next item by popularity, which may move over the items; items may be replaced by new ones. Pure functions of a
// seed and of the time since the start.

import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { mix } from '../base/random.js'
import { agentRange } from '../base/ranges.js'
import { stepOf } from '../base/steps.js'
import { paceOf } from './pace.js'
import { orderOf, popularityOf } from './popularity.js'

/**
 * @import { Range } from '../base/ranges.js'
 *
 * @typedef {object} ItemFields
 * @property {string} order as --popularity has it
 * @property {number} count items at any moment
 * @property {number} seed
 * @property {number} [first] the first of them at the start
 * @property {number} [quantity] added to an item's number for the item that replaces it
 * @property {string | null} [shift] a pace: how fast the popularity of an item passes to the next
 * @property {string | null} [churn] a pace: how fast items are replaced by new ones
 * @property {number} [clients] of order split
 */

/** a * b mod m of numbers below 2^27, whose product may exceed what a number holds. */
const product = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ m) => {
  const high = Math.floor(b / 16_384)
  return (((((a * high) % m) * 16_384) % m) + ((a * (b - high * 16_384)) % m)) % m
}

/** @param {number} a @param {number} m without a common divisor */
const inverse = (a, m) => {
  let [r, next, t, nextT] = [m, a, 0, 1]
  while (next !== 0) {
    const times = Math.floor(r / next)
    ;[r, next, t, nextT] = [next, r - times * next, nextT, t - times * nextT]
  }
  return t < 0 ? t + m : t
}

/**
 * Places 0..count-1, whose items are replaced in turn, in an order that is independent of popularity. Items of the start are
 * of generation 0.
 * @param {number} count
 * @param {number} perMs share of the items
 */
const turnover = (count, perMs) => {
  const step = stepOf(count)
  const back = inverse(step % count, count)
  const replaced = (/** @type {number} */ atMs) => Math.floor(perMs * atMs * count)
  return {
    /** @param {number} place @param {number} atMs */
    generation: (place, atMs) =>
      Math.max(0, Math.floor((replaced(atMs) + count - 1 - product(place, step, count)) / count)),
    /** The item that is newer than all but `rank` others. @param {number} rank from 0 @param {number} atMs */
    newest: (rank, atMs) => {
      const born = replaced(atMs) - 1 - rank
      const position = born - Math.floor(born / count) * count
      return { place: product(position, back, count), generation: Math.floor(born / count) + 1 }
    },
  }
}

/**
 * Each client goes through its own part of the numbers in order, again and again.
 * @param {number} count
 * @param {number} clients
 * @returns {(client: number) => number} places, from 0
 */
const splitOf = (count, clients) => {
  const parts = Math.min(clients, count)
  const ranges = Array.from({ length: parts }, (_, part) => agentRange(count, parts, part + 1))
  const at = new Uint32Array(parts)
  return (client) => {
    const part = client % parts
    const { first, count: size } = ranges[part]
    const place = first - 1 + at[part]
    at[part] = at[part] + 1 === size ? 0 : at[part] + 1
    return place
  }
}

/** @param {string} order */
const orderNamed = (order) => {
  const asked = orderOf(order)
  if (!asked) throw new TypeError(`no order ${order}`)
  return asked
}

/** @param {string | null | undefined} pace */
const perMsOf = (pace) => (pace ? Number(paceOf(pace)) : 0)

/**
 * The number of the item in each place, 0..count-1, as time goes by.
 * @param {Omit<ItemFields, 'order' | 'seed'>} fields
 * @returns {(place: number, atMs: number) => number}
 */
const numbersOf = ({ count, first = 1, quantity = count, churn }) => {
  if (!churn) return (place) => first + place
  const { generation } = turnover(count, perMsOf(churn))
  return (place, atMs) => first + place + generation(place, atMs) * quantity
}

/**
 * The numbers of items as they are drawn, for a client.
 * @param {ItemFields} fields
 * @returns {(atMs: number, client?: number) => number}
 */
export const drawsOf = (fields) => {
  const { order, count, seed, first = 1, quantity = count, shift, churn, clients = 1 } = fields
  const asked = orderNamed(order)
  const numberOf = numbersOf(fields)
  if (asked.kind === 'split') {
    const placeOf = splitOf(count, clients)
    return (atMs, client = 0) => numberOf(placeOf(client), atMs)
  }
  if (asked.kind === 'sequential') {
    let n = 0
    return (atMs) => {
      n = n === count ? 1 : n + 1
      return numberOf(n - 1, atMs)
    }
  }
  const random = xoroshiro128plus(seed)
  const rankOf = popularityOf(asked, count, () => random.next())
  if (asked.kind === 'recent') {
    const { newest } = turnover(count, perMsOf(churn))
    return (atMs) => {
      const { place, generation } = newest(rankOf() - 1, atMs)
      return first + place + generation * quantity
    }
  }
  const shiftPerMs = perMsOf(shift)
  if (shiftPerMs === 0) return (atMs) => numberOf(rankOf() - 1, atMs)
  return (atMs) => numberOf((rankOf() - 1 + Math.floor(shiftPerMs * atMs * count)) % count, atMs)
}

/**
 * The items of a writer's batches, if they are drawn.
 * @param {{ order: string, shift: string | null, churn: string | null, quantity: number, seed: number }} plan
 * @param {{ agent: number, first: number, count: number }} range
 * @returns {(range: Range, atMs: number) => Float64Array}
 */
export const batchDraws = ({ order, shift, churn, quantity, seed }, { agent, first, count }) => {
  const fields = { order, shift, churn, quantity, first, count, seed: mix(mix(seed) ^ agent) }
  if (order === 'sequential') {
    const numberOf = numbersOf(fields)
    return (range, atMs) => {
      const items = new Float64Array(range.count)
      for (let i = 0; i < items.length; i++) items[i] = numberOf(range.first - first + i, atMs)
      return items
    }
  }
  const draw = drawsOf(fields)
  return (range, atMs) => {
    const items = new Float64Array(range.count)
    for (let i = 0; i < items.length; i++) items[i] = draw(atMs)
    return items
  }
}

/** Whether batches have different items each time. @param {{ order?: string, churn?: string | null }} plan */
export const isDrawn = ({ order = 'sequential', churn }) => order !== 'sequential' || Boolean(churn)

/** Each of so many numbers once, then -1. @param {number} count @param {number} [after] the number before the first */
export const eachOnce = (count, after = 0) => {
  let n = after
  return () => (n < after + count ? ++n : -1)
}

/** Popularity in a few words. @param {{ order: string, shift?: string | null, churn?: string | null }} fields */
export const itemsWords = ({ order, shift, churn }) => {
  if (order === 'split') return 'each connection its own items in order'
  const words =
    order === 'sequential'
      ? 'items in order'
      : order === 'uniform'
        ? 'each item as likely'
        : `items by ${order}`
  return [words, shift && `shifting ${shift}`, churn && `${churn} replaced`].filter(Boolean).join(', ')
}

/**
 * The rank of an item by popularity, from 0, of `count`; null: popularity is not by rank.
 * @param {ItemFields} fields
 * @returns {((n: number, atMs: number) => number) | null}
 */
export const ranksOf = ({ order, count, shift, first = 1 }) => {
  const { kind } = orderNamed(order)
  if (kind !== 'zipf' && kind !== 'hot') return null
  const perMs = perMsOf(shift)
  return (n, atMs) => {
    const place = (n - first) % count
    const moved = perMs === 0 ? 0 : Math.floor(perMs * atMs * count) % count
    return place >= moved ? place - moved : place - moved + count
  }
}
