// How long a warm-up lasts at most.

import { strategyNamed } from '../workloads/index.js'

/** @import { Settings } from '../../settings.js' */

// A run that is not steady by then is measured nevertheless.
const settlesByMs = 10_000
// A short run measures half of its time or, if possible, long enough for a p99 at 5 ms a tick.
const keptMs = 5000
const leastMs = 1000

/** @param {Pick<Settings, 'warmUpMs' | 'durationMs' | 'intervals' | 'periodMs' | 'strategy'>} settings */
export const longestWarmUpMs = ({ warmUpMs, durationMs, intervals, periodMs, strategy }) => {
  if (warmUpMs !== 'auto') return warmUpMs
  const runMs = durationMs ?? (intervals ?? Number.POSITIVE_INFINITY) * periodMs
  const { caches } = strategyNamed(strategy).play
  // A cache is warm when it is full.
  const byMs = caches ? Number.POSITIVE_INFINITY : settlesByMs
  const longestMs = Math.min(byMs, runMs / 2, Math.max(leastMs, runMs - keptMs))
  // Hits are counted by whole seconds.
  return caches && Number.isFinite(longestMs) ? Math.floor(longestMs / 1000) * 1000 : longestMs
}
