// The machine as an argument: clock, chance and timers of the system, or those of a simulation.

/**
 * @typedef {object} Timers
 * @property {<A extends any[]>(then: (...args: A) => void, ms?: number, ...args: A) => NodeJS.Timeout} setTimeout
 * @property {(timer: NodeJS.Timeout | undefined) => void} clearTimeout
 * @property {(then: () => void) => NodeJS.Immediate} setImmediate
 * @property {(soon: NodeJS.Immediate | undefined) => void} clearImmediate
 * @property {(ms: number) => void} [sleep] stops this thread for so long, which no timer of Node keeps so exactly
 *
 * @typedef {object} Machine
 * @property {() => number} clock ms, never back
 * @property {() => number} random from 0 to 1
 * @property {Timers} timers
 */

const sleeping = new Int32Array(new SharedArrayBuffer(4))

/** @type {Timers} */
export const systemTimers = Object.freeze({
  // Node cuts the wait to whole milliseconds. A timer that is early is set again for the rest, which is a whole one: it
  // would fire at the same moment, after waking twice.
  setTimeout: (then, ms = 0, ...args) => setTimeout(then, Math.ceil(ms), ...args),
  clearTimeout,
  setImmediate,
  clearImmediate,
  sleep: (ms) => void Atomics.wait(sleeping, 0, 0, ms),
})

/** This machine. @param {() => number} clock @returns {Machine} */
export const machineWith = (clock) => ({ clock, random: Math.random, timers: systemTimers })

/** Timers take 2^31 ms at most; longer waits are divided. */
export const longestTimerMs = 2 ** 30

/** A promise and what resolves it. */
export const deferred = () => {
  let finish = () => {}
  const over = new Promise((/** @type {(value: void) => void} */ resolve) => {
    finish = resolve
  })
  return { over, finish }
}

/**
 * Calls at a given time, however far away; at once if it has passed. Returns a function that cancels it.
 * @param {number} atMs
 * @param {() => number} elapsed
 * @param {() => void} then
 * @param {Timers} [timers]
 */
export const alarm = (atMs, elapsed, then, timers = systemTimers) => {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const wait = () => {
    const leftMs = atMs - elapsed()
    if (leftMs <= 0) then()
    else timer = timers.setTimeout(wait, Math.min(leftMs, longestTimerMs))
  }
  wait()
  return () => timers.clearTimeout(timer)
}

/**
 * Waits until nothing is open, at most so long. Returns whether nothing is.
 * @param {number} limitMs
 * @param {() => boolean} isOpen asked every 5 ms
 * @param {{ clock: () => number, atOnce?: AbortSignal, timers?: Timers }} how atOnce: does not wait any more
 */
export const settledWithin = async (limitMs, isOpen, { clock, atOnce, timers = systemTimers }) => {
  for (const deadline = clock() + limitMs; isOpen() && clock() < deadline && !atOnce?.aborted; )
    await new Promise((resolve) => timers.setTimeout(resolve, 5, undefined))
  return !isOpen()
}

/**
 * The promise's value, or undefined when the limit has passed. No timer is left behind.
 * @template T
 * @param {number} limitMs
 * @param {Promise<T>} promise
 * @returns {Promise<T | undefined>}
 */
export const atMost = (limitMs, promise) => {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const limit = new Promise((/** @type {(none: undefined) => void} */ resolve) => {
    timer = setTimeout(resolve, limitMs, undefined)
  })
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer))
}
