import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

const words = 2 ** 32

/**
 * Which of the operations is next, by their weights.
 * @param {readonly number[]} weights
 * @param {number} seed
 * @returns {() => number}
 */
export const picksOf = (weights, seed) => {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const kinds = weights.flatMap((weight, kind) => (weight > 0 ? [kind] : []))
  if (kinds.length === 1) return () => kinds[0]
  const random = xoroshiro128plus(~seed)
  return () => {
    let left = ((random.next() >>> 0) * total) / words
    for (const [kind, weight] of weights.entries()) {
      left -= weight
      if (left < 0) return kind
    }
    return weights.length - 1
  }
}
