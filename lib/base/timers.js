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
