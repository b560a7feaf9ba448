// How long a reply may be that belongs to a plan: a longer one ends its connection.
import { sizesIn } from '../traffic/sizes.js'

/** @import { SizeFields } from '../traffic/sizes.js' */

/** @typedef {Omit<SizeFields, 'seed'> & { quantity: number, knowsBytes?: boolean }} PlannedReplies */

// Of an answer that has no items.
const plainAnswerBytes = 16e6
const idBytes = 100
// Where the plan of the writers is not there.
const usualValueBytes = 2000

/** @param {PlannedReplies} plan */
const mostIn = ({ valueBytes, valueSizes }) =>
  valueSizes ? Math.max(valueBytes, sizesIn(valueSizes)?.most ?? 0) : valueBytes

/** Of a value in it. @param {PlannedReplies} plan */
export const longestValueOf = (plan) => plainAnswerBytes + 2 * mostIn(plan)

/** @param {PlannedReplies} plan */
export const longestReplyOf = (plan) => {
  const { quantity, valueBytes, knowsBytes = true } = plan
  const each = knowsBytes ? valueBytes : Math.max(valueBytes, usualValueBytes)
  return longestValueOf(plan) + 2 * quantity * (idBytes + each)
}
