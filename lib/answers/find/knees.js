// The rates that a target may sustain, as probabilities over a grid of models: a second at rate r passes with probability
// (1 - bad) / (1 + exp((ln r - knee) / slope)). Rates are natural logarithms, in steps of 0.25 %. Pure.

/**
 * @typedef {object} Second that was measured
 * @property {number} t seconds of load before it
 * @property {number} x natural logarithm of its rate
 * @property {boolean} passed
 *
 * @typedef {{ knee: number, slope: number, bad: number }} Model
 */

const step = 0.0025
// Knees are 0.5 % apart.
const stepsAKnee = 2
const slopes = [0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.4]
const bads = [0.0005, 0.006, 0.015, 0.03, 0.05, 0.075, 0.11, 0.2]
const meanBad = 0.08
const cells = slopes.length * bads.length
// Seconds farther from the knee than this all have the same weight.
const farthest = 1000
const below = 0.9
const above = 0.6

/** The rate on the grid. @param {number} x */
export const onGrid = (x) => Math.round(x / step) * step

export const logistic = (/** @type {number} */ x) => 1 / (1 + Math.exp(-x))

/** Logarithms of the probabilities of a pass and of a failure, by distance from the knee and by cell. */
const tables = (() => {
  const passed = new Float64Array((2 * farthest + 1) * cells)
  const failed = new Float64Array(passed.length)
  let at = 0
  for (let distance = -farthest; distance <= farthest; distance++)
    for (const slope of slopes)
      for (const bad of bads) {
        const p = (1 - bad) * logistic((distance * step) / slope)
        passed[at] = Math.log(p + 1e-9)
        failed[at++] = Math.log(1 - p + 1e-9)
      }
  return { passed, failed }
})()

/** How far below the knee a model passes in the share; NaN: its bad seconds alone are too many. @param {number} share */
const offsetsOf = (share) =>
  slopes.flatMap((slope) =>
    bads.map((bad) => {
      const q = share / (1 - bad)
      return q >= 0.9995 ? Number.NaN : slope * Math.log(q / (1 - q))
    }),
  )

/** @param {number} centre about where the knee is */
export const kneesAround = (centre) => {
  const first = Math.round((centre - below) / (stepsAKnee * step))
  const knees = Math.floor((centre + above) / (stepsAKnee * step)) - first + 1
  const logs = new Float64Array(knees * cells)
  for (let j = 0; j < logs.length; j++) logs[j] = -bads[j % bads.length] / meanBad
  const weights = new Float64Array(logs.length)
  let isCurrent = false
  let logTotal = 0

  /** Scales the weights to a sum of 1. */
  const current = () => {
    if (isCurrent) return weights
    isCurrent = true
    let top = Number.NEGATIVE_INFINITY
    for (const log of logs) if (log > top) top = log
    let total = 0
    for (let j = 0; j < logs.length; j++) {
      const log = logs[j] - top
      weights[j] = log > -30 ? Math.exp(log) : 0
      total += weights[j]
    }
    for (let j = 0; j < weights.length; j++) weights[j] /= total
    logTotal = top + Math.log(total)
    return weights
  }
  /** @param {number} j @returns {Model} */
  const modelOf = (j) => {
    const cell = j % cells
    return {
      knee: (first + (j - cell) / cells) * stepsAKnee * step,
      slope: slopes[Math.floor(cell / bads.length)],
      bad: bads[cell % bads.length],
    }
  }
  return {
    /** @param {Pick<Second, 'x' | 'passed'>} second */
    add({ x, passed }) {
      isCurrent = false
      const table = passed ? tables.passed : tables.failed
      const steps = Math.round(x / step)
      let j = 0
      for (let knee = 0; knee < knees; knee++) {
        const distance = (first + knee) * stepsAKnee - steps
        let at = (Math.max(-farthest, Math.min(farthest, distance)) + farthest) * cells
        for (let cell = 0; cell < cells; cell++) logs[j++] += table[at++]
      }
    },
    /** Reduces the weight of earlier seconds, as a target changes. @param {number} factor */
    fade(factor) {
      isCurrent = false
      for (let j = 0; j < logs.length; j++) logs[j] *= factor
    },
    /** The logarithm of the probability of all seconds so far, up to a constant. */
    evidence: () => {
      current()
      return logTotal
    },
    /** @param {number} uniform at least 0 and below 1 */
    draw(uniform) {
      const all = current()
      let sum = 0
      for (let j = 0; j < all.length; j++) {
        sum += all[j]
        if (sum >= uniform) return modelOf(j)
      }
      return modelOf(all.length - 1)
    },
    /**
     * Quantiles of the rate that passes this share of the seconds.
     * @param {number} share
     * @returns {(probability: number) => number} NaN where no model has such a rate
     */
    rateAt(share) {
      const all = current()
      const offsets = offsetsOf(share)
      /** @type {Map<number, number>} */
      const bins = new Map()
      let total = 0
      for (let j = 0; j < all.length; j++) {
        const offset = offsets[j % cells]
        if (all[j] < 1e-8 || Number.isNaN(offset)) continue
        const knee = first + Math.floor(j / cells)
        const bin = Math.round((knee * stepsAKnee * step - offset) / (step / 2))
        bins.set(bin, (bins.get(bin) ?? 0) + all[j])
        total += all[j]
      }
      const rates = [...bins].sort(([a], [b]) => a - b)
      return (probability) => {
        let sum = 0
        for (const [bin, weight] of rates) {
          sum += weight
          if (sum >= probability * total) return (bin * step) / 2
        }
        return rates.length > 0 ? (rates[rates.length - 1][0] * step) / 2 : Number.NaN
      }
    },
  }
}
