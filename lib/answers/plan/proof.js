// How well a calibration predicted the cells that were held out. Pure.
import { median } from 'simple-statistics'
import { percent } from '../../base/units.js'

/** @import { CalibratedModel } from './calibration.js' */
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
    points: cells.map(({ predicted, measured }) => ({
      predicted_us: predicted.cpu_us.master.value,
      measured_us: measured.cpu_us.master,
    })),
  }
}

/** 'CPU: median error 4 %, largest 11 %, 6 of 6 inside the interval' @param {string} what @param {Readonly<Score> | null} score @param {boolean} [bounded] */
const scoreWords = (what, score, bounded = true) =>
  score === null
    ? `${what}: not measured`
    : `${what}: median error ${percent(score.median_pct)}, largest ${percent(score.largest_pct)}${bounded ? `, ${score.inside} of ${score.count} inside the interval` : ''}`

/** @param {Readonly<Record<'cpu' | 'memory' | 'network', Readonly<Score> | null>>} scores */
export const proofWords = ({ cpu, memory, network }) =>
  `predicted against measured: ${[scoreWords('CPU', cpu), scoreWords('memory', memory), scoreWords('network', network, false)].join('; ')}`
