// What an item takes of the servers' memory: how much the data set grew, divided by the items that came; or why that
// cannot be told.
import { minuteKeyS } from '../plan/live-items.js'
import { slotsUsed } from '../plan/slot-tables.js'
import { bytes, count, period, several } from '../report/units.js'
import { slotCount } from '../wire/slot.js'

/**
 * @typedef {import('../plan/plan.js').Plan} Plan
 *
 * @typedef {object} Held what the masters hold at a moment
 * @property {number | null} dataBytes
 * @property {number | null} keys
 * @property {number[] | null} gathered members of the keys that gather items, as lib/target/stored.js counts them
 */

// Tables and buffers that a server grows by itself: below this they would pass for the items'.
const leastBytes = 100_000
// More than these shares of what was there before would be in the result.
const keysShare = 1 / 20
const idsShare = 1 / 100
const shownSlotShare = 1 / 20

// Their items have no keys of their own, so that what gathers them is what counts them.
const gatheredItems = new Set(['actual-value', 'stream', 'hash-ttl'])

const sum = (/** @type {readonly number[]} */ all) => all.reduce((total, n) => total + n, 0)

/** Keys beside the items' own that a run makes: its plan's, and those that gather. @param {Plan} plan @param {number} elapsedMs */
const otherKeys = ({ strategy, sets, extraSets }, elapsedMs) => {
  const minutes = Math.min(4, 1 + Math.floor(elapsedMs / 60_000))
  if (strategy === 'set') return 1 + minutes
  if (strategy === 'list-hll') return 2 + minutes
  return strategy === 'list' ? 2 : 1 + sets.length + extraSets.length
}

/** @param {Plan} plan @param {Held} before @param {Held} after @param {number} elapsedMs */
const storedItems = (plan, before, after, elapsedMs) => {
  if (!gatheredItems.has(plan.strategy))
    return after.keys === null || before.keys === null
      ? null
      : after.keys - before.keys - otherKeys(plan, elapsedMs)
  if (after.gathered === null || before.gathered === null) return null
  const own = plan.strategy === 'actual-value' ? plan.sets.length : after.gathered.length
  return sum(after.gathered.slice(0, own)) - sum(before.gathered.slice(0, own))
}

/** Seconds until the data set has its full size, after which no item comes that another does not make room for. @param {Plan} plan */
const fullS = ({ once, strategy, ttlS }) => (once ? ttlS + (strategy === 'set' ? minuteKeyS + 60 : 0) : 0)

/**
 * Why there is no figure; null where there is one.
 * @param {Plan} plan
 * @param {Held} before
 * @param {number | null} stored
 * @param {number | null} grown
 * @param {number} elapsedMs
 */
const reasonAgainst = (plan, before, stored, grown, elapsedMs) => {
  const { once, ttlS, periodMs, masters, agents } = plan
  if (stored === null || grown === null || before.keys === null || before.gathered === null)
    return 'a master did not say what it holds'
  if (!once && ttlS * 1000 < periodMs)
    return '--ttl is shorter than --period: items die before they are written again'
  if (elapsedMs < fullS(plan) * 1000)
    return `with --once the data set has its full size after ${period(fullS(plan) * 1000)}; run for longer (--duration)`
  if (stored <= 0) return 'no items came: they were there before the first write'
  const ids = sum(before.gathered)
  if (ids > stored * idsShare)
    return `${several(ids, 'id')} of an earlier run ${ids === 1 ? 'was' : 'were'} there before the first write; wait until they expire, or take another --prefix`
  // A lease for each of our agents, and perhaps the plan of an earlier run.
  const keys = before.keys - agents.length - 1
  if (keys > stored * keysShare)
    return `${several(keys, 'key')} ${keys === 1 ? 'was' : 'were'} there before the first write`
  if (grown < leastBytes * masters)
    return `${bytes(Math.max(0, grown))} more are too little: below ${bytes(leastBytes)} a master its own tables would pass for the items'`
  return null
}

/**
 * How much of it is a table for each slot that was used for the first time, where that is not little.
 * @param {Plan} plan
 * @param {number} slotTable bytes
 * @param {number} stored
 * @param {number} perItem
 */
const slotNote = ({ cluster, strategy, buckets, taggedItems }, slotTable, stored, perItem) => {
  if (!cluster || taggedItems || strategy === 'actual-value' || strategy === 'stream') return null
  const slots = Math.round(slotsUsed(slotCount, strategy === 'hash-ttl' ? buckets : stored))
  const share = (slots * slotTable) / stored
  if (share < perItem * shownSlotShare) return null
  return `${bytes(share)} of it are tables of ${count(slots)} slots, ${bytes(slotTable)} each, whatever the number of items`
}

/**
 * @param {object} known
 * @param {Plan} known.plan
 * @param {Held} known.before the first write
 * @param {Held} known.after the last
 * @param {number} known.elapsedMs of the whole run
 * @param {number} known.slotTable bytes that a server takes for each slot that holds a key
 * @returns {{ memory_bytes_per_item: number | null, memory_note: string | null }}
 */
export const memoryCost = ({ plan, before, after, elapsedMs, slotTable }) => {
  const stored = storedItems(plan, before, after, elapsedMs)
  const grown =
    after.dataBytes === null || before.dataBytes === null ? null : after.dataBytes - before.dataBytes
  const reason = reasonAgainst(plan, before, stored, grown, elapsedMs)
  if (reason !== null || stored === null || grown === null)
    return { memory_bytes_per_item: null, memory_note: reason }
  const perItem = grown / stored
  return { memory_bytes_per_item: perItem, memory_note: slotNote(plan, slotTable, stored, perItem) }
}
