// How sure the metrics of a few repeats are.
import { mean, median, sampleVariance } from 'simple-statistics'
import { studentQuantile } from '../base/distributions.js'

/** @import { FigureOfRow } from './experiment-document.js' */

/** The mean and half the width of its 95 % interval; null with one value, which has none. @param {readonly number[]} values */
export const meanWithin = (values) => {
  const n = values.length
  const middle = mean([...values])
  if (n < 2) return { middle, half: null }
  return { middle, half: studentQuantile(0.025, n - 1) * Math.sqrt(sampleVariance([...values]) / n) }
}

/** The runs that a figure is made of: valid ones where there are two or more; else all. @template {{ valid: boolean }} T @param {T[]} runs */
export const quotable = (runs) => {
  const valid = runs.filter((run) => run.valid)
  return valid.length > 1 ? valid : runs
}

/**
 * The mean and its interval are of the logarithms where they can be: metrics that are never below 0 have none that is.
 * @param {readonly number[]} samples at least one
 * @returns {FigureOfRow}
 */
export const figureOfRow = (samples) => {
  const middle = median([...samples])
  const isPositive = samples.every((value) => value > 0)
  const { middle: centred, half } = meanWithin(isPositive ? samples.map(Math.log) : samples)
  const shown = (/** @type {number} */ value) => (isPositive ? Math.exp(value) : value)
  // Equal samples, or one: logarithms would leave a hair between them.
  if (half === null || samples.every((value) => value === middle))
    return { median: middle, mean: middle, low: middle, high: middle, samples: [...samples] }
  return {
    median: middle,
    mean: shown(centred),
    low: shown(centred - half),
    high: shown(centred + half),
    samples: [...samples],
  }
}

/** What is printed of a metric, and what its interval is of. @param {FigureOfRow} figure */
export const centreOf = ({ mean: centre, median: middle }) => centre ?? middle
