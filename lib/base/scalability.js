// How a rate grows with the number of workers: Gunther's universal scalability law, X(N) = l N / (1 + s (N - 1) + k N (N - 1)),
// and Amdahl's law, which is that without k. l is the rate of one worker, s the share that they wait for each other, k what
// each pair costs. N / X is linear in 1/l, s/l and k/l, so a fit is a least-squares solution, weighted by relative errors.
// Intervals come from a bootstrap. Pure.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/**
 * @typedef {{ workers: number, rate: number }} Point a measured run
 * @typedef {{ lambda: number, sigma: number, kappa: number }} Law
 * @typedef {readonly number[]} Interval low and high
 *
 * @typedef {object} Fit
 * @property {Law} law
 * @property {{ lambda: Interval, sigma: Interval, kappa: Interval, knee: Interval | null }} intervals 95 of 100 bootstraps
 * @property {number} r2 part of the variance of the rates that the law explains
 * @property {number} worst largest relative error of the law
 * @property {'usl' | 'amdahl' | 'linear'} name of the law with the parameters that are left
 * @property {number | null} knee workers beyond which the rate falls; null: it does not within the law
 * @property {number | null} limit the highest rate that the law allows; null: there is none
 */

const bootstraps = 400
const seed = 19
// Squared relative errors below this are those of arithmetic.
const exact = 1e-12

/** @param {Law} law @param {number} n */
export const rateOf = ({ lambda, sigma, kappa }, n) =>
  (lambda * n) / (1 + sigma * (n - 1) + kappa * n * (n - 1))

/** Solves A x = b by elimination; null: it has no single solution. @param {number[][]} a @param {number[]} b */
const solved = (a, b) => {
  const rows = a.map((row, i) => [...row, b[i]])
  const size = rows.length
  for (let i = 0; i < size; i++) {
    let pivot = i
    for (let r = i + 1; r < size; r++) if (Math.abs(rows[r][i]) > Math.abs(rows[pivot][i])) pivot = r
    if (Math.abs(rows[pivot][i]) < 1e-300) return null
    const swapped = rows[i]
    rows[i] = rows[pivot]
    rows[pivot] = swapped
    for (let r = 0; r < size; r++) {
      if (r === i) continue
      const factor = rows[r][i] / rows[i][i]
      for (let c = i; c <= size; c++) rows[r][c] -= factor * rows[i][c]
    }
  }
  return rows.map((row, i) => row[size] / row[i])
}

/** What 1/l, s/l and k/l are multiplied by. @param {number} n */
const terms = (n) => [1, n - 1, n * (n - 1)]

/** Least squares with some of the three terms. @param {readonly Point[]} points @param {readonly number[]} used */
const leastSquares = (points, used) => {
  const a = used.map(() => used.map(() => 0))
  const b = used.map(() => 0)
  for (const { workers, rate } of points) {
    const y = workers / rate
    const x = terms(workers)
    const weight = 1 / (y * y)
    for (const [i, p] of used.entries()) {
      b[i] += weight * x[p] * y
      for (const [j, q] of used.entries()) a[i][j] += weight * x[p] * x[q]
    }
  }
  const found = solved(a, b)
  if (found === null) return null
  const all = [0, 0, 0]
  for (const [i, p] of used.entries()) all[p] = found[i]
  const error = points.reduce((sum, { workers, rate }) => {
    const x = terms(workers)
    const y = workers / rate
    return sum + ((x[0] * all[0] + x[1] * all[1] + x[2] * all[2] - y) / y) ** 2
  }, 0)
  return { all, score: points.length * Math.log(error / points.length + exact) + 2 * used.length }
}

/**
 * The law without negative parameters that explains the points best by Akaike's criterion, which charges for each
 * parameter.
 * @param {readonly Point[]} points of three numbers of workers or more
 * @returns {Law}
 */
export const lawOf = (points) => {
  const tries = [[0, 1, 2], [0, 1], [0, 2], [0]].flatMap((used) => leastSquares(points, used) ?? [])
  const [best] = tries
    .filter(({ all: [one, two, three] }) => one > 0 && two >= 0 && three >= 0)
    .sort((a, b) => a.score - b.score)
  const [inverse, s, k] = best.all
  return { lambda: 1 / inverse, sigma: s / inverse, kappa: k / inverse }
}

/** @param {Law} law */
const kneeOf = ({ sigma, kappa }) => (kappa > 0 && sigma < 1 ? Math.sqrt((1 - sigma) / kappa) : null)

/** @param {number[]} values @returns {Interval} */
const intervalOf = (values) => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (/** @type {number} */ share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
  return [at(0.025), at(0.975)]
}

/** @param {readonly Point[]} points @param {Law} law @param {() => number} next in [0, 1) @returns {Law[]} */
const bootstrapped = (points, law, next) => {
  const errors = points.map(({ workers, rate }) => rate / rateOf(law, workers))
  return Array.from({ length: bootstraps }, () =>
    lawOf(
      points.map(({ workers }) => ({
        workers,
        rate: rateOf(law, workers) * errors[Math.floor(next() * errors.length)],
      })),
    ),
  )
}

/** @param {readonly Point[]} points @returns {Fit} */
export const fitOf = (points) => {
  const law = lawOf(points)
  const mean = points.reduce((sum, { rate }) => sum + rate, 0) / points.length
  const squares = (/** @type {(point: Point) => number} */ pick) =>
    points.reduce((sum, point) => sum + pick(point) ** 2, 0)
  const left = squares(({ workers, rate }) => rate - rateOf(law, workers))
  const whole = squares(({ rate }) => rate - mean)
  const random = xoroshiro128plus(seed)
  const laws = bootstrapped(points, law, () => (random.next() >>> 0) / 2 ** 32)
  const knee = kneeOf(law)
  const knees = laws.flatMap((one) => kneeOf(one) ?? [])
  return {
    law,
    intervals: {
      lambda: intervalOf(laws.map(({ lambda }) => lambda)),
      sigma: intervalOf(laws.map(({ sigma }) => sigma)),
      kappa: intervalOf(laws.map(({ kappa }) => kappa)),
      knee: knee === null || knees.length < bootstraps / 2 ? null : intervalOf(knees),
    },
    r2: whole === 0 ? 1 : 1 - left / whole,
    worst: Math.max(...points.map(({ workers, rate }) => Math.abs(rate / rateOf(law, workers) - 1))),
    name: law.kappa > 0 ? 'usl' : law.sigma > 0 ? 'amdahl' : 'linear',
    knee,
    limit: knee !== null ? rateOf(law, Math.max(1, knee)) : law.sigma > 0 ? law.lambda / law.sigma : null,
  }
}

/**
 * Workers that a rate needs, on boxes of at most so many: the fewest boxes, and the fewest workers on each.
 * @param {Law} law of one box
 * @param {number} rate of all
 * @param {number} most workers on a box
 * @returns {{ workers: number, boxes: number, each: number }}
 */
export const workersFor = (law, rate, most) => {
  const knee = kneeOf(law)
  const best = Math.max(1, Math.min(most, knee === null ? most : Math.floor(knee)))
  const boxes = Math.max(1, Math.ceil(rate / rateOf(law, best) - 1e-9))
  let each = 1
  while (each < best && rateOf(law, each) < rate / boxes - 1e-9) each++
  return { workers: each * boxes, boxes, each }
}
