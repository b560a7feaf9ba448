// What the strategies of each workload read of a plan.
import { planFieldsOf as cache } from './cache/plan-fields.js'
import { planFieldsOf as counters } from './counters/plan-fields.js'
import { planFieldsOf as documents } from './documents/plan-fields.js'
import { strategyNamed } from './index.js'
import { planFieldsOf as latest } from './latest/plan-fields.js'
import { planFieldsOf as lookup } from './lookup/plan-fields.js'
import { planFieldsOf as membership } from './membership/plan-fields.js'
import { planFieldsOf as own } from './own/plan-fields.js'
import { planFieldsOf as query } from './query/plan-fields.js'
import { planFieldsOf as queue } from './queue/plan-fields.js'

const byWorkload = Object.freeze({
  ...{ cache, counters, documents, latest, lookup, membership, own, query, queue },
})

/**
 * @typedef {{ [W in keyof typeof byWorkload]: ReturnType<typeof byWorkload[W]> }} FieldsBy
 * @typedef {FieldsBy[keyof FieldsBy]} Fields
 */

/** @template {{ strategy: string, prefix: string }} P @param {P} plan @returns {Fields} */
export const planFieldsOf = (plan) => {
  const fieldsOf = /** @type {(plan: object) => Fields} */ (
    byWorkload[/** @type {keyof FieldsBy} */ (strategyNamed(plan.strategy).workload)]
  )
  return fieldsOf(plan)
}
