// How sure the metrics of a few repeats are.
import { mean, median, sampleVariance } from 'simple-statistics'
import { studentQuantile } from '../base/distributions.js'

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
 * The interval is taken of the logarithms where it can be: figures that are never below 0 have none that is.
 * @param {readonly number[]} samples at least one
 * @returns {import('./experiment-document.js').FigureOfRow}
 */
export const figureOfRow = (samples) => {
  const middle = median([...samples])
  const above = samples.every((value) => value > 0)
  const { middle: centred, half } = meanWithin(above ? samples.map(Math.log) : samples)
  const told = (/** @type {number} */ value) => (above ? Math.exp(value) : value)
  // Equal samples, or one: logarithms would leave a hair between them.
  if (half === null || samples.every((value) => value === middle))
    return { median: middle, low: middle, high: middle, samples: [...samples] }
  return {
    median: middle,
    low: Math.min(told(centred - half), middle),
    high: Math.max(told(centred + half), middle),
    samples: [...samples],
  }
}
