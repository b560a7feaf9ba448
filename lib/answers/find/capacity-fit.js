// The rate that a share of all seconds of a period would have passed, where the capacity may drift. The logarithm of the
// capacity is a random walk of unknown step on a grid: a forward filter, then paths drawn backward; each path, with its
// slope and share of bad seconds, gives one such rate. With a step of 0 this is the fit without drift. Pure, seeded.
import { logistic } from './knees.js'
import { uniforms } from './random.js'

/**
 * @import { Second } from './knees.js'
 *
 * @typedef {object} Assumptions possible values, and their probabilities before anything is measured
 * @property {readonly number[]} slopes
 * @property {readonly number[]} bads shares of bad seconds
 * @property {readonly number[]} walks standard deviations of a second's step
 * @property {number} walkPrior of each step above 0, where 0 has 1
 * @property {number} meanBad
 *
 * @typedef {{ slope: number, bad: number, walk: number, evidence: number }} Combination
 * @typedef {Awaited<ReturnType<typeof capacityFit>>} CapacityFit
 */

/** @type {Assumptions} */
export const usualAssumptions = {
  slopes: [0.005, 0.012, 0.03, 0.07, 0.16, 0.32],
  bads: [0.001, 0.012, 0.035, 0.07, 0.13],
  walks: [0, 0.0015, 0.004, 0.01, 0.025, 0.06, 0.14],
  walkPrior: 0.15,
  meanBad: 0.04,
}

const levels = 72
const widest = 30
const samples = 160
// Combinations that are less likely than the best one by e to this power are left out.
const negligible = 7

/** Weights of the steps to the next levels; a step finer than the grid is mixed with staying. @param {number} walk @param {number} height */
const movesOf = (walk, height) => {
  if (walk === 0) return [1]
  const reach = Math.max(1, Math.min(widest, Math.ceil((3 * walk) / height)))
  const raw = Array.from({ length: 2 * reach + 1 }, (_, i) =>
    Math.exp(-0.5 * (((i - reach) * height) / Math.max(walk, 0.35 * height)) ** 2),
  )
  const sum = raw.reduce((total, weight) => total + weight, 0)
  const variance = raw.reduce((total, weight, i) => total + (weight / sum) * ((i - reach) * height) ** 2, 0)
  const moving = Math.min(1, (walk * walk) / variance)
  return raw.map((weight, i) => (weight / sum) * moving + (i === reach ? 1 - moving : 0))
}

// Weights have room on both sides, since steps are reflected at the edges of the grid. Four levels at a time take half as long.
/** @param {Float64Array} weights @param {Float64Array} moves symmetric @param {Float64Array} next filled with the weights a second later */
const move = (weights, moves, next) => {
  const reach = (moves.length - 1) / 2
  for (let i = 0; i < reach; i++) {
    weights[widest - 1 - i] = weights[widest + i]
    weights[widest + levels + i] = weights[widest + levels - 1 - i]
  }
  for (let a = widest; a < widest + levels; a += 4) {
    let [s0, s1, s2, s3] = [0, 0, 0, 0]
    for (let i = 0, at = a - reach; i < moves.length; i++, at++) {
      s0 += moves[i] * weights[at]
      s1 += moves[i] * weights[at + 1]
      s2 += moves[i] * weights[at + 2]
      s3 += moves[i] * weights[at + 3]
    }
    next[a] = s0
    next[a + 1] = s1
    next[a + 2] = s2
    next[a + 3] = s3
  }
}

/**
 * One filter for a slope, a share of bad seconds and a step.
 * @param {readonly (Second | null)[]} seconds
 * @param {readonly (Float64Array | null)[]} likely that a second passes, by level, but for bad ones
 * @param {number} bad
 * @param {Float64Array} moves
 * @param {Float64Array[] | null} kept the weights of the levels after each second
 * @returns the logarithm of the evidence
 */
