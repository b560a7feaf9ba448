// The search for the least memory of a cache that meets limits. It plays runs at memories that it chooses. A limit that follows from
// the share of hits is read off a line through the runs, over what the miss ratio curve says for their memories; any other limit is
// between the most memory that fails it and the least that meets it. Pure.
import { studentQuantile } from '../../base/distributions.js'
import { shareOver } from '../../traffic/share-by-memory.js'

/**
 * @import { Rising } from '../../traffic/share-by-memory.js'
 *
 * @typedef {object} Check a limit in a run
 * @property {string} text
 * @property {string} name of its metric
 * @property {number} limit
 * @property {number | null} value
 * @property {boolean} passed
 *
 * @typedef {object} Trial
 * @property {number} bytes
 * @property {number} hit_pct
 * @property {readonly Check[]} checks
 *
 * @typedef {object} Curve
 * @property {Rising} points
 * @property {number} ceiling the most percent that any memory reaches
 *
 * @typedef {{ low: number, middle: number, high: number }} Ends
 * @typedef {'found' | 'least' | 'none'} State
 * @typedef {{ state: State, find: Ends | null, binds: string | null, confirmed: boolean | null }} MemoryAnswer
 * @typedef {{ bytes: number, phase: 'first' | 'measure' | 'confirm' }} Step
 */

const ofHits = new Set(['cache.hit_pct', 'cache.misses_per_s', 'cache.source_per_s'])
// The curve and the server may differ in their slopes by about so much.
const slopeSpread = 0.25
// Runs at memories that differ by more than this factor say little about the answer.
const near = 1.35
const apart = 0.05
const sharp = 1.02
const tail = 0.025
// So many of the runs with the high end of the interval may miss the limit.
const missing = 0.05

const mean = (/** @type {readonly number[]} */ values) =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** A limit as a share of hits, and what the runs have of it: requests of the source are as many for each miss in all of them. @param {readonly Trial[]} trials @param {number} at */
const asHits = (trials, at) => {
  const { name, limit } = trials[0].checks[at]
  const values = trials.map(({ checks }) => checks[at].value ?? 0)
  if (name === 'cache.hit_pct') return { wanted: limit, shares: values }
  const perMiss = mean(values) / Math.max(1e-9, mean(trials.map(({ hit_pct: hits }) => 100 - hits)))
  return { wanted: 100 - limit / perMiss, shares: values.map((value) => 100 - value / perMiss) }
}

/**
 * Where a line through the runs has the share that is wanted, by the shares of the curve; with its 95 % interval, whose high end is where
 * a single run has it, which varies beside the line.
 * @param {readonly number[]} xs
 * @param {readonly number[]} ys
 * @param {number} wanted
 */
export const crossing = (xs, ys, wanted) => {
  const [x, y] = [mean(xs), mean(ys)]
  const n = xs.length
  const sxx = xs.reduce((sum, one) => sum + (one - x) ** 2, 0)
  const sxy = xs.reduce((sum, one, i) => sum + (one - x) * (ys[i] - y), 0)
  let slope = 1
  let variance = 0
  // The slope and what is left of the runs follow from each other.
  for (let round = 0; round < 3; round++) {
    const left = xs.reduce((sum, one, i) => sum + (ys[i] - y - slope * (one - x)) ** 2, 0)
    variance = Math.max(1e-4, left / Math.max(1, n - 2))
    slope = (sxy / variance + 1 / slopeSpread ** 2) / (sxx / variance + 1 / slopeSpread ** 2)
  }
  const middle = x + (wanted - y) / slope
  const ofSlope = (middle - x) ** 2 / (sxx / variance + 1 / slopeSpread ** 2)
  if (n < 2) return { low: Number.NEGATIVE_INFINITY, middle, high: Number.POSITIVE_INFINITY }
  const freedom = Math.max(1, n - 2)
  const ofLine = variance / n + ofSlope
  const half = (studentQuantile(tail, freedom) * Math.sqrt(ofLine)) / slope
  const ofRun = (studentQuantile(missing, freedom) * Math.sqrt(ofLine + variance)) / slope
  return { low: middle - half, middle, high: middle + Math.max(half, ofRun) }
}

