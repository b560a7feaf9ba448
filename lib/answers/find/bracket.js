// Where to search: from what the target achieves at its limit, down to a rate that passes and up to one that fails.

/**
 * What trials show about their rate, by RFC 9971: a lower bound passes even if all missing time were bad, an upper bound
 * fails even if it were good. Trials shorter than the goal's count in part. Pure.
 * @typedef {{ seconds: number, passed: boolean }} Trial
 * @typedef {object} Goal
 * @property {number} seconds of trials in all
 * @property {number} exceed the share of them that may fail
 * @property {number} [trialSeconds] of a full-length trial
 */

/** @param {readonly Trial[]} trials @param {Goal} goal @returns {'lower' | 'upper' | 'undecided'} */
export const boundOf = (trials, { seconds, exceed, trialSeconds = 1 }) => {
  const { bad, all } = exceeding(trials, { exceed, trialSeconds })
  const whole = Math.max(all, seconds)
  if (bad > whole * exceed) return 'upper'
  return bad + whole - all <= whole * exceed ? 'lower' : 'undecided'
}

/**
 * Seconds of trials, and of failed ones: short failures count only beyond those that short passes make up for.
 * @param {readonly Trial[]} trials
 * @param {{ exceed: number, trialSeconds: number }} goal
 */
export const exceeding = (trials, { exceed, trialSeconds }) => {
  /** @param {boolean} full @param {boolean} passed */
  const sum = (full, passed) =>
    trials
      .filter((trial) => trial.seconds >= trialSeconds === full && trial.passed === passed)
      .reduce((total, trial) => total + trial.seconds, 0)
  const short = Math.max(0, sum(false, false) - (sum(false, true) * exceed) / (1 - exceed))
  const bad = sum(true, false) + short
  return { bad, all: bad + sum(true, true) }
}

/**
 * @typedef {object} SecondVerdict on a second
 * @property {boolean} passed it met all objectives
 * @property {number} achieved items a second
 * @property {boolean} [leaves] work to the next second
 *
 * @typedef {'warm-up' | 'limit' | 'bracket' | 'measure' | 'recover' | 'confirm'} Phase
 *
 * @typedef {object} Step what is played next
 * @property {number} rate items a second; Infinity: as fast as the target accepts them
 * @property {number} seconds at this rate before the next decision
 * @property {Phase} phase
 * @property {boolean} [tries] it ends with the first second that fails
 * @property {[number, number] | null} between rates that bound the answer so far
 *
 * @typedef {(x: number, phase: Phase) => Generator<Step, boolean, SecondVerdict[]>} Played at exp(x), and whether it passed
 *
 * @typedef {{ state: 'none' | 'unsteady', rate: number } | { state: 'between', low: number, high: number }} Bracket low and
 *   high are logarithms
 */

const aboveHint = 1.1
const firstStep = 0.25
const widening = 1.6
const near = 0.02
const bisections = 6
// A limit that passes this often bounds the share of bad seconds at 10 %.
const limitSeconds = 29
const lowestSeconds = 12

/**
 * @param {object} needs
 * @param {number} needs.min
 * @param {number} needs.max
 * @param {number} needs.hint items a second that the target achieved at the limit
 * @param {Played} needs.one a second
 * @param {Played} needs.tried seconds, each of which begins with the queue of the one before
 * @param {() => boolean} needs.lastPassed
 * @param {() => boolean} needs.isTime
 * @param {(between: [number, number]) => void} needs.onBetween
 * @returns {Generator<Step, Bracket, SecondVerdict[]>}
 */
export function* bracketOf({ min, max, hint, one, tried, lastPassed, isTime, onBetween }) {
  const [least, most] = [Math.log(min), Math.log(max)]
  /** @param {number} x */
  function* recover(x) {
    for (let i = 0; i < 8 && isTime(); i++) if (yield* one(Math.max(least, x), 'recover')) return
  }
  /** Whether a rate passes: one pass, or two of three. @param {number} x */
  function* passes(x) {
    if (yield* tried(x, 'bracket')) return true
    return (yield* tried(x, 'bracket')) && (yield* tried(x, 'bracket'))
  }
  /** What a majority of seconds at a rate shows. @param {number} x @returns {Generator<Step, ReturnType<typeof boundOf>, SecondVerdict[]>} */
  function* boundAt(x) {
    /** @type {Trial[]} */
    const trials = []
    const goal = { seconds: lowestSeconds, exceed: 0.5 }
    while (boundOf(trials, goal) === 'undecided')
      trials.push({ seconds: 1, passed: yield* one(x, 'bracket') })
    return boundOf(trials, goal)
  }
  let high = Math.min(most, Math.log(Math.max(hint, min) * aboveHint))
  let step = firstStep
  let low = Math.max(least, high - step)
  yield* recover(low - 0.5)
  while (!(yield* passes(low))) {
    if (!isTime()) return { state: 'unsteady', rate: Number.NaN }
    if (low <= least + 1e-9) {
      if ((yield* boundAt(least)) === 'upper') return { state: 'none', rate: min }
      break
    }
    yield* recover(low - 1)
    high = low
    step *= widening
    low = Math.max(least, low - step)
    onBetween([Math.exp(low), Math.exp(high)])
  }
  // The rate achieved in overload may be far too low.
  if (step === firstStep)
    while (isTime() && high < most - 1e-9 && (yield* passes(high))) {
      low = high
      step *= widening
      high = Math.min(most, high + step)
      onBetween([Math.exp(low), Math.exp(high)])
    }
  if (!lastPassed()) yield* recover(low - 0.5)
  for (let i = 0; i < bisections && high - low > near && isTime(); i++) {
    const middle = (low + high) / 2
    if (yield* passes(middle)) low = middle
    else {
      high = middle
      yield* recover(low - 0.15)
    }
    onBetween([Math.exp(low), Math.exp(high)])
  }
  return { state: 'between', low, high }
}

/**
 * Tries the highest rate for as long as a confirmation, if all of the first seconds pass: if nearly all do, the answer is
 * at least this rate.
 * @param {object} needs
 * @param {number} needs.max
 * @param {readonly SecondVerdict[]} needs.first
 * @param {(rate: number, seconds: number, phase: Phase) => Generator<Step, SecondVerdict[], SecondVerdict[]>} needs.play
 * @returns {Generator<Step, SecondVerdict[] | null, SecondVerdict[]>} null: it does not
 */
export function* passesAtLimit({ max, first, play }) {
  if (!Number.isFinite(max) || !first.every(({ passed }) => passed)) return null
  const verdicts = yield* play(max, limitSeconds, 'confirm')
  return verdicts.every(({ passed }) => passed) ? verdicts : null
}
