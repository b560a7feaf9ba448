// How long a warm-up lasts at most.

/** @import { Settings } from '../../settings.js' */

// A run that is not steady by then is measured as it is, and of a short one half is left.
const settlesByMs = 10_000

/** @param {Pick<Settings, 'warmUpMs' | 'durationMs' | 'intervals' | 'periodMs'>} settings */
export const longestWarmUpMs = ({ warmUpMs, durationMs, intervals, periodMs }) =>
  warmUpMs === 'auto'
    ? Math.min(settlesByMs, (durationMs ?? (intervals ?? Number.POSITIVE_INFINITY) * periodMs) / 2)
    : warmUpMs
