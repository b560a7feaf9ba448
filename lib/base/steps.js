// A step through places that reaches each of them once.

const golden = (Math.sqrt(5) - 1) / 2

/** @param {number} a @param {number} b @returns {number} */
const divisor = (a, b) => (b === 0 ? a : divisor(b, a % b))

/** A step that reaches each of so many places once, and neighbours far apart. @param {number} count */
export const stepOf = (count) => {
  let step = Math.max(1, Math.round(count * golden))
  while (divisor(step, count) !== 1) step++
  return step
}
