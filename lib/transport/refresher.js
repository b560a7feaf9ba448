// Asks for the topology: one question at a time, and not at every error.
import { systemTimers } from '../base/timers.js'

const spacingMs = 500

/**
 * @template T
 * @param {object} needs
 * @param {() => Promise<T>} needs.ask
 * @param {(topology: T) => void} needs.learn
 * @param {() => number} needs.clock
 * @param {import('../base/timers.js').Timers} [needs.timers]
 */
export const refresherOf = ({ ask, learn, clock, timers = systemTimers }) => {
  let asking = false
  let closed = false
  let answeredMs = Number.NEGATIVE_INFINITY
  /** @type {NodeJS.Timeout | undefined} */
  let timer

  const now = async () => {
    timer = undefined
    asking = true
    const topology = await ask().catch(() => null)
    asking = false
    answeredMs = clock()
    if (topology !== null && !closed) learn(topology)
  }

  return {
    /** Whoever asks while a question is open, or soon after its answer, gets what it brings. */
    request() {
      if (closed || asking || timer) return
      const waitMs = answeredMs + spacingMs - clock()
      if (waitMs <= 0) now()
      else timer = timers.setTimeout(now, waitMs)
    },
    /** Milliseconds since the last answer. */
    ageMs: () => clock() - answeredMs,
    close() {
      closed = true
      timers.clearTimeout(timer)
    },
  }
}
