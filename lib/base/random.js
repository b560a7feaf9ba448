// Random values from a seed.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/** Standard normal values, by Marsaglia's polar method. @param {number} seed @returns {() => number} */
export const normals = (seed) => {
  const random = xoroshiro128plus(seed)
  const unit = () => random.next() / 2 ** 31
  let spare = Number.NaN
  return () => {
    if (!Number.isNaN(spare)) {
      const value = spare
      spare = Number.NaN
      return value
    }
    for (;;) {
      const [x, y] = [unit(), unit()]
      const square = x * x + y * y
      if (square >= 1 || square === 0) continue
      const factor = Math.sqrt((-2 * Math.log(square)) / square)
      spare = y * factor
      return x * factor
    }
  }
}

/** A 32-bit mix (murmur3's finalizer): neighbours in, far apart out. */
export const mix = (/** @type {number} */ n) => {
  let h = n | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
