// What the strategies of 'cache' read of a plan.
import { storedBytes } from '../../traffic/sizes.js'

/** @import { LookupPlan } from '../lookup/fields.js' */

const fieldsInHash = 100

/** Hashes that the fields of so many items are spread over. @param {number} items */
export const hashesOf = (items) => Math.max(1, Math.ceil(items / fieldsInHash))

/** @param {LookupPlan} plan */
export const planFieldsOf = (plan) => ({
  ...plan,
  stamp: plan.versions === true,
  expires: plan.clients?.expires ?? true,
  hashes: hashesOf(plan.quantity),
  valueBytesStored: storedBytes(plan),
})
