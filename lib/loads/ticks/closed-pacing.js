// Each writer waits for its batch and then sleeps, as the published programs did.

/**
 * @import { Timers } from '../../base/timers.js'
 * @import { Pacing } from './scheduled-pacing.js'
 */

/**
 * @param {object} needs
 * @param {number} needs.writers
 * @param {number} needs.sleepMs
 * @param {(i: number) => boolean} needs.isOver
 * @param {(writer: number, i: number, then: () => void) => void} needs.write then: all of it has an outcome
 * @param {() => void} needs.finish
 * @param {Timers} needs.timers
 * @returns {Pacing}
 */
export const closedPacing = ({ writers, sleepMs, isOver, write, finish, timers }) => {
  let running = writers
  /** @type {Set<NodeJS.Timeout>} */
  const sleeping = new Set()
  /** @param {number} writer @param {number} i */
  const writeTick = (writer, i) => {
    if (isOver(i)) {
      if (--running === 0) finish()
      return
    }
    write(writer, i, () => {
      const timer = timers.setTimeout(() => {
        sleeping.delete(timer)
        writeTick(writer, i + 1)
      }, sleepMs)
      sleeping.add(timer)
    })
  }
  return {
    start() {
      for (let writer = 0; writer < writers; writer++) writeTick(writer, 0)
    },
    stop() {
      for (const timer of sleeping) timers.clearTimeout(timer)
    },
    more() {},
    next: () => 0,
    waits: () => false,
    giveUp() {},
  }
}