const filtered = (seconds, likely, bad, moves, kept) => {
  let weights = new Float64Array(levels + 2 * widest).fill(1 / levels)
  let other = new Float64Array(weights.length)
  let evidence = 0
  for (let t = 0; t < seconds.length; t++) {
    if (t > 0 && moves.length > 1) {
      move(weights, moves, other)
      ;[weights, other] = [other, weights]
    }
    const second = seconds[t]
    const likelihood = likely[t]
    if (second && likelihood) {
      const { passed } = second
      let sum = 0
      for (let a = 0, at = widest; a < levels; a++, at++) {
        const pass = (1 - bad) * likelihood[a]
        weights[at] *= (passed ? pass : 1 - pass) + 1e-9
        sum += weights[at]
      }
      evidence += Math.log(sum)
      for (let at = widest; at < widest + levels; at++) weights[at] /= sum
    }
    kept?.push(weights.slice(widest, widest + levels))
  }
  return evidence
}

/**
 * Draws a level for each second, backward.
 * @param {readonly Float64Array[]} kept
 * @param {Float64Array} moves
 * @param {() => number} uniform
 */
const drawnPath = (kept, moves, uniform) => {
  const reach = (moves.length - 1) / 2
  const path = new Uint8Array(kept.length)
  let a = 0
  let left = uniform()
  const last = kept[kept.length - 1]
  while (a < levels - 1 && left > last[a]) left -= last[a++]
  for (let t = kept.length - 1; t >= 0; t--) {
    path[t] = a
    if (t === 0 || reach === 0) continue
    const before = kept[t - 1]
    const low = Math.max(0, a - reach)
    const high = Math.min(levels - 1, a + reach)
    let sum = 0
    for (let b = low; b <= high; b++) sum += before[b] * moves[a - b + reach]
    left = uniform() * sum
    let b = low
    for (; b < high; b++) {
      left -= before[b] * moves[a - b + reach]
      if (left <= 0) break
    }
    a = b
  }
  return path
}

/**
 * The highest rate whose share over the path is at least this; NaN: no rate has it.
 * @param {Float64Array} path
 * @param {{ slope: number, bad: number }} model
 * @param {number} share
 * @param {number} low
 * @param {number} high
 */
const rateOf = (path, { slope, bad }, share, low, high) => {
  const passing = (/** @type {number} */ x) => {
    let sum = 0
    for (const level of path) sum += logistic((level - x) / slope)
    return ((1 - bad) * sum) / path.length
  }
  if (passing(low) < share) return Number.NaN
  let [from, to] = [low, high]
  for (let i = 0; i < 12; i++) {
    const middle = (from + to) / 2
    if (passing(middle) >= share) from = middle
    else to = middle
  }
  return from
}

/** @param {readonly number[]} sorted @param {number} probability */
const quantileOf = (sorted, probability) => {
  if (sorted.length === 0) return Number.NaN
  const place = probability * (sorted.length - 1)
  const i = Math.floor(place)
  return sorted[i] + (place - i) * ((sorted[i + 1] ?? sorted[i]) - sorted[i])
}

/**
 * How likely each combination is, without those that are too unlikely.
 * @param {readonly (Second | null)[]} seconds
 * @param {readonly (readonly (Float64Array | null)[])[]} likely by slope
 * @param {readonly Float64Array[]} moves by walk
 * @param {Assumptions} assumed
 */
const combinationsOf = (seconds, likely, moves, { slopes, bads, walks, walkPrior, meanBad }) => {
  const usual = Math.min(1, bads.length - 1)
  /** @param {number} slope @param {number} bad @param {number} walk */
  const evidenceOf = (slope, bad, walk) =>
    filtered(seconds, likely[slope], bads[bad], moves[walk], null) -
    bads[bad] / meanBad +
    (walks[walk] === 0 ? 0 : Math.log(walkPrior))
  const first = slopes.flatMap((_, slope) =>
    walks.map((_, walk) => ({ slope, walk, bad: usual, evidence: evidenceOf(slope, usual, walk) })),
  )
  const best = Math.max(...first.map(({ evidence }) => evidence))
  const all = first
    .filter(({ evidence }) => evidence > best - negligible)
    .flatMap((one) =>
      bads.map((_, bad) =>
        bad === usual ? one : { ...one, bad, evidence: evidenceOf(one.slope, bad, one.walk) },
      ),
    )
  const bestOf = (/** @type {boolean} */ walking) =>
    Math.max(...first.filter(({ walk }) => walks[walk] > 0 === walking).map(({ evidence }) => evidence))
  return { all, walkEvidence: bestOf(true) - bestOf(false) }
}

