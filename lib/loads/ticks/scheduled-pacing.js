// Ticks at absolute deadlines. One that is due begins as soon as the servers have room, and then takes about a second at most;
// one that waits too long is dropped as a whole.
import { ticker } from './ticker.js'

/**
 * @import { Timers } from '../../base/timers.js'
 * @import { TickInPortions } from './writer.js'
 * @import { TickTimes } from './ticker.js'
 *
 * @typedef {object} Pacing how ticks are paced
 * @property {() => void} start
 * @property {() => void} stop
 * @property {() => void} more there may be room
 * @property {() => number} next the first tick that was not begun
 * @property {() => boolean} waits something is due, or was begun in part
 * @property {() => void} giveUp drops what waits
 */

// A batch that takes longer than this is begun in portions, so that the rest of it can be dropped when it is too late.
const largeBatchMs = 1000

/**
 * @param {object} needs
 * @param {{ chunks: number, ticks: number | null, maxBehindMs: number }} needs.plan
 * @param {TickTimes} needs.times
 * @param {{ hasRoom: () => boolean, waitLimitMs: () => number }} needs.servers how long a tick may wait for room
 * @param {object} needs.ticks
 * @param {(i: number, dueMs: number, from: number) => TickInPortions} needs.ticks.begin from: the portion that is begun first
 * @param {(i: number, dueMs: number) => void} needs.ticks.skip
 * @param {() => void} needs.onEnd
 * @param {Timers} needs.timers
 * @returns {Pacing}
 */
export const scheduledPacing = ({ plan, times, servers, ticks, onEnd, timers }) => {
  const { pacer, elapsed } = times
  const { hasRoom, waitLimitMs } = servers
  const { begin, skip } = ticks
  /** @typedef {{ i: number, sinceMs: number }} Waiting */
  /** @type {Waiting[]} */
  const waiting = []
  /** @type {{ tick: TickInPortions, due: Waiting, begunMs: number } | null} */
  let current = null
  const isTooLate = (/** @type {Waiting} */ { i, sinceMs }) => {
    const nowMs = elapsed()
    return nowMs - pacer.dueMs(i) > plan.maxBehindMs || nowMs - sinceMs > waitLimitMs()
  }
  /** How many ticks had begun at the chunk's last one: every part of an interval is written equally often. */
  const begunAt = new Float64Array(plan.chunks).fill(-1)
  /** The portion at which the chunk's next tick begins: the one at which the last was given up. */
  const resumeAt = new Uint32Array(plan.chunks)
  let begun = 0
  const oldestPart = () => {
    let at = 0
    for (let w = 1; w < waiting.length; w++)
      if (begunAt[pacer.chunkOf(waiting[w].i)] < begunAt[pacer.chunkOf(waiting[at].i)]) at = w
    return waiting.splice(at, 1)[0]
  }
  const giveUpCurrent = () => {
    if (current) resumeAt[pacer.chunkOf(current.due.i)] = current.tick.giveUp()
    current = null
  }
  const more = () => {
    for (;;) {
      while (waiting.length > 0 && isTooLate(waiting[0])) {
        const [{ i }] = waiting.splice(0, 1)
        skip(i, pacer.dueMs(i))
      }
      if (current && elapsed() - current.begunMs > largeBatchMs && isTooLate(current.due)) giveUpCurrent()
      if ((waiting.length === 0 && !current) || !hasRoom()) return
      if (!current) {
        const due = oldestPart()
        const k = pacer.chunkOf(due.i)
        begunAt[k] = begun++
        current = { tick: begin(due.i, pacer.dueMs(due.i), resumeAt[k]), due, begunMs: elapsed() }
        resumeAt[k] = 0
      }
      if (current.tick.next()) current = null
    }
  }
  const ticking = ticker({
    times,
    ticks: plan.ticks,
    onEnd,
    timers,
    begin(i) {
      waiting.push({ i, sinceMs: elapsed() })
      more()
    },
  })
  return {
    start: ticking.start,
    stop: ticking.stop,
    more,
    next: ticking.next,
    waits: () => current !== null || waiting.length > 0,
    giveUp() {
      giveUpCurrent()
      for (const { i } of waiting.splice(0)) skip(i, pacer.dueMs(i))
    },
  }
}
