// Timers as an argument: the system's, or those of a simulated clock.

/**
 * @typedef {object} Timers
 * @property {<A extends any[]>(then: (...args: A) => void, ms?: number, ...args: A) => NodeJS.Timeout} setTimeout
 * @property {(timer: NodeJS.Timeout | undefined) => void} clearTimeout
 * @property {(then: () => void) => NodeJS.Immediate} setImmediate
 * @property {(soon: NodeJS.Immediate | undefined) => void} clearImmediate
 */

/** @type {Timers} */
export const systemTimers = Object.freeze({ setTimeout, clearTimeout, setImmediate, clearImmediate })

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
