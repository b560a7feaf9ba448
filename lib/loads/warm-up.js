// How long a warm-up lasts at most.

/** @import { Settings } from '../../settings.js' */

// A run that is not steady by then is measured as it is.
const settlesByMs = 10_000
// A short run keeps half of its time and, if possible, a p99, which takes this long where a tick takes 5 ms.
const keptMs = 5000
const leastMs = 1000

/** @param {Pick<Settings, 'warmUpMs' | 'durationMs' | 'intervals' | 'periodMs'>} settings */
export const longestWarmUpMs = ({ warmUpMs, durationMs, intervals, periodMs }) => {
  if (warmUpMs !== 'auto') return warmUpMs
  const runMs = durationMs ?? (intervals ?? Number.POSITIVE_INFINITY) * periodMs
  return Math.min(settlesByMs, runMs / 2, Math.max(leastMs, runMs - keptMs))
}
