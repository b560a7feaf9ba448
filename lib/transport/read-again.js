// What was refused for now, redirected or lost is asked again, for so long.
import { ReadError } from './read-driver.js'

/**
 * @typedef {object} Refusal of one command
 * @property {import('./verdict.js').Action} action
 * @property {string} cause
 * @property {string} words
 * @property {() => Promise<unknown>} loadScript brings the script to the server that does not have it
 *
 * @typedef {object} Leftover of values that were wanted
 * @property {number[]} again places of their ids
 * @property {boolean} later not before a while
 * @property {string} cause
 */

const againMs = 40
const giveUpMs = 5000
// A server that was restarted or promoted has it after one; more would not help.
const mostLoads = 2

/**
 * @param {object} needs
 * @param {() => number} needs.clock
 * @param {() => number} needs.random
 * @param {() => boolean} needs.isClosed
 * @param {() => Promise<unknown>} [needs.refresh] learns who serves what now
 */
export const readAgain = ({ clock, random, isClosed, refresh }) => {
  const pause = async (/** @type {number} */ attempt, /** @type {boolean} */ later) => {
    await refresh?.()
    if (!later) return
    const waitMs = againMs * 2 ** Math.min(3, attempt) * (0.5 + random())
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }

  return {
    /** @param {(attempt: number) => Promise<Refusal | null>} ask resolves with null when it was answered */
    async untilAnswered(ask) {
      const deadline = clock() + giveUpMs
      let loads = 0
      for (let attempt = 0; ; attempt++) {
        const refusal = await ask(attempt)
        if (refusal === null) return
        const { action, cause, words, loadScript } = refusal
        const isFinal = action === 'give-up' || (action === 'load' && loads++ === mostLoads)
        if (isFinal || isClosed() || clock() > deadline) throw new ReadError(cause, words)
        if (action === 'load') await loadScript().catch(() => {})
        else if (action !== 'asking') await pause(attempt, action === 'later')
      }
    },

    /**
     * @param {Uint32Array} places
     * @param {(wanted: Uint32Array, round: { attempt: number, given: Record<string, number>, isLate: () => boolean }) => Promise<Leftover>} read
     *   counts in `given` what it gives up itself
     * @returns what was given up, by cause
     */
    async untilRead(places, read) {
      const deadline = clock() + giveUpMs
      const isLate = () => clock() > deadline
      const given = /** @type {Record<string, number>} */ ({})
      let wanted = places
      for (let attempt = 0; wanted.length > 0; attempt++) {
        const { again, later, cause } = await read(wanted, { attempt, given, isLate })
        wanted = Uint32Array.from(again)
        if (wanted.length === 0) break
        if (isClosed() || isLate()) {
          given[cause] = (given[cause] ?? 0) + wanted.length
          break
        }
        await pause(attempt, later)
      }
      return given
    },
  }
}
