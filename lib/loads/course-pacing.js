// Ticks of a course: begun when they are due and the servers have room; what is left when a stretch ends
// and has no room is dropped.
import { duesOfCourse } from '../plan/course.js'

/**
 * @import { Timers } from '../base/timers.js'
 * @import { Course } from '../plan/course.js'
 *
 * @typedef {{ next: () => boolean, giveUp: () => void }} Begun next: goes on with it, and whether it is whole
 */

// How soon a stretch that is added later is seen.
const lookMs = 4

/**
 * @param {object} needs
 * @param {Course} needs.course
 * @param {number} needs.tickItems of all writers here
 * @param {number} needs.maxBehindMs
 * @param {() => number} needs.elapsed
 * @param {() => boolean} needs.hasRoom
 * @param {(i: number, dueMs: number) => Begun} needs.begin
 * @param {(i: number, dueMs: number) => void} needs.skip
 * @param {() => void} [needs.onEnd] everything was begun or dropped
 * @param {Pick<Timers, 'setTimeout' | 'clearTimeout'>} needs.timers
 */
export const coursePacing = ({
  course,
  tickItems,
  maxBehindMs,
  elapsed,
  hasRoom,
  begin,
  skip,
  onEnd = () => {},
  timers,
}) => {
  const dues = duesOfCourse(course, (rateHz) => (tickItems * 1000) / rateHz)
  let next = 0
  let stopped = false
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  /** @type {Begun | null} */
  let current = null

  const portion = () => {
    if (current?.next()) current = null
  }
  /** Continues the tick that was begun. */
  const goOn = () => {
    while (current && hasRoom()) portion()
  }
  const more = () => {
    goOn()
    while (!current && !stopped) {
      const nowMs = elapsed()
      const event = dues.next(nowMs)
      if (event === null || event.dueMs > nowMs) return
      const isRoom = hasRoom()
      const isDropped = nowMs - event.dueMs > maxBehindMs || (event.isOver && !isRoom)
      if (!isDropped && !isRoom) return
      dues.take()
      if (isDropped) skip(next++, event.dueMs)
      else {
        current = begin(next++, event.dueMs)
        portion()
        goOn()
      }
    }
  }
  const wake = () => {
    if (stopped) return
    more()
    const nowMs = elapsed()
    if (course.isWhole && dues.next(nowMs) === null) {
      stopped = true
      onEnd()
      return
    }
    const waitMs = (dues.next(nowMs)?.dueMs ?? nowMs + lookMs) - nowMs
    timer = timers.setTimeout(wake, Math.max(1, Math.min(lookMs, waitMs)))
  }
  return {
    start: wake,
    stop: () => {
      stopped = true
      timers.clearTimeout(timer)
    },
    more,
    next: () => next,
    waits: () => current !== null,
    giveUp: () => {
      current?.giveUp()
      current = null
    },
  }
}
