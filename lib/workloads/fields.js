// What the strategies of each workload read of a plan.
import { entryOf } from '../base/typed.js'
import { planFieldsOf as cache } from './cache/fields.js'
import { planFieldsOf as counters } from './counters/fields.js'
import { planFieldsOf as documents } from './documents/fields.js'
import { strategyNamed } from './index.js'
import { planFieldsOf as latest } from './latest/fields.js'
import { planFieldsOf as lookup } from './lookup/fields.js'
import { planFieldsOf as membership } from './membership/fields.js'
import { planFieldsOf as own } from './own/fields.js'
import { planFieldsOf as query } from './query/fields.js'
import { planFieldsOf as queue } from './queue/fields.js'

const byWorkload = Object.freeze({
  cache,
  counters,
  documents,
  latest,
  lookup,
  membership,
  own,
  query,
  queue,
})

/**
 * @typedef {{ [W in keyof typeof byWorkload]: ReturnType<typeof byWorkload[W]> }} FieldsBy
 * @typedef {FieldsBy[keyof FieldsBy]} Fields
 */

/** @template {{ strategy: string, prefix: string }} P @param {P} plan @returns {Fields} */
export const planFieldsOf = (plan) => {
  const fieldsOf = /** @type {(plan: object) => Fields} */ (
    entryOf(byWorkload, strategyNamed(plan.strategy).workload)
  )
  return fieldsOf(plan)
}
