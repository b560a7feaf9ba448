// Probabilities and quantiles of the normal and of Student's t distribution. Pure, right to at least nine digits.
import { gammaln } from 'simple-statistics'

const rootOfTwoPi = Math.sqrt(2 * Math.PI)

/** @param {number} z */
export const normalDensity = (z) => Math.exp((-z * z) / 2) / rootOfTwoPi

// Beyond this the series loses digits, and the continued fraction has them.
const farOut = 3

/** The probability that a standard normal value exceeds z. @param {number} z @returns {number} */
export const normalTail = (z) => {
  if (z < 0) return 1 - normalTail(-z)
  if (z >= farOut) {
    let fraction = 0
    for (let k = 100; k > 0; k--) fraction = k / (z + fraction)
    return normalDensity(z) / (z + fraction)
  }
  let term = z
  let sum = z
  for (let k = 3; Math.abs(term) > 1e-17 * sum; k += 2) {
    term *= (z * z) / k
    sum += term
  }
  return 0.5 - normalDensity(z) * sum
}

/**
 * Where an increasing function reaches a value.
 * @param {(x: number) => number} rising
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export const solved = (rising, value, low, high) => {
  for (let step = 0; step < 200 && high - low > 1e-12 * Math.max(1, Math.abs(low)); step++) {
    const middle = (low + high) / 2
    if (rising(middle) < value) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** What a standard normal value exceeds with this probability. @param {number} tail above 0 and below 1 @returns {number} */
export const normalQuantile = (tail) =>
  tail > 0.5 ? -normalQuantile(1 - tail) : solved((z) => -normalTail(z), -tail, 0, 40)

/** The regularized incomplete beta function by Lentz's continued fraction. @param {number} x @param {number} a @param {number} b @returns {number} */
const incompleteBeta = (x, a, b) => {
  if (x <= 0) return 0
  if (x >= 1) return 1
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a)
  const front = Math.exp(gammaln(a + b) - gammaln(a) - gammaln(b) + a * Math.log(x) + b * Math.log(1 - x))
  const safe = (/** @type {number} */ value) => (Math.abs(value) < 1e-300 ? 1e-300 : value)
  let c = 1
  let d = 1 / safe(1 - ((a + b) * x) / (a + 1))
  let fraction = d
  for (let m = 1; m < 500; m++) {
    for (const factor of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / safe(1 + factor * d)
      c = safe(1 + factor / c)
      fraction *= c * d
    }
    if (Math.abs(c * d - 1) < 1e-15) break
  }
  return (front * fraction) / a
}

/** The probability that Student's t exceeds this. @param {number} t @param {number} freedom degrees, whole or not @returns {number} */
export const studentTail = (t, freedom) =>
  t < 0 ? 1 - studentTail(-t, freedom) : incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2

/** What Student's t exceeds with this probability. @param {number} tail above 0 and at most 0.5 @param {number} freedom */
export const studentQuantile = (tail, freedom) => {
  let high = 4
  while (studentTail(high, freedom) > tail) high *= 4
  return solved((t) => -studentTail(t, freedom), -tail, 0, high)
}
