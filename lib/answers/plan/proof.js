// How well a calibration predicted the cells that were held out. Pure.
import { median } from 'simple-statistics'

/** @import { CalibratedModel } from '../../result/plan-schemas.js' */
/** @typedef {{ median_pct: number, p90_pct: number, largest_pct: number, inside: number, count: number }} Score */

/**
 * @param {readonly { predicted: { value: number, low?: number, high?: number } | null, measured: number | null }[]} pairs
 * @returns {Score | null} null: nothing was measured
 */
export const scoreOf = (pairs) => {
  const known = pairs.flatMap(({ predicted, measured }) =>
    predicted === null || measured === null ? [] : [{ ...predicted, measured }],
  )
  if (known.length === 0) return null
  const errors = known
    .map(({ value, measured }) => 100 * Math.abs(value / measured - 1))
    .sort((a, b) => a - b)
  const at = (/** @type {number} */ share) =>
    errors[Math.min(errors.length - 1, Math.ceil(share * errors.length) - 1)]
  return {
    median_pct: median(errors),
    p90_pct: at(0.9),
    largest_pct: errors[errors.length - 1],
    inside: known.filter(({ low = 0, high = 0, measured }) => measured >= low && measured <= high).length,
    count: known.length,
  }
}

/** The errors at the held-out cells of a model. @param {CalibratedModel['proof']} proof */
export const scoresOf = (proof) => {
  const cells = proof.flatMap(({ predicted, measured }) =>
    measured === null ? [] : [{ predicted, measured }],
  )
  return {
    cpu: scoreOf(
      cells.map(({ predicted, measured }) => ({
        predicted: predicted.cpu_us.master,
        measured: measured.cpu_us.master,
      })),
    ),
    memory: scoreOf(
      cells.map(({ predicted, measured }) => ({
        predicted: predicted.memory_bytes,
        measured: measured.memory_bytes,
      })),
    ),
    network: scoreOf(
      cells.map(({ predicted, measured }) => ({
        predicted: { value: predicted.net_bytes },
        measured: measured.net_bytes,
      })),
    ),
  }
}
