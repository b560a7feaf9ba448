// Calls at absolute moments, which the pacer decides.
import { systemTimers } from '../../base/timers.js'

/**
 * @import { Timers } from '../../base/timers.js'
 * @import { pacerOf } from '../../plan/pacer.js'
 *
 * @typedef {object} TickTimes
 * @property {ReturnType<typeof pacerOf>} pacer
 * @property {() => number} elapsed milliseconds since the start
 * @property {() => number} [firstTick] asked at the start: those due before it are not this box's own
 * @property {(i: number) => boolean} [isTaken] others are not begun here
 * @property {() => number} [stopsMs] when the run is stopped, as far as is known: what is due by then is begun, however
 *   late this process is, and nothing that is due later
 */

// A timer of Node fires up to a millisecond late, so it is set that much earlier. The rest is slept away but for what a sleep
// is late by, which is spent in a busy loop: the whole rest in one took 1 % of a core at ten ticks a second.
// Ticks closer than this come too often for that.
const exactFromMs = 20
const earlyMs = 1.5
const spinMs = 0.05
// A tick may follow after the end, as the end may be moved.
const overCheckMs = 20

/**
 * @param {object} options
 * @param {TickTimes} options.times
 * @param {number | null} options.ticks
 * @param {(tick: number) => void} options.begin
 * @param {() => void} options.onEnd every tick was begun
 * @param {Timers} [options.timers]
 */
export const ticker = ({ times, ticks, begin, onEnd, timers = systemTimers }) => {
  const { pacer, elapsed, firstTick = () => 0, stopsMs = () => Number.POSITIVE_INFINITY } = times
  const { isTaken = () => true } = times
  let next = 0
  let stopped = false
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  /** @type {NodeJS.Immediate | undefined} */
  let soon
  const early = pacer.spacingMs >= exactFromMs ? earlyMs : 0

  /** From this tick on, the first that is begun here. @param {number} i */
  const goOn = (i) => {
    next = i
    while (!isTaken(next) && (ticks === null || next < ticks)) next++
  }
  /** Begins the ticks that are due. */
  const beginDue = () => {
    for (const due = pacer.ticksDue(Math.min(elapsed(), stopsMs())); next < due && !stopped; goOn(next + 1))
      begin(next)
  }
  const wake = () => {
    if (stopped) return
    beginDue()
    if (stopped) return
    if (ticks !== null && next >= ticks) {
      stopped = true
      onEnd()
      return
    }
    if (elapsed() >= stopsMs()) {
      timer = timers.setTimeout(wake, overCheckMs)
      return
    }
    const wait = pacer.dueMs(next) - elapsed()
    if (early === 0 || wait > early) timer = timers.setTimeout(wake, Math.max(0, wait - early))
    else {
      if (wait > spinMs) timers.sleep?.(wait - spinMs)
      // Most sleeps are late by what was left: another turn of the loop would add to it.
      if (pacer.dueMs(next) <= elapsed()) wake()
      else soon = timers.setImmediate(wake)
    }
  }
  return {
    start: () => {
      goOn(firstTick())
      wake()
    },
    /** The first tick that was not begun. */
    next: () => next,
    stop: () => {
      if (elapsed() >= stopsMs()) beginDue()
      stopped = true
      timers.clearTimeout(timer)
      timers.clearImmediate(soon)
    },
  }
}