/**
 * @param {readonly Second[]} measured
 * @param {object} options
 * @param {number} options.from seconds of load
 * @param {number} options.to
 * @param {number} options.centre logarithm of the rate about which the levels lie
 * @param {number} options.span on both sides of it
 * @param {number} options.share
 * @param {number} options.seed
 * @param {Assumptions} [options.assumed]
 */
export const capacityFit = (
  measured,
  { from, to, centre, span, share, seed, assumed = usualAssumptions },
) => {
  const height = (2 * span) / levels
  const uniform = uniforms(seed)
  /** @type {(Second | null)[]} */
  const seconds = Array.from({ length: to - from }, () => null)
  for (const second of measured) if (second.t >= from && second.t < to) seconds[second.t - from] = second
  const centres = Float64Array.from({ length: levels }, (_, a) => centre - span + (a + 0.5) * height)
  const moves = assumed.walks.map((walk) => Float64Array.from(movesOf(walk, height)))
  const likely = assumed.slopes.map((slope) =>
    seconds.map((second) => second && centres.map((level) => logistic((level - second.x) / slope))),
  )
  const { all, walkEvidence } = combinationsOf(seconds, likely, moves, assumed)
  const top = Math.max(...all.map(({ evidence }) => evidence))
  const total = all.reduce((sum, { evidence }) => sum + Math.exp(evidence - top), 0)
  /** @type {number[]} */
  const rates = []
  /** @type {number[]} */
  const halves = []
  /** @type {Float64Array[]} */
  const paths = []
  /** @type {{ slope: number, bad: number }[]} */
  const models = []
  const [low, high] = [centre - span - 0.5, centre + span + 0.3]
  let without = 0
  let carried = uniform()
  for (const { slope, bad, walk, evidence } of all) {
    const wanted = (Math.exp(evidence - top) / total) * samples + carried
    const draws = Math.floor(wanted)
    carried = wanted - draws
    if (draws === 0) continue
    /** @type {Float64Array[]} */
    const kept = []
    filtered(seconds, likely[slope], assumed.bads[bad], moves[walk], kept)
    for (let draw = 0; draw < draws; draw++) {
      const shift = (uniform() - 0.5) * height
      const path = Float64Array.from(drawnPath(kept, moves[walk], uniform), (a) => centres[a] + shift)
      const model = {
        slope: assumed.slopes[slope] * Math.exp((uniform() - 0.5) * 0.8),
        bad: assumed.bads[bad],
      }
      const rate = rateOf(path, model, share, low, high)
      if (Number.isNaN(rate)) {
        without++
        continue
      }
      rates.push(rate)
      halves.push(rateOf(path, model, 0.5, low, high))
      paths.push(path)
      models.push(model)
    }
  }
  rates.sort((a, b) => a - b)
  halves.sort((a, b) => a - b)
  const drawn = rates.length
  const spreads = paths.map((path) => {
    const mean = path.reduce((sum, level) => sum + level, 0) / path.length
    return Math.sqrt(path.reduce((sum, level) => sum + (level - mean) ** 2, 0) / path.length)
  })
  const mean = (/** @type {readonly number[]} */ list) =>
    list.length > 0 ? list.reduce((sum, value) => sum + value, 0) / list.length : 0
  return {
    /** Quantiles of the rate that passes in the share of the seconds; NaN: no rate does. */
    rate: (/** @type {number} */ probability) => quantileOf(rates, probability),
    /** The rate that passes in half of them. */
    half: (/** @type {number} */ probability) => quantileOf(halves, probability),
    /** The share of draws in which no rate passes in the share. */
    none: without / Math.max(1, without + drawn),
    /** How far the capacity moved: the standard deviation of its logarithm over the period. */
    spread: mean(spreads),
    bad: mean(models.map(({ bad }) => bad)),
    /** How much likelier, as a logarithm, the best walk makes the seconds than the best fit without drift. */
    walkEvidence,
    paths,
    models,
  }
}
