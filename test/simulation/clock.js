// Virtual time: events in a heap, run as fast as they can be, with the timers that the product asks for.

/**
 * @typedef {{ atMs: number, order: number, run: (() => void) | null, inner: boolean }} Event
 * @typedef {ReturnType<typeof virtualClock>} VirtualClock
 */

const idleLimit = 1000
const drained = () => new Promise((/** @type {(value: void) => void} */ resolve) => setImmediate(resolve))

/** @param {{ random: import('../helpers/random.js').Random }} needs */
export const virtualClock = ({ random }) => {
  /** @type {Event[]} */
  const heap = []
  let nowMs = 0
  let order = 0
  let events = 0

  const before = (/** @type {Event} */ a, /** @type {Event} */ b) =>
    a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
  const push = (/** @type {Event} */ event) => {
    let i = heap.push(event) - 1
    for (let up = (i - 1) >> 1; i > 0 && before(event, heap[up]); i = up, up = (i - 1) >> 1)
      heap[i] = heap[up]
    heap[i] = event
  }
  const pop = () => {
    const first = heap[0]
    const last = heap.pop()
    if (last && last !== first) {
      let i = 0
      for (let down = 1; down < heap.length; down = 2 * i + 1) {
        if (down + 1 < heap.length && before(heap[down + 1], heap[down])) down++
        if (!before(heap[down], last)) break
        heap[i] = heap[down]
        i = down
      }
      heap[i] = last
    }
    return first
  }

  /**
   * `inner`: it calls nothing of the product, so that no promise needs to be waited for.
   * @param {number} delayMs
   * @param {() => void} then
   * @param {boolean} [inner]
   */
  const after = (delayMs, then, inner = false) => {
    const event = {
      atMs: nowMs + Math.max(0, delayMs),
      order: order++,
      run: /** @type {Event['run']} */ (then),
      inner,
    }
    push(event)
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
    timers: /** @type {import('../../lib/base/timers.js').Timers} */ (timers),
    after,
    cancel,
    events: () => events,
    /**
     * Until the promise is settled.
     * @template T
     * @param {Promise<T>} promise
     * @param {number} limitMs of virtual time
     * @returns {Promise<T>}
     */
    async runUntil(promise, limitMs) {
      let over = false
      const end = () => {
        over = true
      }
      promise.then(end, end)
      for (let idle = 0; !over; ) {
        const event = pop()
        if (!event) {
          if (++idle > idleLimit) throw new Error(`stuck at ${nowMs} ms: nothing is left to happen`)
          await drained()
          continue
        }
        const { run, inner } = event
        if (run === null) continue
        idle = 0
        events++
        nowMs = Math.max(nowMs, event.atMs)
        if (nowMs > limitMs) throw new Error(`does not end: still running at ${limitMs} ms`)
        run()
        if (!inner) await drained()
      }
      return promise
    },
  }
}
