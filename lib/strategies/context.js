// What a strategy may ask about its plan.
import { keysOf } from '../plan/keys.js'
import { hasDead, keptItems, minuteKeyS, writtenHz } from '../plan/live-items.js'
import { payloadOf } from '../plan/payload.js'
import { lingerS } from '../plan/plan-card.js'

/**
 * @typedef {import('../plan/plan.js').Plan} Plan
 * @typedef {ReturnType<typeof contextOf>} Context
 *
 * @typedef {{ most: number, everyMs: number }} PurgePace members of a purge at most, and when the next is due
 */

const renewedMs = 10_000
// A purge of so many takes a server about 1 ms.
const mostDead = 2000
// Where items are rewritten only those of a writer that has left die, all at once.
const mostLeft = 10_000
// What purges must take out above what dies, to make up for a pause.
const spare = 1.25

/**
 * How a sorted set is purged that this process's items go into, all of them or one of n parts.
 * @param {Plan} plan
 * @param {number} parts
 * @returns {PurgePace}
 */
const purgePace = (plan, parts) => {
  if (!hasDead(plan)) return { most: mostLeft, everyMs: renewedMs }
  const deadHz = (writtenHz(plan) * plan.items) / plan.quantity / parts
  return { most: mostDead, everyMs: Math.min(renewedMs, (mostDead * 1000) / (spare * deadHz)) }
}

/**
 * Every ten seconds; at every tick where a set may have run empty, and gone, by the next.
 * @param {Plan} plan
 */
const renewalMs = (plan) => {
  const { ttlS, quantity, chunks, periodMs, spacingMs, sets } = plan
  const writtenMs = quantity / chunks >= sets.length ? spacingMs : periodMs
  return hasDead(plan) && ttlS * 1000 <= writtenMs ? 0 : renewedMs
}

/** @param {Plan} plan */
export const contextOf = (plan) => ({
  plan,
  keys: keysOf(plan),
  value: payloadOf(plan),
  ttlS: plan.ttlS,
  kept: keptItems(plan),
  maxMembers: plan.maxMembers,
  sets: [...plan.sets],
  extraSets: [...plan.extraSets],
  purgeSets: purgePace(plan, plan.sets.length),
  purgeExtraSets: purgePace(plan, 1),
  renewal: { everyMs: renewalMs(plan) },
  /** Keys that gather many items outlive an idle writer by this much, and no longer. */
  lingerS: lingerS(plan),
  /** And a minute's keys by this much. */
  minuteKeyS,
})
