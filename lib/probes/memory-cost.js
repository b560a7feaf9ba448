// The memory of an item: the growth of the data set divided by the new items; or why it is not known.
import { bytes, count, period, several } from '../base/units.js'
import { isDrawn } from '../traffic/items.js'
import { shortestS } from '../traffic/lifetimes.js'

/**
 * @import { Plan } from '../loads/plan.js'
 * @import { strategyOf } from '../workloads/bound-strategy.js'
 */

/** Tables and buffers that a server grows by itself: below this, on each master, they would pass for the items'. */
const leastBytes = 100_000

/** The growth of the masters' data, where it is more than servers grow without items. @param {{ topology: { masters: readonly string[] } }} target @param {number | null} bytes */
export const measurableGrowth = ({ topology: { masters } }, bytes) =>
  bytes === null || bytes < leastBytes * masters.length ? null : bytes

/**
 * @typedef {Pick<ReturnType<typeof strategyOf>, 'holders' | 'slots'>} Strategy
 *
 * @typedef {{ keys: number, bytes: number }} Strange estimated from a part of the names
 *
 * @typedef {object} StoredData what the masters hold at a moment
 * @property {number | null} dataBytes
 * @property {number | null} keys
 * @property {number[] | null} gathered members of the keys that gather items, as lib/run/stored-data.js counts them
 * @property {Strange | null} [strange] keys of others; null: not asked, or not answered
 * @property {number[] | null} [holderBytes] what these keys take by MEMORY USAGE; null: not asked, or not answered
 */

/**
 * What items and the keys that gather them take, each divided by its own count. The two differ where ids of an earlier run
 * were there, or where items have expired and are not collected yet while their ids are gone.
 * @typedef {{ items: number, grown: number, perItem: number }} Apart
 *
 * @typedef {object} Known
 * @property {Plan} plan
 * @property {Strategy} strategy
 * @property {StoredData} before the first write
 * @property {StoredData} after the last
 * @property {number} elapsedMs of the whole run
 * @property {number | null} [writersBefore] others that were at work before our first item
 * @property {number} slotTable bytes that a server takes for each slot that holds a key
 */

// More than these shares of what was there before would be in the result.
const keysShare = 1 / 20
const idsShare = 1 / 100
const strangeShare = 1 / 50
// Two estimates of the same keys differ by less.
const mostSame = 1.5
const shownSlotShare = 1 / 20
// Expired keys may be counted for a while.
const mostItems = 1.5
// A forecast is between 0.9 and 1.4 of what a run then takes.
const mostForecast = 2
// Below this part of the ids, the items were not written for a while and have expired.
const leastAlive = 1 / 10

const usageNote =
  'by MEMORY USAGE of the keys that gather the items, which shows 240 B a node too many for streams (7 % with values of 100 B): ids of an earlier run were there'

const sum = (/** @type {readonly number[]} */ all) => all.reduce((total, n) => total + n, 0)

/** @param {Strategy} strategy @param {StoredData} before @param {StoredData} after @param {number} elapsedMs */
const storedItems = (strategy, before, after, elapsedMs) => {
  const { countedBy, keysAnItem, others, aMinute } = strategy.holders()
  if (countedBy === 'keys') {
    if (after.keys === null || before.keys === null) return null
    // The keys that gather the items are counted as well; the plan's key was there before.
    const minutes = aMinute * Math.min(4, 1 + Math.floor(elapsedMs / 60_000))
    return Math.round((after.keys - before.keys - others - minutes) / keysAnItem)
  }
  return after.gathered === null || before.gathered === null ? null : after.gathered[0] - before.gathered[0]
}

/**
 * The same with the gathering keys separate; null where this is not known, or where these keys do not hold each item once.
 * @param {Plan} plan
 * @param {Strategy} strategy
 * @param {StoredData} before
 * @param {StoredData} after
 * @param {number | null} stored
 * @param {number | null} grown
 * @returns {Apart | null}
 */
const apartOf = (plan, strategy, before, after, stored, grown) => {
  const { once } = plan
  const { countedBy, counts } = strategy.holders()
  const { gathered: ids, holderBytes: bytes } = after
  if (stored === null || grown === null || !before.holderBytes || !bytes || !ids?.length) return null
  const [own] = ids
  const isEachOnce = ids.every((n) => Math.abs(n - own) <= own * keysShare)
  if (own <= 0 || !isEachOnce || counts(0).some(({ isMinutely }) => isMinutely)) return null
  const items = countedBy === 'keys' ? stored : own
  const [there = 0] = before.gathered ?? []
  // Nothing to separate.
  if (items <= 0 || (there === 0 && Math.abs(items - own) <= own * idsShare)) return null
  // Another box may have written values and not yet their ids: a model of ours has one for each.
  const areComing = plan.totalAgents > plan.agents.length && there === 0 && strategy.holders().bytes !== null
  // A list has several ids of items that came more often than others; a limit may keep fewer ids than there are items.
  const isFewer = own < items * (1 - keysShare) && (isDrawn(plan) || !areComing)
  if (!once && (isFewer || (own > items * (1 + keysShare) && isDrawn(plan)))) return null
  const values = grown - sum(bytes) + sum(before.holderBytes)
  const perId = sum(bytes) / own
  return { items, grown: values + perId * items, perItem: values / items + perId }
}

