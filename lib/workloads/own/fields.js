// What a user's model reads of a plan, an announcement of one, or a reader's plan.
import { planFieldsOf as latest } from '../latest/fields.js'

/** @import { LatestPlan } from '../latest/fields.js' */
/** @typedef {ReturnType<typeof planFieldsOf>} OwnFields */

/** @param {LatestPlan & { writers?: number, totalAgents?: number, versions?: boolean }} plan */
export const planFieldsOf = (plan) => ({
  ...latest(plan),
  /** Writers of the plan; a reader's own number is another. */
  writers: plan.writers ?? plan.totalAgents ?? 1,
  /** A number in front of whole values of strings says which write they are of. */
  versions: plan.versions === true,
})
