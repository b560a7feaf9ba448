// Virtual time: events in their order, run as fast as they can be, with the timers that the product asks for.

/**
 * @import { Random } from '../helpers/random.js'
 * @import { Timers } from '../../lib/base/timers.js'
 *
 * @typedef {{ atMs: number, run: (() => void) | null, inner: boolean }} Event
 * @typedef {ReturnType<typeof virtualClock>} VirtualClock
 */

const idleLimit = 1000
const drained = () => new Promise((/** @type {(value: void) => void} */ resolve) => setImmediate(resolve))

/** @param {{ random: Random }} needs */
export const virtualClock = ({ random }) => {
  /** @type {Event[]} the next one last */
  const queue = []
  let nowMs = 0

  /**
   * `inner`: it calls nothing of the product, so that no promise needs to be waited for.
   * @param {number} delayMs
   * @param {() => void} then
   * @param {boolean} [inner]
   */
  const after = (delayMs, then, inner = false) => {
    /** @type {Event} */
    const event = { atMs: nowMs + Math.max(0, delayMs), run: then, inner }
    // Behind those of the same moment.
    let [low, high] = [0, queue.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (queue[middle].atMs > event.atMs) low = middle + 1
      else high = middle
    }
    queue.splice(low, 0, event)
    return event
  }
  const cancel = (/** @type {any} */ event) => {
    if (event) event.run = null
  }

  /** @type {any} */
  const timers = {
    // Never early, up to a millisecond late.
    setTimeout: (/** @type {Function} */ then, ms = 1, /** @type {any[]} */ ...args) =>
      after(Math.max(1, ms) + random.next(), () => then(...args)),
    clearTimeout: cancel,
    setImmediate: (/** @type {() => void} */ then) => after(0.05, then),
    clearImmediate: cancel,
  }

  return {
    now: () => nowMs,
    timers: /** @type {Timers} */ (timers),
    after,
    cancel,
    /** @param {number} ms */
    wait: (ms) => new Promise((/** @type {(value: void) => void} */ resolve) => after(ms, resolve)),
    /** Until the promise is settled. @template T @param {Promise<T>} promise @param {number} limitMs of virtual time */
    async runUntil(promise, limitMs) {
      let over = false
      const end = () => {
        over = true
      }
      promise.then(end, end)
      for (let idle = 0; !over; ) {
        const event = queue.pop()
        if (!event) {
          if (++idle > idleLimit) throw new Error(`stuck at ${nowMs} ms: nothing is left to happen`)
          await drained()
          continue
        }
        const { run, inner } = event
        if (run === null) continue
        idle = 0
        nowMs = Math.max(nowMs, event.atMs)
        if (nowMs > limitMs) throw new Error(`does not end: still running at ${limitMs} ms`)
        run()
        if (!inner) await drained()
      }
      return promise
    },
  }
}
