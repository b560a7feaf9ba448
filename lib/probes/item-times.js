// When items are stored: each with the answer to the last of its commands, and begun with the first that was sent. Items
// that one write began and one answer completed are recorded together; the commands have latencies of their own.

/**
 * @import { Step } from '../workloads/bind/writer.js'
 *
 * @typedef {object} Progress of a tick's items, by their places
 * @property {Uint32Array} begunBy the first of the tick's writes that had an answered command of the item, from 1; 0: none
 * @property {Uint8Array | null} answered commands; null: after the first, the second is the last
 *
 * @typedef {object} Timed what is asked of a tick
 * @property {number} dueMs
 * @property {number[]} sends when each of its writes was first sent
 * @property {Progress | null} progress
 * @property {{ first: number, count: number, measured: boolean }} account
 *
 * @typedef {{ step: Step, first: number, members: Uint32Array, from: Uint32Array, inOrder?: boolean }} Commands inOrder: each
 *   of their items is in its own place
 *
 * @typedef {object} Latencies
 * @property {(dueMs: number, sentMs: number, nowMs: number, items: number) => void} record
 * @property {(name: string) => (tookMs: number, commands: number) => void} [command] what records those of a name
 */

/**
 * A command of the items was answered: adds those that are complete to the counts of the writes that began them. 3 to 6 ns
 * an item and command.
 * @param {Progress} progress
 * @param {number} carriers commands that carry an item
 * @param {Uint32Array} places
 * @param {number} shift of the places
 * @param {number} start
 * @param {number} end
 * @param {number} write that the command was first sent with
 * @param {Uint32Array} completed items by write
 * @param {number[]} writes that have some
 */
const settle = ({ begunBy, answered }, carriers, places, shift, start, end, write, completed, writes) => {
  for (let m = start; m < end; m++) {
    const i = places[m] + shift
    const before = begunBy[i]
    if (before === 0) {
      begunBy[i] = write
      continue
    }
    const by = write < before ? write : before
    if (answered !== null && ++answered[i] < carriers - 1) begunBy[i] = by
    else if (completed[by]++ === 0) writes.push(by)
  }
}

/**
 * The same of items that are in order, of two commands each: what one write began and one answer completes is counted at
 * once, which takes half the time and less.
 * @param {Uint32Array} begunBy
 * @param {number} start
 * @param {number} end
 * @param {number} write
 * @param {Uint32Array} completed
 * @param {number[]} writes
 */
const settleInOrder = (begunBy, start, end, write, completed, writes) => {
  for (let i = start; i < end; ) {
    const from = i
    const before = begunBy[from]
    do i++
    while (i < end && begunBy[i] === before)
    if (before === 0) begunBy.fill(write, from, i)
    else {
      const by = Math.min(write, before)
      if (completed[by] === 0) writes.push(by)
      completed[by] += i - from
    }
  }
}

/** @param {{ steps: readonly Step[], latency: Latencies }} needs */
export const itemTimesOf = ({ steps, latency }) => {
  const carriers = steps.filter(({ kind }) => kind !== 'once').length
  const commandTimes = steps.map((step) => latency.command?.(String(step.name)))
  // For the current answer.
  let completed = new Uint32Array(64)
  /** @type {number[]} */
  const writes = []

  /** @param {number} items @returns {Progress} */
  const progressOf = (items) => ({
    begunBy: new Uint32Array(items),
    answered: carriers > 2 ? new Uint8Array(items) : null,
  })

  return {
    /**
     * Commands [from, to) of a batch were answered.
     * @param {Timed} tick
     * @param {Commands} batch
     * @param {number} from
     * @param {number} to
     * @param {number} write which of the tick's writes they were first sent with, from 1
     * @param {number} sentMs when they were last sent
     * @param {number} nowMs
     * @returns items that are stored with that answer; latencies are recorded after the warm-up
     */
    answered(tick, batch, from, to, write, sentMs, nowMs) {
      const { account, sends, dueMs } = tick
      if (account.measured) commandTimes[steps.indexOf(batch.step)]?.(nowMs - sentMs, to - from)
      const start = batch.from[from]
      const end = batch.from[to]
      if (start === end) return 0
      if (carriers === 1) {
        if (account.measured) latency.record(dueMs, sends[write - 1], nowMs, end - start)
        return end - start
      }
      tick.progress ??= progressOf(account.count)
      if (completed.length <= sends.length) completed = new Uint32Array(2 * sends.length)
      const shift = batch.first - account.first
      const { begunBy, answered } = tick.progress
      if (batch.inOrder && answered === null)
        settleInOrder(begunBy, start + shift, end + shift, write, completed, writes)
      else settle(tick.progress, carriers, batch.members, shift, start, end, write, completed, writes)
      let stored = 0
      // Not writes.length = 0, which calls into the engine.
      for (let by = writes.shift(); by !== undefined; by = writes.shift()) {
        stored += completed[by]
        if (account.measured) latency.record(dueMs, sends[by - 1], nowMs, completed[by])
        completed[by] = 0
      }
      return stored
    },
  }
}
