// What a user's model reads of a plan, an announcement of one, or a reader's plan; and variables that it is made of beside those of
// declare.js, which are pure functions of the item.
import { mix } from '../../base/random.js'
import { agentRange } from '../../base/ranges.js'
import { drawn } from '../declare.js'
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

/** The writer that owns the item. @param {OwnFields} t */
export const writer = ({ quantity, writers }) => {
  const share = agentRange(quantity, writers, 1).count
  const last = writers - 1
  return drawn('writer', (n) => 1 + Math.min(last, Math.floor(((n - 1) % quantity) / Math.max(1, share))), [
    1,
    writers + 1,
  ])
}

/**
 * A number from a to b, each as likely: always the same for an item, a seed and these bounds.
 * @param {OwnFields} t
 * @param {number} a
 * @param {number} b
 */
export const random = ({ seed }, a, b) => {
  const salt = mix(mix(mix(seed) ^ a) ^ b)
  const span = b - a + 1
  return drawn(`random ${a} ${b}`, (n) => a + Math.floor((mix(mix(n) ^ salt) / 2 ** 32) * span), [a, b + 1])
}
