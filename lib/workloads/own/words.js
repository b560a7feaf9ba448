// Variables that user's models are made of beside those of declare.js; all are pure functions of the item.
import { mix } from '../../base/random.js'
import { agentRange } from '../../base/ranges.js'
import { drawn } from '../declare.js'

/** @import { OwnFields as PlanFields } from './fields.js' */

/** The writer that owns the item. @param {PlanFields} t */
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
 * @param {PlanFields} t
 * @param {number} a
 * @param {number} b
 */
export const random = ({ seed }, a, b) => {
  const salt = mix(mix(mix(seed) ^ a) ^ b)
  const span = b - a + 1
  return drawn(`random ${a} ${b}`, (n) => a + Math.floor((mix(mix(n) ^ salt) / 2 ** 32) * span), [a, b + 1])
}
