// How many writers sent a second, over the merged seconds of a run: whether all were there all the time.

/** @import { Presence } from '../measure/presence.js' */

/** @param {number} total writers of the plan */
export const fleetPresence = (total) => {
  /** @type {Map<number, number>} */
  const by = new Map()
  return {
    /** A line may be a part of its second. @param {number} second @param {number} writers */
    add(second, writers) {
      by.set(second, (by.get(second) ?? 0) + writers)
    },
    /** Of the seconds from one to another, the last not included. @param {number} from @param {number} to @returns {Presence} */
    summary(from, to) {
      const counts = Array.from({ length: Math.max(0, to - from) }, (_, i) =>
        Math.min(total, by.get(from + i) ?? 0),
      )
      const absent = counts.filter((n) => n < total).length
      return {
        total,
        own: total,
        fewest: counts.length > 0 ? Math.min(...counts) : null,
        mean: counts.length > 0 ? counts.reduce((sum, n) => sum + n, 0) / counts.length : null,
        measured_s: counts.length,
        absent_s: absent,
        unknown_s: 0,
        before: 0,
        steady: counts.length > 0 && absent === 0,
      }
    },
  }
}
