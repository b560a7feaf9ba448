// The search for the highest rate that is sustained, as a generator without a clock: it yields the next step and receives
// the verdicts of its seconds. Seconds are counted under load. Pure, seeded.
import { bracketOf, passesAtLimit } from './bracket.js'
import { capacityFit } from './capacity-fit.js'
import { kneesAround, onGrid } from './knees.js'
import { medianOf } from './limit.js'
import { shuffle, uniforms } from './random.js'

/**
 * @import { Phase, Step, SecondVerdict } from './bracket.js'
 * @import { CapacityFit } from './capacity-fit.js'
 * @import { Second } from './knees.js'
 *
 * @typedef {object} SearchOptions
 * @property {number} [min] items a second; by default a thousandth of what the target achieves at the limit
 * @property {number} max Infinity: the target is asked at the limit in a closed loop
 * @property {number} [share] of the seconds that meet all objectives
 * @property {number} [seconds] of load
 * @property {number} [seed]
 * @property {number} [warmUp] seconds
 * @property {number} [confirm] seconds
 * @property {number} [warmUpRate]
 *
 * @typedef {'found' | 'at-least' | 'none' | 'changed' | 'unsteady'} State
 *
 * @typedef {object} Warning
 * @property {'not-held' | 'drifts' | 'wide' | 'bad-seconds' | 'recovers-slowly' | 'no-rate' | 'changed'} code
 * @property {number} value
 *
 * @typedef {object} SearchAnswer
 * @property {State} state
 * @property {number} low items a second: the low end of the interval, which was confirmed as far as it was known then
 * @property {number} middle
 * @property {number | null} high
 * @property {{ rate: number, passed: number, seconds: number } | null} confirmed
 * @property {{ before: number, after: number, at: number } | null} change
 * @property {Warning[]} warnings
 * @property {number} from the first second of load that the interval is about
 * @property {number} seconds of load
 * @property {CapacityFit | null} fit
 * @property {readonly Second[]} measured what the fit is made of
 */

// Whether the target changed once: two levels against one, by a Bayes factor over every second of a change.

// Fewer seconds cannot show a change; on both sides at least a few must be measured.
const fewest = 40
const leastASide = 12
const places = 4
const leastEvidence = 3

/** @param {readonly Second[]} measured @param {number} centre @param {readonly number[]} ends after how many seconds the evidence is asked, in order */
const evidences = (measured, centre, ends) => {
  const knees = kneesAround(centre)
  const zero = knees.evidence()
  let added = 0
  return ends.map((end) => {
    while (added < end) knees.add(measured[added++])
    return knees.evidence() - zero
  })
}

/** @param {readonly Second[]} measured @param {number} centre @param {number} from @param {number} to @param {number} by */
const bestCut = (measured, centre, from, to, by) => {
  const n = measured.length
  const cuts = Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, i) => from + i * by)
  const before = evidences(measured, centre, [...cuts, n])
  const ends = cuts.map((k) => n - k).toReversed()
  const after = evidences(measured.toReversed(), centre, ends).toReversed()
  const gains = cuts.map((_, i) => before[i] + after[i] - before[cuts.length])
  const evidence = Math.max(...gains)
  return { evidence, k: cuts[gains.indexOf(evidence)] }
}

/** @param {readonly Second[]} measured @param {number} centre @param {number} share */
const levelOf = (measured, centre, share) => {
  const knees = kneesAround(centre)
  measured.forEach(knees.add)
  return knees.rateAt(share)(0.5)
}

/**
 * The most likely change.
 * @param {readonly Second[]} measured in their order
 * @param {number} centre
 * @param {number} share
 * @returns {{ evidence: number, t: number, before: number, after: number } | null} the logarithm of the Bayes factor, the
 *   second of the change, and the logarithms of the rates; null: nothing speaks for one
 */
const likeliestChange = (measured, centre, share) => {
  const n = measured.length
  if (n < fewest) return null
  const rough = bestCut(measured, centre, leastASide, n - leastASide, places)
  if (rough.evidence <= leastEvidence) return null
  const [from, to] = [
    Math.max(leastASide, rough.k - places + 1),
    Math.min(n - leastASide, rough.k + places - 1),
  ]
  const best = bestCut(measured, centre, from, to, 1)
  return {
    evidence: best.evidence,
    t: measured[best.k].t,
    before: levelOf(measured.slice(0, best.k), centre, share),
    after: levelOf(measured.slice(best.k), centre, share),
  }
}

