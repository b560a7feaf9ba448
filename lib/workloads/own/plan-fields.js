// What a user's model reads of a plan, an announcement of one, or a reader's plan.
import { termsOf as latest } from '../latest/plan-fields.js'

/** @import { LatestPlan } from '../latest/plan-fields.js' */
/** @typedef {ReturnType<typeof termsOf>} OwnTerms */

/** @param {LatestPlan & { writers?: number, totalAgents?: number }} plan */
export const termsOf = (plan) => ({
  ...latest(plan),
  /** Writers of the plan; a reader's own number is another. */
  writers: plan.writers ?? plan.totalAgents ?? 1,
})
