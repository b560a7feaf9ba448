// How sure figures of a few repeats are, and the differences between them.
import { mean, median, sampleVariance } from 'simple-statistics'

/**
 * @typedef {object} Difference of b to a
 * @property {number} change 0.05: five percent more; or the difference itself where it is not relative
 * @property {boolean} relative false: a value was 0 or less, so there is no ratio
 * @property {number | null} low ends of the 95 % interval; null: too few repeats for one
 * @property {number | null} high
 * @property {'differs' | 'indistinguishable' | 'unknown'} verdict
 */

// Student's t, 97.5 %: degrees of freedom and quantile.
const quantiles = [
  [1, 12.706],
  [2, 4.303],
  [3, 3.182],
  [4, 2.776],
  [5, 2.571],
  [6, 2.447],
  [8, 2.306],
  [10, 2.228],
  [15, 2.131],
  [30, 2.042],
  [Number.POSITIVE_INFINITY, 1.96],
]

/** Between the entries ln t is nearly straight over 1 / freedom: right within 2 %. @param {number} freedom */
export const studentT = (freedom) => {
  const at = Math.max(
    1,
    quantiles.findIndex(([known]) => known >= freedom),
  )
  const [[lowF, lowT], [highF, highT]] = [quantiles[at - 1], quantiles[at]]
  const part = (1 / Math.max(freedom, 1) - 1 / highF) / (1 / lowF - 1 / highF)
  return Math.exp(Math.log(highT) + part * (Math.log(lowT) - Math.log(highT)))
}

/** The mean and half the width of its 95 % interval; null with one value, which has none. @param {readonly number[]} values */
export const meanWithin = (values) => {
  const n = values.length
  const middle = mean([...values])
  if (n < 2) return { middle, half: null }
  return { middle, half: studentT(n - 1) * Math.sqrt(sampleVariance([...values]) / n) }
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

/**
 * The middle that is compared: the geometric mean, or the plain one where there is no ratio.
 * @param {number[]} values
 * @param {Pick<Difference, 'relative'>} difference
 */
export const centre = (values, { relative }) =>
  relative ? Math.exp(mean(values.map(Math.log))) : mean(values)

/** @param {number[]} a @param {number[]} b both at least two */
const welch = (a, b) => {
  const [va, vb] = [sampleVariance(a) / a.length, sampleVariance(b) / b.length]
  const middle = mean(b) - mean(a)
  if (va + vb === 0) return { middle, half: 0 }
  const freedom = (va + vb) ** 2 / (va ** 2 / (a.length - 1) + vb ** 2 / (b.length - 1))
  return { middle, half: studentT(freedom) * Math.sqrt(va + vb) }
}

/**
 * Welch's interval for the difference of two means, on logarithms, so that it is one of the ratio. Rank tests
 * cannot reach 95 % with three repeats a side, and a bootstrap of three is far too narrow; Welch's assumes no equal
 * spread, and costs and latencies are near enough to log-normal from run to run.
 * @param {number[]} a samples of the baseline, at least one
 * @param {number[]} b
 * @returns {Difference}
 */
export const differenceOf = (a, b) => {
  const relative = [...a, ...b].every((value) => value > 0)
  const scaled = (/** @type {number[]} */ values) => (relative ? values.map(Math.log) : values)
  const told = (/** @type {number} */ value) => (relative ? Math.expm1(value) : value)
  if (a.length < 2 || b.length < 2) {
    const change = told(mean(scaled(b)) - mean(scaled(a)))
    return { change, relative, low: null, high: null, verdict: 'unknown' }
  }
  const { middle, half } = welch(scaled(a), scaled(b))
  // Equal samples differ by what adding them up in another order leaves.
  const same = Math.abs(middle) <= half + 1e-12
  return {
    change: told(middle),
    relative,
    low: told(middle - half),
    high: told(middle + half),
    verdict: same ? 'indistinguishable' : 'differs',
  }
}

export { median }
