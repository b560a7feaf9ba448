// The beats of a box, one at a time, and what follows from the control server's answers. Meanwhile the control server's
// clock is measured again.

/**
 * @import { boxOf } from './box.js'
 * @import { Answer } from './control.js'
 * @import { Facts } from './member.js'
 * @import { leadingOf } from './thread.js'
 * @import { Stopping } from './stopping.js'
 */

const gatherEveryMs = 200
const beatEveryMs = 1000
const clockEveryMs = 10_000
// A shorter silence is not reported.
const awayMs = 3000
// Another box takes over from a dead leader in 3 s; after this time no writer is left.
const headlessLimitMs = 15_000

/**
 * @param {object} needs
 * @param {ReturnType<typeof boxOf>} needs.box
 * @param {ReturnType<typeof leadingOf>} needs.leading
 * @param {Pick<Facts, 'again'>} needs.facts what the run's data says besides
 * @param {Pick<Stopping, 'again' | 'heard'>} needs.stopping
 * @param {() => Promise<unknown>} needs.measureClock
 * @param {(silentMs: number) => void} needs.onBack the control answers again after a silence
 */
export const heartbeatOf = ({ box, leading, facts, stopping, measureClock, onBack }) => {
  const clock = () => performance.now()
  const ending = new AbortController()
  /** @type {Answer | null} */
  let last = null
  /** @type {number | null} */
  let silentSince = null
  /** @type {number | null} since when no box leads */
  let headlessSince = null
  const isHeadless = () => headlessSince !== null && clock() - headlessSince > headlessLimitMs
  const leads = () => last?.leader === box.id

  const heard = (/** @type {Answer} */ answer) => {
    const silentMs = silentSince === null ? 0 : clock() - silentSince
    if (silentMs > awayMs) onBack(silentMs)
    silentSince = null
    headlessSince = answer.hasData && answer.leader === '' ? (headlessSince ?? clock()) : null
  }
  const exchange = async () => {
    const before = box.data()
    const answer = await box.beat().catch(() => null)
    if (!answer) {
      silentSince ??= clock()
      return false
    }
    if (box.data() !== before) leading.moved()
    heard(answer)
    await facts.again(!answer.hasData)
    await stopping.again(!answer.hasData)
    if (answer.hasData) {
      last = answer
      stopping.heard(answer)
      if (['ending', 'done'].includes(answer.state) || isHeadless()) ending.abort()
      await leading.follow(leads()).catch(() => {})
    }
    return true
  }
  /** @type {Promise<boolean> | null} */
  let underWay = null
  /** Resolves with whether the control server answered. */
  const beat = () => {
    underWay ??= exchange().finally(() => {
      underWay = null
    })
    return underWay
  }
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  let isClosed = false
  let nextClockMs = clock() + clockEveryMs
  const beating = async () => {
    await beat()
    if (clock() > nextClockMs) {
      nextClockMs = clock() + clockEveryMs
      await measureClock()
    }
    const isCalm = leading.isAtWork() && box.waiting() === 0
    if (!isClosed) timer = setTimeout(beating, isCalm ? beatEveryMs : gatherEveryMs)
  }
  return {
    beat,
    leads,
    /** Whether all writers have ended, or none is left. */
    ending: ending.signal,
    isHeadless,
    start() {
      timer = setTimeout(beating, gatherEveryMs)
    },
    stop() {
      isClosed = true
      clearTimeout(timer)
    },
    /** The last answer of the control server. */
    answer: () => last,
    silentMs: () => (silentSince === null ? 0 : clock() - silentSince),
  }
}

/** @typedef {ReturnType<typeof heartbeatOf>} Heartbeat */
