// How many rounds a comparison runs, and when it stops. Pure.
import { pairedCriticals } from './paired.js'
import { criticalsOf, looksBetween } from './sequential.js'

/**
 * @typedef {object} RoundsPlan
 * @property {number} rounds at most
 * @property {readonly number[]} looks after which rounds it may stop
 * @property {(counted: number) => import('./sequential.js').Criticals} criticals of the look that so many rounds make
 */

/** All rounds, then one look. @param {number} rounds @returns {RoundsPlan} */
export const fixedRounds = (rounds) => ({
  rounds,
  looks: [rounds],
  criticals: (counted) => pairedCriticals(Math.max(2, counted)),
})

/** Looks again and again, and still errs in 5 % at most. @param {number} least @param {number} most @returns {RoundsPlan} */
export const untilSure = (least, most) => {
  const looks = looksBetween(least, most)
  const criticals = criticalsOf(looks)
  return {
    rounds: most,
    looks,
    criticals: (counted) => {
      // Rounds that do not count leave fewer than the look has: its boundary, and never less than one look alone asks.
      const look = Math.max(
        0,
        looks.findLastIndex((rounds) => rounds <= counted),
      )
      const alone = pairedCriticals(Math.max(2, counted))
      return {
        difference: Math.max(criticals[look].difference, alone.difference),
        equivalence: Math.max(criticals[look].equivalence, alone.equivalence),
      }
    },
  }
}

/**
 * Whether a comparison says what was asked of it: its thresholds, or without any its first metric.
 * @param {import('./comparison.js').Comparison} comparison
 */
export const isDecided = ({ rows, rulings }) =>
  rulings.length > 0
    ? rulings.every(({ outcome }) => outcome !== 'unclear')
    : rows.some(({ primary }) => primary) &&
      rows.find(({ primary }) => primary)?.difference.verdict !== 'unclear'
