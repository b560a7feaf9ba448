// The result of paired runs: one A and one B in each round, in ABBA order. Pure.
import { mean, sampleVariance } from 'simple-statistics'
import { studentQuantile } from '../base/distributions.js'
import { judged, levelsOf, missed, smallestEffect, unjudged } from './verdict.js'

/**
 * @import { Criticals } from './rounds-plan.js'
 * @import { Difference } from './verdict.js'
 */
/** @typedef {{ a: number, b: number, first: 'a' | 'b' }} Pair one round; first: which of them ran first */

/**
 * For a comparison that looks once, after all of its rounds: 95 % for two sides, and 90 % for two one-sided tests.
 * @param {number} rounds
 * @param {number} [sides]
 * @returns {Criticals}
 */
export const pairedCriticals = (rounds, sides = 2) => {
  const { difference, equivalence } = levelsOf(sides)
  return {
    difference: studentQuantile(difference / 2, rounds - 1),
    equivalence: studentQuantile(equivalence / 2, rounds - 1),
  }
}

/**
 * What a round has in common (a warm machine, a busy neighbour) falls out of its ratio.
 * @param {readonly Pair[]} pairs at least one
 * @param {object} [asked]
 * @param {'less' | 'more' | 'neither'} [asked.better]
 * @param {number} [asked.effect] the smallest change that matters: 0.03
 * @param {Criticals} [asked.criticals] of the look at which a sequential comparison is
 * @returns {Difference}
 */
export const pairedOf = (pairs, { better = 'less', effect = smallestEffect, criticals } = {}) => {
  const relative = pairs.every(({ a, b }) => a > 0 && b > 0)
  const scaled = (/** @type {number} */ value) => (relative ? Math.log(value) : value)
  const centre = (/** @type {'a' | 'b'} */ side) => {
    const middle = mean(pairs.map((pair) => scaled(pair[side])))
    return relative ? Math.exp(middle) : middle
  }
  const centres = { centreA: centre('a'), centreB: centre('b') }
  const differences = pairs.map(({ a, b }) => scaled(b) - scaled(a))
  const middle = mean(differences)
  const n = pairs.length
  if (n === 1) return { ...centres, ...unjudged(relative, middle) }
  const error = Math.sqrt(sampleVariance(differences) / n)
  const { difference, equivalence } = criticals ?? pairedCriticals(n)
  const [half, narrow] = [error * difference, error * equivalence]
  const reach = half + error * studentQuantile(missed, n - 1)
  return { ...centres, ...judged({ relative, middle, half, narrow, reach }, { better, effect }) }
}