const limitSeconds = 3
// At 1 % above the capacity, a second that begins with an empty queue passes, and one that begins with a full queue fails.
const trySeconds = 2
// Older seconds say less about where the knee is now.
const memory = 0.985
const forgotten = 0.2
const atLevels = [0.97, 0.93, 0.88, 0.75, 0.5]
const usualShare = 0.9
const anchorBelow = 0.15
const steepest = 0.006
const recoverBelow = 0.3
const recoverSeconds = 6
const recoverTries = 4
const farthest = 0.6
const tail = 0.025
const changeEvidence = 6
const leastChange = 0.08

const logit = (/** @type {number} */ q) => Math.log(q / (1 - q))

/** Shares at which rates are offered, around the one that is searched for. @param {number} share */
const levelsAround = (share) =>
  atLevels.map((level) => 1 / (1 + Math.exp(-(logit(level) - logit(usualShare) + logit(share)))))

/** So many of n may fail that a rate with the share misses in fewer than 3 of 100 confirmations. @param {number} n @param {number} share */
export const rarelySoFew = (n, share) => {
  let term = (1 - share) ** n
  let sum = term
  let k = 0
  while (sum < 0.03 && k < n) {
    k++
    term *= ((n - k + 1) / k) * (share / (1 - share))
    sum += term
  }
  return k - 1
}

/**
 * A fit of the seconds from a moment on.
 * @param {readonly Second[]} all
 * @param {object} about
 * @param {number} about.from
 * @param {number} about.to
 * @param {number} about.centre
 * @param {number} about.share
 * @param {number} about.seed
 */
const fitSince = (all, { from, to, centre, share, seed }) => {
  const measured = all.filter(({ t }) => t >= from)
  const knees = kneesAround(centre)
  measured.forEach(knees.add)
  const half = knees.rateAt(0.5)
  const at = knees.rateAt(share)
  const near = measured.filter(({ x }) => Math.abs(x - half(0.5)) < 1.2)
  /** @param {boolean} those */
  const sorted = (those) =>
    near
      .filter(({ passed }) => passed === those)
      .map(({ x }) => x)
      .sort((a, b) => a - b)
  const [passed, failed] = [sorted(true), sorted(false)]
  const low = Math.min(at(0.02), failed[Math.floor(failed.length * 0.1)] ?? Number.POSITIVE_INFINITY)
  const high = Math.max(half(0.999), passed[Math.floor(passed.length * 0.97)] ?? Number.NEGATIVE_INFINITY)
  const span = Math.max(0.06, (high - low) * 0.7 + 0.03)
  return capacityFit(measured, { from, to, centre: (low + high) / 2, span, share, seed })
}

/** One fit of all seconds, or of those since the target changed. @param {readonly Second[]} measured @param {Parameters<typeof fitSince>[1]} about */
const settledFit = (measured, about) => {
  const { centre, share } = about
  const fit = fitSince(measured, about)
  const change = likeliestChange(measured, centre, share)
  const isChange =
    change !== null &&
    change.evidence > changeEvidence &&
    change.evidence - 4 > fit.walkEvidence &&
    Math.abs(change.after - change.before) > leastChange
  if (!isChange) return { fit, from: about.from, change: null }
  const since = { ...about, from: change.t, centre: change.after }
  return { fit: fitSince(measured, since), from: change.t, change }
}

/**
 * Reasons for caution about an answer.
 * @param {object} about
 * @param {CapacityFit} about.fit
 * @param {ReturnType<typeof likeliestChange>} about.change
 * @param {readonly number[]} about.waits seconds until one passed again
 * @param {SearchAnswer['confirmed']} about.confirmed
 * @param {number} about.share
 * @returns {Warning[]}
 */
