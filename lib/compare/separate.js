// Two sets of runs that are no pairs: Welch's t-test, of logarithms. Pure.
import { mean, sampleVariance } from 'simple-statistics'
import { studentQuantile } from '../base/distributions.js'
import { judged, levelsOf, missed, smallestEffect, unjudged } from '../result/verdict.js'

/** @import { Difference } from '../result/verdict.js' */

/**
 * On logarithms the interval is that of the ratio. Rank tests cannot reach 95 % with three runs a side, and a bootstrap of
 * three is far too narrow. Welch's test allows unequal spreads, and costs and latencies of runs are nearly log-normal.
 * @param {readonly number[]} a samples of the baseline, at least one
 * @param {readonly number[]} b
 * @param {{ better?: 'less' | 'more' | 'neither', effect?: number, sides?: number }} [asked] sides: of the comparison
 * @returns {Difference}
 */
export const separateOf = (a, b, { better = 'less', effect = smallestEffect, sides = 2 } = {}) => {
  const relative = [...a, ...b].every((value) => value > 0)
  const scaled = (/** @type {readonly number[]} */ values) => (relative ? values.map(Math.log) : [...values])
  const [ofA, ofB] = [scaled(a), scaled(b)]
  const [middleA, middleB] = [mean(ofA), mean(ofB)]
  const centre = (/** @type {number} */ middle) => (relative ? Math.exp(middle) : middle)
  const centres = { centreA: centre(middleA), centreB: centre(middleB) }
  const middle = middleB - middleA
  if (a.length < 2 || b.length < 2) return { ...centres, ...unjudged(relative, middle) }
  const [va, vb] = [sampleVariance(ofA) / a.length, sampleVariance(ofB) / b.length]
  const error = Math.sqrt(va + vb)
  const freedom =
    error === 0 ? 1 : Math.max(1, (va + vb) ** 2 / (va ** 2 / (a.length - 1) + vb ** 2 / (b.length - 1)))
  const { difference, equivalence } = levelsOf(sides)
  const half = error * studentQuantile(difference / 2, freedom)
  const narrow = error * studentQuantile(equivalence / 2, freedom)
  const reach = half + error * studentQuantile(missed, freedom)
  return { ...centres, ...judged({ relative, middle, half, narrow, reach }, { better, effect }) }
}
