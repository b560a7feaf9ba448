// How much memory a plan will take of each master. Pure.
import { slotOf } from '../wire/slot.js'
import { keysOf } from './keys.js'
import { keptItems, minuteKeyS, writtenHz } from './live-items.js'
import { slotsUsed } from './slot-tables.js'

/**
 * @typedef {Pick<import('./plan.js').Plan, 'strategy' | 'quantity' | 'periodMs' | 'chunks' | 'ttlS' | 'valueBytes' | 'once' | 'rate'
 *   | 'durationMs' | 'prefix' | 'sets' | 'extraSets' | 'taggedItems' | 'buckets'>} Load
 */

// Bytes an item beside its value, with a key of 10 characters: measured on Redis 7.0.15 with jemalloc, 20,000 items,
// values of 16 B to 10 kB (all within 3 % of these; small values of hash and stream take less).
const cost = {
  stringKey: 122,
  rank: 123,
  valueRank: 105,
  setMember: 68,
  listEntry: 14,
  hashKey: 290,
  field: 160,
}
const streamEntry = { fixed: 40, slack: 1.25 }
const measuredKeyLength = 10
const withoutItemKeys = new Set(['actual-value', 'stream'])
const hyperLogLogBytes = 12_304
const purgeS = 10
const minuteKeyLifeS = minuteKeyS + 60
// Buffers of connections and of the replicas' feed.
const buffersBytes = 4e6

/** What jemalloc hands out for so many bytes: four sizes a doubling. @param {number} bytes */
const allocated = (bytes) => {
  const step = bytes <= 128 ? 16 : 2 ** (Math.floor(Math.log2(bytes - 1)) - 2)
  return Math.ceil(bytes / step) * step
}

/** How many items are there at most, and how many an index holds. @param {Load} load */
const liveItems = (load) => {
  const { quantity, ttlS, once, durationMs } = load
  if (!once) return { items: quantity, ranked: quantity, perMinuteKeys: minuteKeys(durationMs) * quantity }
  const within = (/** @type {number} */ seconds) =>
    quantity + writtenHz(load) * Math.min(seconds, durationMs === null ? seconds : durationMs / 1000)
  return { items: within(ttlS), ranked: within(ttlS + purgeS), perMinuteKeys: within(minuteKeyLifeS) }
}

/** @param {number | null} durationMs */
const minuteKeys = (durationMs) => Math.min(4, 2 + Math.floor((durationMs ?? 240_000) / 60_000))

/**
 * Bytes on each master when the plan of all agents has filled it.
 * @param {Load} load
 * @param {{ masters: readonly string[], owners: Uint16Array | null }} topology
 * @param {number} [slotTable] bytes that a server takes for each slot that holds a key
 * @returns {number[]} in the order of the masters
 */
export const forecastOf = (load, { masters, owners }, slotTable = 0) => {
  const { strategy, valueBytes, sets, extraSets, prefix } = load
  const perMaster = masters.map(() => buffersBytes)
  const { items, ranked, perMinuteKeys } = liveItems(load)
  const value = allocated(valueBytes + 6)
  const longer = Math.max(0, prefix.length + `item:${Math.ceil(ranked)}`.length - measuredKeyLength)
  const keys = keysOf(load)
  const { durationMs, quantity } = load
  const written = durationMs === null ? Infinity : quantity + (writtenHz(load) * durationMs) / 1000
  const gathered = Math.min(keptItems(load), written)

  const at = (/** @type {string} */ key, /** @type {number} */ bytes) => {
    perMaster[owners ? owners[slotOf(key)] : 0] += bytes
  }
  const evenly = (/** @type {number} */ bytes) => {
    if (load.taggedItems) for (const set of sets) at(set, bytes / sets.length)
    else for (const i of perMaster.keys()) perMaster[i] += bytes / perMaster.length
  }
  // Its slot changes every minute, so any master may get it.
  const anywhere = (/** @type {number} */ bytes) => {
    for (const i of perMaster.keys()) perMaster[i] += bytes
  }
  const ranks = (/** @type {number} */ member) => {
    for (const set of sets) at(set, (ranked / sets.length) * member)
    for (const set of extraSets) at(set, ranked * member)
  }
  const strings = () => evenly(items * (cost.stringKey + longer + value))

  if (strategy === 'sorted-set' || strategy.startsWith('script-')) {
    strings()
    ranks(cost.rank + longer)
  } else if (strategy === 'actual-value') ranks(cost.valueRank + value)
  else if (strategy.startsWith('list')) {
    strings()
    at(keys.list, gathered * (cost.listEntry + longer))
    if (strategy === 'list-hll') anywhere(4 * hyperLogLogBytes)
  } else if (strategy === 'set') {
    strings()
    anywhere(perMinuteKeys * (cost.setMember + longer))
  } else if (strategy === 'hash') {
    evenly(items * (cost.hashKey + longer + value))
    ranks(cost.rank + longer)
  } else if (strategy === 'stream') {
    at(keys.stream, gathered * (streamEntry.fixed + longer + streamEntry.slack * valueBytes))
  } else evenly(items * (cost.field + longer + value))
  if (owners && slotTable > 0) {
    const slots = new Float64Array(masters.length)
    for (const owner of owners) slots[owner]++
    const anywhereKeys =
      withoutItemKeys.has(strategy) || load.taggedItems ? 0 : strategy === 'hash-ttl' ? load.buckets : items
    for (const i of perMaster.keys()) perMaster[i] += slotTable * slotsUsed(slots[i], anywhereKeys)
    for (const slot of new Set([...sets, ...extraSets].map(slotOf))) perMaster[owners[slot]] += slotTable
  }
  return perMaster
}