const warningsOf = ({ fit, change, waits, confirmed, share }) => {
  const wait = medianOf(waits)
  const wide = Math.exp(fit.half(0.5) - fit.rate(0.5))
  /** @type {[Warning['code'], number, boolean][]} */
  const all = [
    ['changed', change?.t ?? 0, change !== null],
    ['recovers-slowly', wait, wait >= 3],
    ['drifts', fit.spread, fit.spread > 0.04],
    ['wide', wide - 1, wide > 1.1],
    ['bad-seconds', fit.bad, fit.bad > 0.035],
    [
      'not-held',
      confirmed?.passed ?? 0,
      confirmed !== null && confirmed.passed <= rarelySoFew(confirmed.seconds, share),
    ],
    ['no-rate', fit.none, fit.none > tail],
  ]
  return all.filter(([, , is]) => is).map(([code, value]) => ({ code, value }))
}

/** The answer without a fit. @param {State} state @param {number} rate @param {number} seconds @returns {SearchAnswer} */
const without = (state, rate, seconds) => ({
  state,
  low: rate,
  middle: rate,
  high: null,
  confirmed: null,
  change: null,
  warnings: [],
  from: 0,
  seconds,
  fit: null,
  measured: [],
})

// Beyond this the ends of an interval mean nothing.
const tooWide = 1.5
const nearTop = 0.05

/** @param {SearchAnswer} answer @returns {State} */
const stateOf = ({ change, fit, low, high, warnings }) => {
  if (fit && fit.none > 0.5) return 'unsteady'
  if (change) return 'changed'
  const isUnheld = warnings.some(({ code }) => code === 'not-held')
  return isUnheld || !Number.isFinite(low) || Number(high) / low > tooWide ? 'unsteady' : 'found'
}