/** Seconds until the data set has its full size, after which no item comes that another does not make room for. @param {Plan} plan @param {Strategy} strategy */
const fullS = ({ once, ttlS }, strategy) => (once ? ttlS + strategy.holders().minutesS : 0)

/**
 * Keys of others that came since, where they are a part of the growth that shows.
 * @param {StoredData['strange']} before
 * @param {StoredData['strange']} after
 * @param {number} grown
 */
const strangeCame = (before, after, grown) => {
  if (!before || !after || after.keys <= before.keys * mostSame) return null
  const came = { keys: after.keys - before.keys, bytes: after.bytes - before.bytes }
  return came.bytes > grown * strangeShare ? came : null
}

/**
 * Why there is no result; null: there is one.
 * @param {Known} known
 * @param {number | null} stored
 * @param {number | null} grown
 * @param {boolean} isApart ids of an earlier run do not matter
 */
const reasonAgainst = (known, stored, grown, isApart) => {
  const { plan, strategy, before, after, elapsedMs, writersBefore, slotTable } = known
  const { once, periodMs, masters, agents } = plan
  if (strategy.holders().countedBy === null)
    return 'no key of the model stands for an item, and none holds each item once'
  if (stored === null || grown === null || before.keys === null || before.gathered === null)
    return 'a master did not say what it holds'
  if (!once && shortestS(plan) * 1000 < periodMs)
    return '--ttl is shorter than --period: items die before they are written again'
  if (elapsedMs < fullS(plan, strategy) * 1000)
    return `with --once the data set has its full size after ${period(fullS(plan, strategy) * 1000)}; run for longer (--duration)`
  if (writersBefore) return 'items of other writers were there before the first write'
  if (stored <= 0)
    return plan.flow === 'jobs'
      ? 'the queue was no longer at the end than before the first job: workers took the jobs'
      : // A plan, leases and indexes are there without items.
        `no items came${before.keys > masters + agents.length + 2 ? ': they were there before the first write' : ''}`
  const others = strangeCame(before.strange, after.strange, grown)
  if (others)
    return `another application wrote meanwhile: about ${several(Math.round(others.keys), 'key')} of ${bytes(others.bytes)} in all are not of this plan; measure when it rests, or on a server of your own`
  // A lease for each of our agents, and possibly the plan of an earlier run.
  const keys = before.keys - agents.length - 1
  if (keys > stored * keysShare)
    return `${several(keys, 'key')} ${keys === 1 ? 'was' : 'were'} there before the first write; wait until they expire, or remove them (millrace cleanup, FLUSHDB)`
  const ids = sum(before.gathered)
  if (!isApart && ids > stored * idsShare)
    return `${several(ids, 'id')} of an earlier run ${ids === 1 ? 'was' : 'were'} there before the first write; wait until they expire, or take another --prefix`
  const [own = 0] = after.gathered ?? []
  if (!isDrawn(plan) && stored < own * leastAlive)
    return `only ${count(stored)} of ${several(own, 'item')} had not expired at the end`
  const { most, bytes: forecast } = strategy.holders()
  // Until they are removed, expired items count as well.
  const ever = once ? plan.quantity * (1 + elapsedMs / periodMs) : 0
  if (stored > Math.max(most * mostItems, ever))
    return `${count(stored)} items came, and this plan has ${count(most)} at most: another application wrote meanwhile`
  const expected = forecast === null ? null : stored * forecast + strategy.slots(stored) * slotTable
  if (expected !== null && grown > mostForecast * (expected + leastBytes * masters))
    return `${bytes(grown)} came, and these items take about ${bytes(expected)}: another application wrote meanwhile`
  if (grown < leastBytes * masters)
    return `memory grew by ${bytes(Math.max(0, grown))}; it takes ${bytes(leastBytes * masters)} to tell the items from the server's own tables: write more, or for longer`
  return null
}

/**
 * How much of it are the tables of slots used for the first time, if this is not small.
 * @param {Plan} plan
 * @param {Strategy} strategy
 * @param {number} slotTable bytes
 * @param {number} stored
 * @param {number} perItem
 */
const slotNote = ({ cluster }, strategy, slotTable, stored, perItem) => {
  if (!cluster) return null
  const slots = strategy.slots(stored)
  const share = (slots * slotTable) / stored
  if (share < perItem * shownSlotShare) return null
  return `${bytes(share)} of it are tables of ${count(slots)} slots, ${bytes(slotTable)} each, whatever the number of items`
}

/** @param {Known} known @returns {{ memory_bytes_per_item: number | null, memory_note: string | null }} */
export const memoryCost = (known) => {
  const { plan, strategy, before, after, elapsedMs, slotTable } = known
  const came = storedItems(strategy, before, after, elapsedMs)
  const more =
    after.dataBytes === null || before.dataBytes === null ? null : after.dataBytes - before.dataBytes
  const apart = apartOf(plan, strategy, before, after, came, more)
  const stored = apart?.items ?? came
  const grown = apart?.grown ?? more
  const reason = reasonAgainst(known, stored, grown, apart !== null)
  if (reason !== null || stored === null || grown === null)
    return { memory_bytes_per_item: null, memory_note: reason }
  const perItem = apart?.perItem ?? grown / stored
  if (apart && strategy.holders().countedBy === 'holders')
    return { memory_bytes_per_item: perItem, memory_note: usageNote }
  return { memory_bytes_per_item: perItem, memory_note: slotNote(plan, strategy, slotTable, stored, perItem) }
}
