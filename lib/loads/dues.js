// When operations of a schedule are due, one after the other, for clients, bundles, fetches and ticks of a course: one that is
// due begins, waits for room, or is dropped.
import { longestTimerMs } from '../base/timers.js'

/**
 * @typedef {object} Schedule
 * @property {(i: number, elapsedMs: number) => number} due of operation i, in milliseconds after the start
 * @property {(i: number) => boolean} isOver it is due after the end
 * @property {(elapsedMs: number) => boolean} [isLeft] the time for the one that was asked for last is over; given where
 *   operations may be added later
 */

// How soon operations that are added later are seen.
const lookMs = 4

/** @param {Schedule} schedule @param {number} maxBehindMs @param {() => number} startMs by the clock that the moments are of */
export const duesOf = (schedule, maxBehindMs, startMs) => {
  const longestMs = schedule.isLeft ? lookMs : longestTimerMs
  let next = 0
  const nextMs = (/** @type {number} */ nowMs) =>
    schedule.isOver(next) ? Number.POSITIVE_INFINITY : startMs() + schedule.due(next, nowMs - startMs())
  return {
    /** There are none any more. */
    isOver: () => schedule.isOver(next),
    /** When the next is due; Infinity: there is none, or that is not known yet. @param {number} nowMs */
    nextMs,
    /** Whether the next, which is due, is dropped. @param {number} dueMs @param {number} nowMs @param {boolean} hasRoom */
    isDropped: (dueMs, nowMs, hasRoom) =>
      nowMs - dueMs > maxBehindMs || (!hasRoom && schedule.isLeft?.(nowMs - startMs()) === true),
    /** What is due before is played by none. @param {number} atMs */
    skipTo(atMs) {
      while (nextMs(atMs) < atMs) next++
    },
    /** It was begun or dropped. Returns which it was. */
    take: () => next++,
    /** Until it is worth asking again. @param {number} nowMs */
    waitMs: (nowMs) => (schedule.isOver(next) ? 1 : Math.max(1, Math.min(longestMs, nextMs(nowMs) - nowMs))),
  }
}