/** @param {SearchOptions} options @returns {Generator<Step, SearchAnswer, SecondVerdict[]>} */
export function* search({
  min: leastRate,
  max,
  share = usualShare,
  seconds = 180,
  seed = 1,
  warmUp = 10,
  confirm = 30,
  warmUpRate = Math.min(max, (leastRate ?? 1) * 20),
}) {
  /** The seconds so far. A pass that leaves a queue by which the next second fails does not count. @type {(Second & { rate: number, counts: boolean })[]} */
  const log = []
  /** @type {[number, number] | null} */
  let between = null
  /** @param {number} rate @param {number} n @param {Phase} phase @returns {Generator<Step, SecondVerdict[], SecondVerdict[]>} */
  function* play(rate, n, phase) {
    const tries = phase === 'bracket' || phase === 'measure'
    const verdicts = yield { rate, seconds: n, phase, tries, between }
    const isWhole = verdicts.length === n && verdicts.every(({ passed }) => passed)
    const counts = !tries || isWhole || !verdicts.some(({ leaves }) => leaves)
    for (const { passed } of verdicts)
      log.push({ t: log.length, x: Math.log(rate), rate, passed, counts: counts || !passed })
    return verdicts
  }
  /** @param {number} x @param {Phase} phase */
  function* one(x, phase) {
    return (yield* play(Math.exp(x), 1, phase))[0].passed
  }
  /** @param {number} x @param {Phase} phase */
  function* tried(x, phase) {
    return (yield* play(Math.exp(x), trySeconds, phase)).every(({ passed }) => passed)
  }
  const isTime = () => log.length <= seconds - confirm - trySeconds
  const lastPassed = () => log[log.length - 1].passed

  yield* play(warmUpRate, warmUp, 'warm-up')
  const atLimit = yield* play(max, limitSeconds, 'limit')
  const highest = yield* passesAtLimit({ max, first: atLimit, play })
  if (highest) {
    const confirmed = { rate: max, passed: highest.length, seconds: highest.length }
    return { ...without('at-least', max, log.length), confirmed }
  }
  const hint = medianOf(atLimit.map(({ achieved }) => achieved))
  const min = leastRate ?? Math.max(1, hint / 1000)
  // Rates above this come from a mistake, not from a target.
  const top = Number.isFinite(max) ? max : Math.max(min, hint) * 30
  const bracket = yield* bracketOf({
    min,
    max: top,
    hint,
    one,
    tried,
    lastPassed,
    isTime,
    onBetween: (rates) => {
      between = rates
    },
  })
  if (bracket.state === 'unsteady' && log.every(({ passed }) => !passed))
    return without('none', Math.min(...log.slice(warmUp).map(({ rate }) => rate)), log.length)
  if (bracket.state !== 'between') return without(bracket.state, bracket.rate, log.length)
  const centre = bracket.low
  const [least, most] = [Math.log(min), Math.log(top)]
  const within = (/** @type {number} */ x) => Math.max(least, Math.min(most, x))
  // The next rate of the grid may be above the highest allowed.
  const offered = (/** @type {number} */ x) => within(onGrid(within(x)))

  // Only a second after one that passed counts for its own rate.
  const isClean = (/** @type {typeof log[number]} */ { t, rate, counts }) =>
    counts && t >= warmUp && rate < top && t > 0 && log[t - 1].passed
  /** @type {Second[]} */
  const measured = log.filter(isClean).map(({ t, x, passed }) => ({ t, x, passed }))
  const knees = kneesAround(centre)
  const learn = (/** @type {Second} */ second) => {
    knees.fade(memory)
    knees.add(second)
  }
  measured.forEach(learn)
  /** @type {number[]} */
  const waits = []
  const note = (/** @type {Second} */ { t, x, passed }) => {
    const second = { t, x, passed }
    measured.push(second)
    learn(second)
  }

  /**
   * Plays until a second passes again; if seconds keep failing, the level is lower.
   * @param {number} from
   * @returns {Generator<Step, boolean, SecondVerdict[]>} whether the level is lower: rates drawn before mean little then
   */
  function* recover(from) {
    let waited = 0
    let passed = false
    let isLower = false
    for (let tries = 0; tries < recoverTries && !passed; tries++) {
      const x = offered(from - tries * 0.25)
      for (let k = 0; k < recoverSeconds && !passed && isTime(); k++) {
        passed = yield* one(x, 'recover')
        waited++
      }
      if (passed || !isTime()) continue
      // The target has changed: earlier seconds say little about it.
      isLower = true
      knees.fade(forgotten)
      for (const second of log.slice(-2)) note(second)
    }
    waits.push(waited)
    return isLower
  }

  const uniform = uniforms(seed)
  const levels = levelsAround(share)
  for (let round = 0; isTime(); round++) {
    const at = knees.rateAt(share)
    const middle = at(0.5)
    between = [Math.exp(within(at(tail))), Math.exp(within(at(1 - tail)))]
    const rates = levels.map((level) => {
      const { knee, slope } = knees.draw(uniform())
      const x = knee - Math.max(slope, steepest) * logit(level)
      return Math.max(middle - farthest, Math.min(middle + farthest, x))
    })
    if (round % 2 === 0) rates.push(at(0.2) - anchorBelow)
    for (const rate of shuffle(rates, uniform)) {
      if (!isTime()) break
      const x = offered(rate)
      const from = log.length
      const passed = yield* tried(x, 'measure')
      for (const second of log.slice(from)) if (second.counts) note(second)
      if (!passed && (yield* recover(at(0.2) - recoverBelow))) break
    }
  }

  const settled = () => settledFit(measured, { from: warmUp, to: log.length, centre, share, seed })
  let { fit, from, change } = settled()
  const low = fit.rate(tail)
  /** @type {SearchAnswer['confirmed']} */
  let confirmed = null
  if (confirm > 0 && Number.isFinite(low)) {
    const x = offered(low)
    between = [Math.exp(within(low)), Math.exp(within(fit.rate(1 - tail)))]
    const verdicts = yield* play(Math.exp(x), seconds - log.length, 'confirm')
    verdicts.forEach(({ passed }, i) => {
      const t = log.length - verdicts.length + i
      if (log[t - 1].passed || i === 0) measured.push({ t, x, passed })
    })
    const passed = verdicts.filter((verdict) => verdict.passed).length
    confirmed = { rate: Math.exp(x), passed, seconds: verdicts.length }
    ;({ fit, from, change } = settled())
  }
  // A single second failed at the highest rate, and no limit was found below it.
  if (fit.rate(0.5) >= most && fit.rate(tail) > most - nearTop)
    return {
      ...without('at-least', Math.min(max, Math.exp(fit.rate(tail))), log.length),
      confirmed,
      measured,
    }
  const answer = {
    ...without('found', Math.exp(fit.rate(tail)), log.length),
    middle: Math.exp(fit.rate(0.5)),
    high: Math.exp(fit.rate(1 - tail)),
    confirmed,
    change: change && { before: Math.exp(change.before), after: Math.exp(fit.rate(0.5)), at: change.t },
    from,
    fit,
    measured,
    warnings: warningsOf({ fit, change, waits, confirmed, share }),
  }
  return { ...answer, state: stateOf(answer) }
}
