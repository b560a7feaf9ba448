// The outcome of thresholds in a comparison. A threshold fails only if the whole interval is beyond its limit. Pure.
import { ExitCode } from '../base/errors.js'
import { meanWithin } from '../result/statistics.js'
import { keeps } from '../result/thresholds.js'

/**
 * @import { MeasureRow } from '../result/metrics.js'
 * @import { Threshold } from '../result/thresholds.js'
 * @import { Difference } from '../result/verdict.js'
 *
 * @typedef {'strict' | 'lenient'} Gate
 *
 * @typedef {object} Ruling
 * @property {string} threshold as it was asked
 * @property {string} label of the row
 * @property {MeasureRow} figure
 * @property {boolean} relative
 * @property {number | null} value null: not measured
 * @property {number | null} low ends of the interval of that value; null: one run has none
 * @property {number | null} high
 * @property {'passed' | 'failed' | 'unclear'} outcome unclear: the interval includes the limit
 */

/** @param {readonly number[]} samples at least one */
export const middleOf = (samples) => {
  const isPositive = samples.every((value) => value > 0)
  const { middle, half } = meanWithin(isPositive ? samples.map(Math.log) : samples)
  const shown = (/** @type {number} */ value) => (isPositive ? Math.exp(value) : value)
  return half === null
    ? { value: shown(middle), low: null, high: null }
    : { value: shown(middle), low: shown(middle - half), high: shown(middle + half) }
}

/** @param {Threshold} threshold @param {{ value: number | null, low: number | null, high: number | null }} found @returns {Ruling['outcome']} */
const outcomeOf = (threshold, { value, low, high }) => {
  if (value === null) return 'unclear'
  const ends = [...new Set((low === null ? [value] : [low, high]).map((end) => keeps(threshold, end)))]
  if (ends.length > 1) return 'unclear'
  return ends[0] ? 'passed' : 'failed'
}

const nothing = { value: null, low: null, high: null }

/**
 * A relative limit is for the change, an absolute one for the mean of the other side. One on a metric that was not measured
 * is unclear.
 * @param {Threshold} threshold
 * @param {string} label
 * @param {Difference | null} difference null: not measured on both sides
 * @param {readonly number[]} samples of the other side
 * @returns {Ruling}
 */
export const rulingOf = (threshold, label, difference, samples) => {
  const { figure, relative, text } = threshold
  const change = difference?.relative
    ? { value: difference.change, low: difference.low, high: difference.high }
    : nothing
  const found = relative ? change : samples.length > 0 ? middleOf(samples) : nothing
  return { threshold: text, label, figure, relative, ...found, outcome: outcomeOf(threshold, found) }
}

/** @param {readonly Ruling[]} rulings @param {Gate} gate */
export const gateExitCode = (rulings, gate) => {
  if (rulings.some(({ outcome }) => outcome === 'failed')) return ExitCode.threshold
  if (gate === 'strict' && rulings.some(({ outcome }) => outcome === 'unclear')) return ExitCode.unclear
  return ExitCode.done
}
