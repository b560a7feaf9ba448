// Asks for the topology: one request at a time, and not at every error.
import { systemTimers } from '../base/timers.js'

/** @import { Timers } from '../base/timers.js' */

const usualSpacingMs = 500
// Replicas that come back, and moved slots without traffic, cause no event.
const staleMs = 10_000

/**
 * @template T
 * @param {object} needs
 * @param {() => Promise<T>} needs.ask
 * @param {(topology: T) => void} needs.learn
 * @param {() => number} needs.clock
 * @param {number} [needs.spacingMs] between an answer and the next question
 * @param {Timers} [needs.timers]
 */
export const refresherOf = ({ ask, learn, clock, spacingMs = usualSpacingMs, timers = systemTimers }) => {
  /** @type {Promise<void> | null} the answer to the question that is open or to come */
  let answer = null
  let closed = false
  let answeredMs = Number.NEGATIVE_INFINITY
  /** @type {NodeJS.Timeout | undefined} */
  let timer

  const now = async () => {
    const topology = await ask().catch(() => null)
    answer = null
    answeredMs = clock()
    if (topology !== null && !closed) learn(topology)
  }
  const later = (/** @type {number} */ waitMs) =>
    new Promise((/** @type {(value: void | Promise<void>) => void} */ resolve) => {
      timer = timers.setTimeout(() => resolve(now()), waitMs)
    })

  return {
    /** A request while another is under way, or soon after its answer, gets the same answer. */
    request() {
      if (closed) return Promise.resolve()
      const waitMs = answeredMs + spacingMs - clock()
      answer ??= waitMs <= 0 ? now() : later(waitMs)
      return answer
    },
    /** Whether the last answer is too old. */
    isStale: () => clock() - answeredMs > staleMs,
    close() {
      closed = true
      timers.clearTimeout(timer)
    },
  }
}
