// Ticks of a course: begun when they are due and the servers have room; what is left when a stretch ends
// and has no room is dropped.
import { scheduleOfCourse } from '../plan/course.js'
import { duesOf } from './dues.js'

/**
 * @import { Timers } from '../base/timers.js'
 * @import { Course } from '../plan/course.js'
 *
 * @typedef {{ next: () => boolean, giveUp: () => void }} Begun next: goes on with it, and whether it is whole
 */

/**
 * @param {object} needs
 * @param {{ course: Course, tickItems: number, maxBehindMs: number }} needs.plan tickItems: of all writers here
 * @param {() => number} needs.elapsed
 * @param {() => boolean} needs.hasRoom
 * @param {{ begin: (i: number, dueMs: number) => Begun, skip: (i: number, dueMs: number) => void }} needs.ticks
 * @param {() => void} [needs.onEnd] everything was begun or dropped
 * @param {Pick<Timers, 'setTimeout' | 'clearTimeout'>} needs.timers
 */
export const coursePacing = ({ plan, elapsed, hasRoom, ticks, onEnd = () => {}, timers }) => {
  const { course, tickItems, maxBehindMs } = plan
  const { begin, skip } = ticks
  const dues = duesOf(scheduleOfCourse(course, tickItems), maxBehindMs, () => 0)
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
      const dueMs = dues.nextMs(nowMs)
      if (dueMs > nowMs) return
      const isRoom = hasRoom()
      const isDropped = dues.isDropped(dueMs, nowMs, isRoom)
      if (!isDropped && !isRoom) return
      next = dues.take() + 1
      if (isDropped) skip(next - 1, dueMs)
      else {
        current = begin(next - 1, dueMs)
        portion()
        goOn()
      }
    }
  }
  const wake = () => {
    if (stopped) return
    more()
    const nowMs = elapsed()
    if (dues.isOver()) {
      stopped = true
      onEnd()
      return
    }
    timer = timers.setTimeout(wake, dues.waitMs(nowMs))
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
