// How a fleet stops: all its boxes at one moment by the control's clock, so that none has ticks that others lack.
import { stopsInMs } from './control.js'

/** @import { Answer, Control } from './control.js' */
/** @typedef {Pick<Answer, 'stop' | 'startMs' | 'stopMs'>} Known of a stop, by an answer of the control */

// When ticks are further apart, hardly one is due at the moment of a stop.
const mostSpacingMs = 1000

/** The moment behind a run's last tick that is not before another. @param {number} ms @param {number} spacingMs 0: no ticks */
const betweenTicks = (ms, spacingMs) =>
  spacingMs > 0 && spacingMs <= mostSpacingMs ? (Math.ceil(ms / spacingMs) + 0.5) * spacingMs : ms

/**
 * When a box stops, epoch by the control's clock. Whether its run has begun by then follows from the two moments alone, so
 * that no box begins a run that others have left.
 * @param {{ startMs: number | null, stopMs: number }} moments
 * @param {{ spacingMs: number, staggerMs: number }} ticks staggerMs: how much later its ticks are than those of writer 1
 */
export const stopOfBox = ({ startMs, stopMs }, { spacingMs, staggerMs }) =>
  startMs === null || startMs >= stopMs
    ? stopMs
    : startMs + betweenTicks(stopMs - startMs, spacingMs) + staggerMs

/**
 * @param {object} needs
 * @param {Pick<Control, 'stop'>} needs.control
 * @param {() => number} needs.nowMs by the control's clock
 * @param {() => { spacingMs: number, staggerMs: number }} needs.ticks
 * @param {(line: string) => void} needs.say
 */
export const stoppingOf = ({ control, nowMs, ticks, say }) => {
  const stopped = new AbortController()
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  let by = ''
  let atMs = Number.POSITIVE_INFINITY
  /** Who stops the run, until the control knows it. */
  let owed = ''
  const stopIn = (/** @type {number} */ ms) => {
    clearTimeout(timer)
    if (ms > 0) timer = setTimeout(() => stopped.abort(), ms)
    else stopped.abort()
  }
  const tell = async () => {
    if (owed === '') return
    await control.stop(owed)
    owed = ''
  }
  return {
    signal: stopped.signal,
    /** When this box stops, epoch by the control's clock, as far as is known. */
    atMs: () => atMs,
    /** @param {Known} known when the run begins may be known later than when it stops */
    heard({ stop, startMs, stopMs }) {
      if (stop === '' || stopped.signal.aborted) return
      atMs = stopOfBox({ startMs, stopMs: stopMs ?? nowMs() }, ticks())
      const inMs = Math.max(0, atMs - nowMs())
      if (by === '')
        say(`stopped by ${stop}${inMs > 0 ? `: all boxes stop in ${(inMs / 1000).toFixed(1)} s` : ''}`)
      by = stop
      stopIn(inMs)
    },
    /** What a control that was away, or lost its data, does not know. @param {boolean} isLost */
    async again(isLost) {
      if (isLost && by !== '') owed = by
      await tell().catch(() => {})
    },
    /** Stops all boxes; this one alone by then if the control does not answer. @param {string} who */
    async all(who) {
      owed = who
      if (by === '') stopIn(stopsInMs)
      await tell().catch(() => {})
    },
    close: () => clearTimeout(timer),
  }
}

/** @typedef {ReturnType<typeof stoppingOf>} Stopping */
