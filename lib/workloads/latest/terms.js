// What the strategies of 'latest items' read of a plan, a card of one, or a reader's plan.
import { slotCount, tagsOf } from '../../wire/slot.js'

/**
 * @typedef {object} LatestPlan
 * @property {string} prefix
 * @property {number} quantity
 * @property {number} ttlS
 * @property {boolean} once
 * @property {number} valueBytes
 * @property {'random' | 'sparse' | 'zero'} payload
 * @property {number} seed
 * @property {boolean} stamp
 * @property {readonly string[]} sets
 * @property {readonly string[]} extraSets
 * @property {'plain' | 'same-slot' | 'spread'} placement
 * @property {boolean} taggedItems
 * @property {number} buckets
 * @property {number} [periodMs]
 * @property {'max' | null} [rate]
 * @property {number | null} [durationMs]
 * @property {number} [maxMembers]
 * @property {number} [scriptMembers]
 * @property {string} [script]
 * @property {number} [limit] of a reader
 * @property {string} [mode]
 * @property {boolean} [verify]
 * @property {number} [startedMs] epoch
 *
 * @typedef {ReturnType<typeof termsOf>} LatestTerms
 */

const fieldsInBucket = 100
const purgeS = 10
/** A minute's key lives three minutes on. */
const minuteKeyLifeS = 240
// With no schedule the server is the limit; nothing measured was faster.
const fastestHz = 700_000
const measuredKeyLength = 10

/** Keys that gather many items outlive an idle writer by this much, and no longer. @param {{ ttlS: number }} plan */
export const lingerS = ({ ttlS }) => Math.max(180, 2 * ttlS)

/** @param {{ quantity: number }} settings */
export const bucketsOf = ({ quantity }) => Math.max(1, Math.ceil(quantity / fieldsInBucket))

/** Tags that put n sets into the middles of n equal parts of the slots. @param {number} n */
export const spreadTags = (n) =>
  tagsOf(Array.from({ length: n }, (_, j) => Math.floor(((j + 0.5) * slotCount) / n)))

/** What jemalloc hands out for so many bytes: four sizes a doubling. @param {number} bytes */
const allocated = (bytes) => {
  const step = bytes <= 128 ? 16 : 2 ** (Math.floor(Math.log2(bytes - 1)) - 2)
  return Math.ceil(bytes / step) * step
}

/** @param {number | null} durationMs */
const minuteKeys = (durationMs) => Math.min(4, 2 + Math.floor((durationMs ?? 240_000) / 60_000))

/** How many items are there at most, how many an index holds, and how many the minutes' keys. @param {LatestPlan} plan */
const liveItems = ({ quantity, periodMs = 1000, ttlS, once, rate, durationMs = null }) => {
  if (!once) return { items: quantity, ranked: quantity, inMinutes: minuteKeys(durationMs) * quantity }
  const hz = rate === 'max' ? fastestHz : (quantity * 1000) / periodMs
  const within = (/** @type {number} */ seconds) =>
    quantity + hz * Math.min(seconds, durationMs === null ? seconds : durationMs / 1000)
  return { items: within(ttlS), ranked: within(ttlS + purgeS), inMinutes: within(minuteKeyLifeS) }
}

/** @param {LatestPlan} plan */
export const termsOf = (plan) => {
  const live = liveItems(plan)
  const { sets, placement, extraSets, ttlS, verify = false, startedMs = 0 } = plan
  return {
    ...plan,
    live,
    sets: sets.length,
    extraSets: extraSets.length,
    tags: placement === 'spread' ? spreadTags(sets.length) : [],
    lingerS: lingerS(plan),
    maxMembers: plan.maxMembers ?? 0,
    scriptMembers: plan.scriptMembers ?? 0,
    script: plan.script ?? 'store-items',
    limit: plan.limit ?? 0,
    mode: plan.mode ?? 'manual',
    /** Every id must come with its score. */
    scores: verify,
    /** What a value takes of the server's memory. */
    valueBytesStored: allocated(plan.valueBytes + 6),
    /** Bytes by which the names of items are longer than those that costs were measured with. */
    longer: Math.max(0, plan.prefix.length + `item:${Math.ceil(live.ranked)}`.length - measuredKeyLength),
    /** Older scores than this have expired. What an earlier plan left may live on, but cannot be verified. @param {number} nowMs */
    oldestMs: (nowMs) => Math.ceil(verify ? Math.max(nowMs - ttlS * 1000, startedMs) : nowMs - ttlS * 1000),
  }
}
