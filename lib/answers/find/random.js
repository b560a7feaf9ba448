// The random choices of a search from one seed: its rates, and the paths drawn in its fit.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/** At least 0 and below 1. @param {number} seed @returns {() => number} */
export const uniforms = (seed) => {
  const random = xoroshiro128plus(seed)
  return () => (random.next() >>> 0) / 2 ** 32
}

/** @template T @param {T[]} list @param {() => number} uniform */
export const shuffle = (list, uniform) => {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(uniform() * (i + 1))
    const swapped = list[i]
    list[i] = list[j]
    list[j] = swapped
  }
  return list
}
