// The cost of an item as a sum of terms, each with an interval: least squares of relative errors. Terms that the data cannot
// separate, that are not above 0 or that explain nothing are left out and named. ml-matrix does the algebra. Pure.
import { inverse, Matrix, SVD, solve } from 'ml-matrix'
import { studentQuantile } from '../../base/distributions.js'
import { slotCount } from '../../wire/slot.js'

/**
 * @import { Memory } from './memory.js'
 *
 * @typedef {Readonly<Record<string, number>>} Features of a cell, by the names of the terms
 * @typedef {{ name: string, value: number, low: number, high: number }} Term
 *
 * @typedef {object} Model
 * @property {readonly Term[]} terms
 * @property {readonly { name: string, why: string }[]} left_out
 * @property {number} spread standard deviation of relative errors, each cell as the others predict it
 * @property {number} freedom degrees
 * @property {readonly (readonly number[])[]} covariance of the terms, without the spread
 *
 * @typedef {{ value: number, low: number, high: number }} Prediction
 */

const confidence = 0.95
const tail = (1 - confidence) / 2
// Above this two columns are alike: their coefficients would be arbitrary.
const worstCondition = 300
// No cost is known better than this.
const leastSpread = 0.004

// Measurements less certain than this have a smaller weight.
const usualPart = 0.05

/** For a cell whose cost is known to within half an interval. @param {number | null} halfPct */
export const weightOf = (halfPct) => {
  const own = Number.isFinite(halfPct ?? Number.NaN) ? Number(halfPct) / 200 : 0.5
  return usualPart / Math.hypot(usualPart, own)
}

/** @param {readonly Features[]} rows @param {readonly number[]} costs @param {readonly string[]} names @param {readonly number[]} weights */
const design = (rows, costs, names, weights) =>
  new Matrix(rows.map((row, i) => names.map((name) => (weights[i] * row[name]) / costs[i])))

/** Columns scaled to length 1: their condition then shows only how alike they are. @param {Matrix} x */
const conditionOf = (x) => {
  const unit = x.clone()
  for (let c = 0; c < x.columns; c++) unit.mulColumn(c, 1 / (x.getColumnVector(c).norm() || 1))
  return new SVD(unit).condition
}

/** @param {Matrix} x @param {readonly number[]} weights */
const fitted = (x, weights) => {
  const ones = Matrix.columnVector([...weights])
  const beta = solve(x, ones, true)
  const residuals = Matrix.sub(x.mmul(beta), ones).to1DArray()
  const freedom = Math.max(1, x.rows - x.columns)
  const covariance = inverse(x.transpose().mmul(x))
  const leverages = x.mmul(covariance).mmul(x.transpose()).diagonal()
  const square = (/** @type {readonly number[]} */ parts) => parts.reduce((sum, e) => sum + e * e, 0)
  // Each cell as predicted from the others, since the terms were chosen by these cells.
  const alone = residuals.map((e, i) => e / Math.max(0.1, 1 - leverages[i]))
  const spread = Math.sqrt(Math.max(leastSpread ** 2, square(residuals) / freedom, square(alone) / x.rows))
  const errors = beta.to1DArray().map((_, i) => spread * Math.sqrt(Math.max(0, covariance.get(i, i))))
  return { beta: beta.to1DArray(), spread, freedom, covariance, errors }
}

/** Every subset of the names that has the first. @param {readonly string[]} names @returns {string[][]} */
const choicesOf = ([first, ...others]) => {
  let all = [[first]]
  for (const name of others) all = all.flatMap((one) => [one, [...one, name]])
  return all
}

/**
 * The terms, none of them below 0, that explain the costs best.
 * @param {readonly Features[]} rows
 * @param {readonly number[]} costs above 0
 * @param {readonly string[]} names of terms: the first is always one of them
 * @param {readonly number[]} [weights] up to 1
 * @returns {Model}
 */
