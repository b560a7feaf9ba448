// Ratios of runs of the same round, and how they compare with what was published.
import { meanWithin } from './statistics.js'

/** @typedef {{ ratio: number, low: number | null, high: number | null, samples: number[] }} Interval */

/**
 * The geometric mean of the ratios of each round, with its 95 % interval: a factor of two up weighs what one of two
 * down does, and what a round has in common (a warm machine, a busy neighbour) falls out.
 * @param {readonly { of: number, to: number }[]} pairs one a round
 * @returns {Interval | null} null: nothing to divide
 */
export const ratioOf = (pairs) => {
  const samples = pairs.filter(({ of, to }) => of > 0 && to > 0).map(({ of, to }) => of / to)
  if (samples.length === 0) return null
  const { middle, half } = meanWithin(samples.map(Math.log))
  return {
    ratio: Math.exp(middle),
    low: half === null ? null : Math.exp(middle - half),
    high: half === null ? null : Math.exp(middle + half),
    samples,
  }
}

// A published number has two digits; a smaller difference is not visible in it.
const sameWithin = 0.1
// A ratio this near to 1 shows no difference.
const oneWithin = 0.05
// The smallest difference that was concluded from: an interval that reaches further does not show that there is none.
const noneWithin = 0.25

/** @param {number} a @param {number} b @param {number} within */
const near = (a, b, within) => Math.abs(Math.log(a / b)) <= Math.log(1 + within)

/** Above 1, below it, or 0 for neither. @param {number} ratio */
const side = (ratio) => (near(ratio, 1, oneWithin) ? 0 : Math.sign(Math.log(ratio)))

/**
 * An interval decides nothing when it holds both what was published and its opposite.
 * @param {number} low
 * @param {number} high
 * @param {number} theirs
 */
const tellsNothing = (low, high, theirs) => {
  if (low > 1 || high < 1) return false
  return side(theirs) === 0
    ? !near(low, 1, noneWithin) || !near(high, 1, noneWithin)
    : low <= theirs && theirs <= high
}

/** @typedef {'agrees' | 'differs' | 'contradicts' | 'undecided'} Standing */

/**
 * How ours compares with what was published.
 * @param {Interval} ours
 * @param {number} theirs
 * @returns {Standing} contradicts: on the other side of 1, or none where they have one; undecided: the interval holds both sides
 */
export const standing = ({ ratio, low, high }, theirs) => {
  if (low === null || high === null || tellsNothing(low, high, theirs)) return 'undecided'
  if (near(ratio, theirs, sameWithin)) return 'agrees'
  // A wide interval includes many numbers: that the published one is among them is no agreement.
  if (low <= theirs && theirs <= high) return near(ratio, theirs, noneWithin) ? 'agrees' : 'undecided'
  const mine = low <= 1 && 1 <= high ? 0 : side(ratio)
  return mine === side(theirs) ? 'differs' : 'contradicts'
}
