// Signs that rounds are not repeats of one thing: a slow first one, outliers, a trend, the order. Pure.
import { mean, median, sampleVariance } from 'simple-statistics'
import { studentTail } from '../base/distributions.js'
import { smallestEffect } from '../result/verdict.js'

/** @import { Pair } from '../result/paired.js' */

/** Two-sided probability of a mean this far from 0 by chance. @param {number[]} values */
const chanceOf = (values) => {
  const spread = sampleVariance(values)
  const middle = mean(values)
  if (spread === 0) return middle === 0 ? 1 : 0
  return 2 * studentTail(Math.abs(middle) / Math.sqrt(spread / values.length), values.length - 1)
}

/** The slope of values over their number, and how probable one as steep is by chance. @param {number[]} values */
const slopeOf = (values) => {
  const n = values.length
  const middle = (n - 1) / 2
  const level = mean(values)
  const square = values.reduce((sum, _, at) => sum + (at - middle) ** 2, 0)
  const slope = values.reduce((sum, value, at) => sum + (at - middle) * (value - level), 0) / square
  const rest = values.reduce((sum, value, at) => sum + (value - level - slope * (at - middle)) ** 2, 0)
  if (rest === 0) return { slope, chance: slope === 0 ? 1 : 0 }
  return { slope, chance: 2 * studentTail(Math.abs(slope) / Math.sqrt(rest / (n - 2) / square), n - 2) }
}

// Iglewicz and Hoaglin's limit for a modified z-score.
const outlierScore = 3.5
const leastForDrift = 5
const rareByChance = 0.01

/** Places of values that lie far from the others. @param {number[]} values @param {number} least in their own unit */
const outliersIn = (values, least) => {
  const middle = median(values)
  const spread = 1.4826 * median(values.map((value) => Math.abs(value - middle)))
  return values.flatMap((value, at) =>
    Math.abs(value - middle) > Math.max(outlierScore * spread, least) ? [at] : [],
  )
}

const roundsWords = (/** @type {number[]} */ places) =>
  `${places.length === 1 ? 'round' : 'rounds'} ${places.map((at) => at + 1).join(', ')}`

/**
 * Signs that the rounds are not repeats of one thing, with advice.
 * @param {readonly Pair[]} pairs in the order in which they ran
 * @param {{ title: string, effect?: number }} about
 * @returns {{ code: string, message: string }[]}
 */
export const driftIn = (pairs, { title, effect = smallestEffect }) => {
  if (pairs.length < leastForDrift || !pairs.every(({ a, b }) => a > 0 && b > 0)) return []
  const least = Math.log1p(effect)
  const changes = pairs.map(({ a, b }) => Math.log(b / a))
  const levels = pairs.map(({ a, b }) => Math.log(a * b) / 2)
  const secondAgainstFirst = pairs.map(({ a, b, first }) =>
    first === 'a' ? Math.log(b / a) : Math.log(a / b),
  )
  const percent = (/** @type {number} */ log) => `${(Math.expm1(log) * 100).toFixed(1).replace('-', '−')} %`
  const outliers = outliersIn(changes, least)
  const later = levels.slice(1)
  const firstApart = outliersIn(levels, least).includes(0)
  const trend = slopeOf(firstApart ? later : levels)
  const drift = trend.slope * (pairs.length - 1)
  const order = mean(secondAgainstFirst)
  /** @type {[boolean, string, string][]} */
  const found = [
    [
      firstApart,
      'first-round',
      `${title}: the first round is ${percent(levels[0] - median(later))} from the others, so the servers or the machine were not warm: lengthen --warm-up`,
    ],
    [
      outliers.length > 0,
      'outlier',
      `${title}: ${roundsWords(outliers)} ${outliers.length === 1 ? 'differs' : 'differ'} from the others by much more than they do from each other: look for other load at that time, or run more rounds`,
    ],
    [
      trend.chance < rareByChance && Math.abs(drift) > least,
      'trend',
      `${title}: changed by ${percent(drift)} from the first round to the last on both sides (heat, a neighbour, a growing data set). Pairs cancel it, but absolute values are not those of a steady machine`,
    ],
    [
      chanceOf(secondAgainstFirst) < rareByChance && Math.abs(order) > least,
      'order',
      `${title}: the second run of a round is ${percent(order)} from the first, whichever side it is: the first run changes the second. ABBA order cancels this; lengthen --warm-up`,
    ],
  ]
  return found.filter(([applies]) => applies).map(([, code, message]) => ({ code, message }))
}