export const modelOf = (rows, costs, names, weights = costs.map(() => 1)) => {
  /** @type {{ name: string, why: string }[]} */
  const leftOut = []
  const there = names.filter((name) => {
    if (rows.some((row) => row[name] > 0)) return true
    leftOut.push({ name, why: 'it is 0 in every cell' })
    return false
  })
  const isApart = (/** @type {readonly string[]} */ used) =>
    used.length < rows.length &&
    (used.length === 1 || conditionOf(design(rows, costs, used, weights)) <= worstCondition)
  const tries = choicesOf(there)
    .filter(isApart)
    .map((used) => ({ used, fit: fitted(design(rows, costs, used, weights), weights) }))
    .filter(({ used, fit }) => used.length === 1 || fit.beta.every((value) => value > 0))
  // Fewer terms first: more must predict better.
  const { used, fit } = tries
    .toSorted((one, other) => one.used.length - other.used.length)
    .reduce((best, one) => (one.fit.spread < best.fit.spread ? one : best))
  for (const name of there.filter((one) => !used.includes(one)))
    leftOut.push({
      name,
      why: isApart([...used, name])
        ? 'it does not improve the fit'
        : 'the cells cannot separate it from the others',
    })
  const at = studentQuantile(tail, fit.freedom)
  return {
    terms: used.map((name, i) => ({
      name,
      value: fit.beta[i],
      low: fit.beta[i] - at * fit.errors[i],
      high: fit.beta[i] + at * fit.errors[i],
    })),
    left_out: leftOut,
    spread: fit.spread,
    freedom: fit.freedom,
    covariance: fit.covariance.to2DArray(),
  }
}

/**
 * The model's prediction for a cell, with the interval of 95 of 100 measurements.
 * @param {Pick<Model, 'terms' | 'spread' | 'freedom' | 'covariance'>} model
 * @param {Features} features
 * @returns {Prediction}
 */
export const predicted = ({ terms, spread, freedom, covariance }, features) => {
  const value = terms.reduce((sum, term) => sum + term.value * features[term.name], 0)
  const row = Matrix.rowVector(terms.map(({ name }) => features[name] / value))
  const leverage = row.mmul(new Matrix(covariance)).mmul(row.transpose()).get(0, 0)
  const margin = studentQuantile(tail, freedom) * spread * Math.sqrt(1 + leverage)
  return { value, low: value * Math.max(0, 1 - margin), high: value * (1 + margin) }
}

/** Names of the CPU terms, the least important last. */
export const cpuTerms = /** @type {const} */ ([
  'command',
  'byte',
  'log2_items',
  'member',
  'byte_log2',
  'first_byte',
])

// The first bytes of a command cost more: they are new to the processor's cache, and later ones are prefetched.
const firstBytes = 2048

/**
 * @param {{ commands: number, members: number, bytesIn: number, bytesOut: number }} amounts an item
 * @param {number} items that the structure holds
 * @returns {Features}
 */
export const cpuFeatures = ({ commands, members, bytesIn, bytesOut }, items) => ({
  command: commands,
  member: members,
  byte: bytesIn + bytesOut,
  first_byte: Math.min(bytesIn + bytesOut, firstBytes),
  log2_items: Math.log2(items),
  // Reads of values miss the processor's cache, the more so the more items there are.
  byte_log2: (bytesIn + bytesOut) * Math.log2(items),
})

/** Memory: the computed amount, and overhead of the server. */
export const memoryTerms = /** @type {const} */ (['computed', 'an item', 'a slot'])

/**
 * @param {Memory} memory an item
 * @param {number} items
 * @param {boolean} isCluster each slot that has a key takes memory of its own
 * @returns {Features}
 */
export const memoryFeatures = ({ spread, fixed, keys }, items, isCluster) => ({
  computed: spread + fixed,
  'an item': 1,
  'a slot': isCluster ? (slotCount * -Math.expm1((-items * keys) / slotCount)) / items : 0,
})