/** @param {readonly Trial[]} trials @param {number} at @param {Curve} curve @returns {Ends} */
const endsByHits = (trials, at, curve) => {
  const over = shareOver(curve)
  const guess = (/** @type {readonly Trial[]} */ some) => {
    const { wanted, shares } = asHits(some, at)
    return crossing(
      some.map(({ bytes }) => over.at(bytes)),
      shares,
      wanted,
    )
  }
  const first = over.bytesFor(guess(trials).middle)
  const close = trials.filter(({ bytes }) => bytes / first < near && first / bytes < near)
  const { low, middle, high } = guess(close.length > 1 ? close : trials)
  return { low: over.bytesFor(low), middle: over.bytesFor(middle), high: over.bytesFor(high) }
}

/** @param {readonly Trial[]} trials @param {number} at @param {Ends} all what may be searched @returns {Ends} */
const endsByBracket = (trials, at, { low: least, high: most }) => {
  const failed = trials.filter(({ checks }) => !checks[at].passed).map(({ bytes }) => bytes)
  const low = Math.max(least, ...failed)
  const passed = trials.filter(({ checks, bytes }) => checks[at].passed && bytes > low)
  const high = Math.min(most * 1.0001, ...passed.map(({ bytes }) => bytes))
  const [lower, higher] = [passed.length > 1 ? least : high / 2, failed.length > 1 ? most : low * 2]
  const middle =
    failed.length === 0
      ? Math.max(least, lower)
      : passed.length === 0
        ? Math.min(most, higher)
        : Math.sqrt(low * high)
  return { low, middle, high }
}

/**
 * @param {object} about
 * @param {number} about.start bytes of the first run
 * @param {(trial: Trial) => { curve: Curve | null, least: number, most: number }} about.learn what the first run says
 * @param {number} about.trials runs
 * @returns {Generator<Step, MemoryAnswer, Trial>}
 */
export function* memorySearch({ start, learn, trials: count }) {
  const first = yield { bytes: start, phase: 'first' }
  const { curve, least, most } = learn(first)
  const trials = [first]
  const all = { low: least, middle: least, high: most }
  const isOfHits = (/** @type {number} */ at) => curve !== null && ofHits.has(first.checks[at].name)
  const within = (/** @type {number} */ bytes) => Math.round(Math.min(most, Math.max(least, bytes)))
  const none = (/** @type {number} */ at) => ({
    state: /** @type {State} */ ('none'),
    find: null,
    confirmed: null,
    binds: first.checks[at].text,
  })
  const unreachable = first.checks.findIndex(
    (_, at) => isOfHits(at) && asHits(trials, at).wanted > Number(curve?.ceiling),
  )
  if (unreachable >= 0) return none(unreachable)
  const estimates = () =>
    first.checks.map((_, at) =>
      isOfHits(at) ? endsByHits(trials, at, /** @type {Curve} */ (curve)) : endsByBracket(trials, at, all),
    )
  const binding = (/** @type {readonly Ends[]} */ ends) =>
    ends.reduce((best, one, at) => (one.middle > ends[best].middle ? at : best), 0)
  /** @param {'low' | 'middle' | 'high'} end @param {readonly Ends[]} ends */
  const largest = (end, ends) => Math.max(...ends.map((one) => one[end]))
  while (trials.length < count - 1) {
    const ends = estimates()
    const at = binding(ends)
    const { low, middle, high } = ends[at]
    const isDone = !isOfHits(at) && high / low < sharp
    if (isDone) break
    const side = trials.length % 2 === 0 ? 1 + apart : 1 / (1 + apart)
    const bytes = within(isOfHits(at) ? middle * side : middle)
    const trial = yield { bytes, phase: 'measure' }
    trials.push(trial)
    const isPassed = trial.checks.every(({ passed }) => passed)
    if (bytes === within(least) && isPassed)
      return {
        state: 'least',
        find: { low: bytes, middle: bytes, high: bytes },
        binds: null,
        confirmed: true,
      }
    const failing = trial.checks.findIndex(({ passed }, i) => !passed && !isOfHits(i))
    if (bytes === within(most) && failing >= 0) return none(failing)
  }
  const ends = estimates()
  const find = { low: largest('low', ends), middle: largest('middle', ends), high: largest('high', ends) }
  const { checks } = yield { bytes: within(find.high), phase: 'confirm' }
  return {
    state: 'found',
    find,
    binds: first.checks[binding(ends)].text,
    confirmed: checks.every(({ passed }) => passed),
  }
}
