// What the strategies of 'lookup' read of a plan.

/**
 * @typedef {object} LookupPlan
 * @property {string} prefix
 * @property {number} quantity keys
 * @property {number} valueBytes
 * @property {'random' | 'sparse' | 'zero'} payload
 * @property {number} seed
 */

/** What jemalloc hands out for so many bytes: four sizes a doubling. @param {number} bytes */
const allocated = (bytes) => {
  const step = bytes <= 128 ? 16 : 2 ** (Math.floor(Math.log2(bytes - 1)) - 2)
  return Math.ceil(bytes / step) * step
}

/** @param {LookupPlan} plan */
export const termsOf = (plan) => ({
  ...plan,
  stamp: false,
  valueBytesStored: allocated(plan.valueBytes + 6),
})
