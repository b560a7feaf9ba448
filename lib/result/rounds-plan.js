// How many rounds a comparison runs, and when it stops. Pure.
import { pairedCriticals } from './paired.js'
import { criticalsOf, looksBetween } from './sequential.js'

/**
 * @import { Comparison } from '../compare/comparison.js'
 * @import { Criticals } from './sequential.js'
 *
 * @typedef {object} RoundsPlan
 * @property {number} rounds at most
 * @property {readonly number[]} looks after which rounds it may stop
 * @property {(counted: number) => Criticals} criticals of the look that so many rounds make
 */

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
