// What the strategies of 'latest items' read of a plan, an announcement of one, or a reader's plan.

import { shortestS } from '../../traffic/lifetimes.js'
import { hasDead, keptItems, minuteKeyS, newHz, writtenHz } from '../../traffic/live-items.js'
import { storedBytes } from '../../traffic/sizes.js'
import { slotCount, tagsOf } from '../../wire/slot.js'

/**
 * @typedef {object} LatestPlan
 * @property {string} prefix
 * @property {number} quantity
 * @property {number} ttlS
 * @property {number | null} [ttlLeastS]
 * @property {boolean} once
 * @property {string} [order]
 * @property {string | null} [churn]
 * @property {number} valueBytes of all values, or on average
 * @property {string | null} [valueSizes] as lib/traffic/sizes.js reads it; null: all values have one size
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
 * @property {number} [chunks]
 * @property {number} [items] of the writers of this process
 * @property {number | null} [durationMs]
 * @property {number} [maxMembers]
 * @property {number} [scriptMembers]
 * @property {string} [script]
 * @property {number} [limit] of a reader
 * @property {string} [mode]
 * @property {string | null} [variant] of the strategy, by what the servers can do
 * @property {boolean} [verify]
 * @property {number} [startedMs] epoch
 *
 * @typedef {ReturnType<typeof planFieldsOf>} LatestFields
 */

const fieldsInBucket = 100
const purgeS = 10
const minuteKeyLifeS = minuteKeyS + 60
const renewedMs = 10_000
// A purge of so many takes a server about 1 ms.
const mostDead = 2000
// Where items are rewritten, only those of a writer that left expire, all at once.
const mostLeft = 10_000
// Purges remove this many more than expire, to make up for a pause.
const spare = 1.25
const measuredKeyLength = 10

/** Keys that gather many items outlive an idle writer by this time, and no longer. @param {{ ttlS: number }} plan */
export const lingerS = ({ ttlS }) => Math.max(180, 2 * ttlS)

/** @param {{ quantity: number }} settings */
export const bucketsOf = ({ quantity }) => Math.max(1, Math.ceil(quantity / fieldsInBucket))

/** Tags that put n sets into the middles of n equal parts of the slots. @param {number} n */
export const spreadTags = (n) =>
  tagsOf(Array.from({ length: n }, (_, j) => Math.floor(((j + 0.5) * slotCount) / n)))

/** @param {number | null} durationMs */
const minuteKeys = (durationMs) => Math.min(4, 2 + Math.floor((durationMs ?? 240_000) / 60_000))

/** How many items are there at most, how many an index holds, and how many the minutes' keys. @param {LatestPlan} plan */
const liveItems = (plan) => {
  const { quantity, ttlS, once, durationMs = null } = plan
  const meanLifetimeS = (ttlS + shortestS(plan)) / 2
  const hz = writtenHz(plan)
  const written = durationMs === null ? Number.POSITIVE_INFINITY : quantity + (hz * durationMs) / 1000
  const keptNow = Math.min(keptItems(plan), written)
  if (!once) {
    const more = (/** @type {number} */ seconds) =>
      newHz(plan) * Math.min(seconds, durationMs === null ? seconds : durationMs / 1000)
    return {
      kept: keptNow,
      items: quantity + more(meanLifetimeS),
      ranked: quantity + more(ttlS + purgeS),
      inMinutes: minuteKeys(durationMs) * quantity + more(minuteKeyLifeS),
    }
  }
  const within = (/** @type {number} */ seconds) =>
    quantity + hz * Math.min(seconds, durationMs === null ? seconds : durationMs / 1000)
  return {
    kept: keptNow,
    items: within(meanLifetimeS),
    ranked: within(ttlS + purgeS),
    inMinutes: within(minuteKeyLifeS),
  }
}

/**
 * How a sorted set is purged that this process's items go into, all of them or one of n parts: members of a purge at
 * most, and when the next is due.
 * @param {LatestPlan} plan
 * @param {number} parts
 */
const purgePace = (plan, parts) => {
  if (!hasDead(plan)) return { most: mostLeft, everyMs: renewedMs }
  const deadHz = (writtenHz(plan) * (plan.items ?? plan.quantity)) / plan.quantity / parts
  return { most: mostDead, everyMs: Math.min(renewedMs, (mostDead * 1000) / (spare * deadHz)) }
}

/** Every ten seconds; at every tick where a set may have run empty, and gone, by the next. @param {LatestPlan} plan */
const renewalMs = (plan) => {
  const { ttlS, quantity, chunks = 1, periodMs = 1000, sets } = plan
  const writtenMs = quantity / chunks >= sets.length ? periodMs / chunks : periodMs
  return hasDead(plan) && ttlS * 1000 <= writtenMs ? 0 : renewedMs
}

/** @param {LatestPlan} plan */
export const planFieldsOf = (plan) => {
  const live = liveItems(plan)
  const { sets, placement, extraSets, ttlS, verify = false, startedMs = 0 } = plan
  return {
    ...plan,
    live,
    sets: sets.length,
    extraSets: extraSets.length,
    tags: placement === 'spread' ? spreadTags(sets.length) : [],
    lingerS: lingerS(plan),
    kept: keptItems(plan),
    /** How often the lifetime of keys that gather items is renewed. */
    renewalMs: renewalMs(plan),
    purgeSets: purgePace(plan, sets.length),
    purgeExtraSets: purgePace(plan, 1),
    maxMembers: plan.maxMembers ?? 0,
    scriptMembers: plan.scriptMembers ?? 0,
    script: plan.script ?? 'store-items',
    limit: plan.limit ?? 0,
    mode: plan.mode ?? 'manual',
    /** Whether ids must come with their scores. */
    scores: verify,
    /** What a value takes of the server's memory, on average. */
    valueBytesStored: storedBytes(plan),
    /** Bytes by which the names of items are longer than those that costs were measured with. */
    longer: Math.max(0, plan.prefix.length + `item:${Math.ceil(live.ranked)}`.length - measuredKeyLength),
    /** Items with older scores have expired. Items of an earlier plan may live longer, but cannot be verified. @param {number} nowMs */
    oldestMs: (nowMs) => Math.ceil(verify ? Math.max(nowMs - ttlS * 1000, startedMs) : nowMs - ttlS * 1000),
  }
}
