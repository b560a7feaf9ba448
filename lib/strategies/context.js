// What a strategy may ask about its plan.
import { keysOf } from '../plan/keys.js'
import { payloadOf } from '../plan/payload.js'

/**
 * @typedef {import('../plan/plan.js').Plan} Plan
 * @typedef {ReturnType<typeof contextOf>} Context
 */

/** @param {Plan} plan */
export const contextOf = (plan) => ({
  plan,
  keys: keysOf(plan),
  value: payloadOf(plan),
  ttlS: plan.ttlS,
  quantity: plan.quantity,
  maxMembers: plan.maxMembers,
  sets: [...plan.sets],
  extraSets: [...plan.extraSets],
  /** Keys that gather many items outlive an idle writer by this much, and no longer. */
  lingerS: Math.max(180, 2 * plan.ttlS),
})
