// How a load ends: by itself or by an interrupt; then operations under way settle, within a limit.

/** The limit of a run that is not interrupted. */
export const settleLimitMs = 10_000
const interruptedLimitMs = 3000

/** @typedef {{ stop: AbortSignal, stopNow: AbortSignal }} Signals stop offering and settle; do not even settle */

export const sleep = (/** @type {number} */ ms) =>
  new Promise((/** @type {(value: void) => void} */ resolve) => setTimeout(resolve, ms))

/** @param {AbortSignal} stop @param {number} [limitMs] of a run that is not interrupted */
export const patienceMs = (stop, limitMs = settleLimitMs) => (stop.aborted ? interruptedLimitMs : limitMs)

/**
 * @param {object} load
 * @param {Promise<unknown>} load.over nothing new begins
 * @param {() => void} load.stop
 * @param {(limitMs: number, atOnce: AbortSignal) => Promise<boolean>} load.settle
 * @param {Signals} signals
 * @param {() => void} [onOver]
 * @returns {Promise<boolean>} whether everything was settled
 */
export const untilSettled = async (load, { stop, stopNow }, onOver = () => {}) => {
  stop.addEventListener('abort', load.stop)
  if (stop.aborted) load.stop()
  await load.over
  onOver()
  const whole = await load.settle(patienceMs(stop), stopNow)
  stop.removeEventListener('abort', load.stop)
  return whole
}
