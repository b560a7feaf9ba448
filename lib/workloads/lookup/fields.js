// What the strategies of 'lookup' read of a plan.
import { storedBytes } from '../../traffic/sizes.js'

/**
 * @typedef {object} LookupPlan
 * @property {string} prefix
 * @property {number} quantity keys
 * @property {number} valueBytes
 * @property {string | null} [valueSizes]
 * @property {'random' | 'sparse' | 'zero'} payload
 * @property {number} seed
 * @property {number} ttlS
 * @property {number | null} [ttlLeastS]
 * @property {{ expires: boolean } | null} [clients]
 * @property {string | null} [variant] of the strategy, by what the servers can do
 * @property {boolean} [versions] a number in front of each value says which write it is of
 */

/** @param {LookupPlan} plan */
export const planFieldsOf = (plan) => ({
  ...plan,
  stamp: plan.versions === true,
  expires: plan.clients?.expires ?? true,
  valueBytesStored: storedBytes(plan),
})
