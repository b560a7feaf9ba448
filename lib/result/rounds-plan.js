// How many rounds a comparison runs, and when it stops. Pure.

import { normals } from '../base/random.js'
import { pairedCriticals } from './paired.js'
import { levelsOf } from './verdict.js'

/**
 * @import { Comparison } from '../compare/comparison.js'
 *
 * @typedef {object} RoundsPlan
 * @property {number} rounds at most
 * @property {readonly number[]} looks after which rounds it may stop
 * @property {(counted: number) => Criticals} criticals of the look that so many rounds make
 */

// How sure a comparison must be at each interim look, so that all looks together err no more often than one.
//
// A group-sequential t-test: alpha spending (Lan and DeMets) with a function of Pocock's shape, and the repeated
// confidence intervals of Jennison and Turnbull. The intervals of all looks together hold the true change with the stated
// confidence, whichever look ends the comparison. The usual boundaries are those of normal sums: with six rounds they
// err in 5.6 % (100,000 series) where 5 % is stated. Student's t under no change depends on nothing unknown, so the
// boundaries are taken from seeded series of it.

/** @typedef {{ difference: number, equivalence: number }} Criticals of Student's t at one look */

const series = 200_000
const seed = 20_261_121
// The boundaries are as exact as the series are many; so much less is spent that they do not err on the other side.
const kept = 0.97

/** What may have been spent when this share of all rounds is done. @param {number} alpha @param {number} share */
const spent = (alpha, share) => alpha * kept * Math.log(1 + (Math.E - 1) * share)

/** |t| of every series at every look. @param {readonly number[]} looks */
const seriesOfT = (looks) => {
  const next = normals(seed)
  const found = looks.map(() => new Float64Array(series))
  for (let one = 0; one < series; one++) {
    let n = 0
    let sum = 0
    let squares = 0
    for (let look = 0; look < looks.length; look++) {
      for (; n < looks[look]; n++) {
        const value = next()
        sum += value
        squares += value * value
      }
      const spread = (squares - (sum * sum) / n) / (n - 1)
      found[look][one] = Math.abs(sum / n) / Math.sqrt(spread / n)
    }
  }
  return found
}

/** The value at that place of the sorted ones, which are reordered. @param {Float64Array} values @param {number} place */
const valueAt = (values, place) => {
  for (let [from, to] = [0, values.length - 1]; from < to; ) {
    const pivot = values[(from + to) >> 1]
    let [low, high] = [from, to]
    while (low <= high) {
      while (values[low] < pivot) low++
      while (values[high] > pivot) high--
      if (low > high) break
      const value = values[low]
      values[low++] = values[high]
      values[high--] = value
    }
    if (place <= high) to = high
    else if (place >= low) from = low
    else break
  }
  return values[place]
}

/** @param {Float64Array[]} found @param {readonly number[]} looks @param {number} alpha two-sided */
const boundaries = (found, looks, alpha) => {
  const most = looks[looks.length - 1]
  const isOver = new Uint8Array(series)
  const space = new Float64Array(series)
  let over = 0
  return looks.map((rounds, look) => {
    const own = found[look]
    let count = 0
    for (let one = 0; one < series; one++) if (isOver[one] === 0) space[count++] = own[one]
    const wanted = Math.floor(series * spent(alpha, rounds / most))
    const edge = valueAt(space.subarray(0, count), count - Math.max(1, wanted - over))
    for (let one = 0; one < series; one++)
      if (isOver[one] === 0 && own[one] >= edge) {
        isOver[one] = 1
        over++
      }
    return edge
  })
}

/**
 * @param {readonly number[]} looks rounds that are done at each look, at least 3, rising; the last ends the comparison
 * @param {number} [sides]
 * @returns {Criticals[]}
 */
export const criticalsOf = (looks, sides = 2) => {
  const found = seriesOfT(looks)
  const levels = levelsOf(sides)
  const difference = boundaries(found, looks, levels.difference)
  const equivalence = boundaries(found, looks, levels.equivalence)
  return looks.map((_, look) => ({ difference: difference[look], equivalence: equivalence[look] }))
}

/**
 * The rounds at which `--until-sure` looks: after the least, then after each further ABBA.
 * @param {number} least
 * @param {number} most
 */
export const looksBetween = (least, most) => {
  const looks = []
  for (let rounds = least; rounds < most; rounds += 2) looks.push(rounds)
  return [...looks, most]
}

/** All rounds, then one look. @param {number} rounds @param {number} [sides] @returns {RoundsPlan} */
export const fixedRounds = (rounds, sides = 2) => ({
  rounds,
  looks: [rounds],
  criticals: (counted) => pairedCriticals(Math.max(2, counted), sides),
})

/** Looks repeatedly, and is still wrong in at most 5 %. @param {number} least @param {number} most @param {number} [sides] @returns {RoundsPlan} */
export const untilSure = (least, most, sides = 2) => {
  const looks = looksBetween(least, most)
  const criticals = criticalsOf(looks, sides)
  return {
    rounds: most,
    looks,
    criticals: (counted) => {
      // Rounds that do not count leave fewer than planned: the boundary of the look, but never less than for a single look.
      const look = Math.max(
        0,
        looks.findLastIndex((rounds) => rounds <= counted),
      )
      const alone = pairedCriticals(Math.max(2, counted), sides)
      return {
        difference: Math.max(criticals[look].difference, alone.difference),
        equivalence: Math.max(criticals[look].equivalence, alone.equivalence),
      }
    },
  }
}

/**
 * Whether a comparison says what was asked of it: its thresholds, or without any its first metric: of several sides, which
 * one is best.
 * @param {Comparison} comparison
 */
export const isDecided = ({ rows, rulings, ranks }) => {
  if (rulings.length > 0) return rulings.every(({ outcome }) => outcome !== 'unclear')
  if (ranks) return ranks.length > 0 && (ranks[0].best.length === 1 || ranks[0].alike)
  return (
    rows.some(({ primary }) => primary) &&
    rows.find(({ primary }) => primary)?.difference.verdict !== 'unclear'
  )
}
