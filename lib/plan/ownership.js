// Whose a key is: the names, ranges and types that a plan card covers, and nothing beside them.
import { extraSetKeys, keysOf, sortedSetKeys } from './keys.js'

/** @typedef {import('./plan-card.js').PlanCard} PlanCard */

const dayMinutes = 24 * 60
const ourShapes =
  /^([^{}\s]{0,100}?)(?:item:|latest-hash:|latest-fields:|latest-ids|latest-stream$|millrace:plan$|millrace:lease:)/
const leaseShape = /^[^{}\s]{0,100}?millrace:lease:(?:read:[a-z-]{1,40}:)?[1-9]\d{0,4}$/
const withoutItemKeys = new Set(['actual-value', 'hash', 'stream', 'hash-ttl'])
const withSortedSets = new Set(['sorted-set', 'actual-value', 'script-batch', 'script-item', 'hash'])

/**
 * The prefix that a key of ours with such a name would have; null when it cannot be one.
 * @param {string} key
 */
export const prefixOf = (key) => ourShapes.exec(key)?.[1] ?? null

/** A lease is told by its name: it comes before the plan. @param {string} key */
export const isLease = (key) => leaseShape.test(key)

/** The number behind the last colon, and what follows it. @param {string} key */
const numberIn = (key) => {
  const digits = /:(0|[1-9]\d{0,15})(?:\{[^{}]*\})?$/.exec(key)?.[1]
  return digits === undefined ? Number.NaN : Number(digits)
}

/**
 * @param {PlanCard} card
 * @returns {(key: string) => string | null} the type that a key of this plan has; null: the plan has no such key
 */
export const typesOf = (card) => {
  const { strategy, prefix, quantity, once, sets, extraSets, buckets } = card
  const keys = keysOf(card)
  /** @type {Map<string, string>} */
  const exact = new Map([[`${prefix}millrace:plan`, 'hash']])
  if (withSortedSets.has(strategy)) for (const set of [...sets, ...extraSets]) exact.set(set, 'zset')
  if (strategy.startsWith('list')) exact.set(keys.list, 'list')
  if (strategy === 'stream') exact.set(keys.stream, 'stream')

  const isItem = (/** @type {number} */ n) => n >= 1 && (once || n <= quantity)
  // The writers' clocks may be a little off.
  const fromMinute = card.startedMs / 60_000 - dayMinutes
  const toMinute = card.renewedMs / 60_000 + dayMinutes
  const isMinute = (/** @type {number} */ n) => n >= fromMinute && n <= toMinute
  const minuteKey = (/** @type {import('../wire/encode.js').Part[]} */ [base]) => {
    return (/** @type {number} */ n) => `${base}${n}`
  }
  /** @type {[name: (n: number) => string, holds: (n: number) => boolean, type: string][]} */
  const numbered = []
  if (!withoutItemKeys.has(strategy)) numbered.push([keys.item, isItem, 'string'])
  if (strategy === 'hash') numbered.push([keys.hash, isItem, 'hash'])
  if (strategy === 'hash-ttl') numbered.push([keys.bucket, (n) => n >= 0 && n < buckets, 'hash'])
  if (strategy === 'set') numbered.push([minuteKey(keys.minuteSet), isMinute, 'set'])
  if (strategy === 'list-hll') numbered.push([minuteKey(keys.minuteCount), isMinute, 'string'])

  return (key) => {
    const type = exact.get(key)
    if (type) return type
    const n = numberIn(key)
    return numbered.find(([name, holds]) => holds(n) && name(n) === key)?.[2] ?? null
  }
}

/**
 * A card speaks for its own prefix and for the names that a plan of its kind has, whatever it says.
 * @param {PlanCard} card
 * @param {string} prefix under which it stands
 */
export const isGenuine = (card, prefix) => {
  const { sets, extraSets, placement } = card
  return (
    card.prefix === prefix &&
    sets.join() === sortedSetKeys(prefix, sets.length, placement).join() &&
    extraSets.join() === extraSetKeys(prefix, extraSets.length).join()
  )
}
