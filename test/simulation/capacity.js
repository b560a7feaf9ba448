// A simulated target of a search: its capacity is known each second, and so is the rate that a share of the seconds passes.
// ln K(t) = ln K0 + warm-up + step + AR(1); a second passes when ln rate < ln K(t) + a logistic error, unless it is bad.
import { normal, seeded } from '../helpers/random.js'

/** @import { SecondVerdict, Step } from '../../lib/answers/find/bracket.js' */

const usual = {
  k0: 180_000,
  /** Of the logistic error. */
  slope: 0.01,
  /** Of the drift: its standard deviation, and the seconds over which it is correlated. */
  sd: 0,
  tau: 1,
  ...{ bad: 0, stepAt: 0, stepTo: 1, queue: false, warm: 0, min: 1000, max: 1_000_000 },
  /** Below this share of the capacity most seconds fail. */
  low: 0,
  /** Seconds that fail after an overload. */
  recovers: 0,
  /** What an overload achieves of the capacity. */
  collapse: 1,
}

/** @type {Record<string, Partial<typeof usual>>} */
export const scenarios = {
  steep: {},
  shallow: { slope: 0.06 },
  'drift 2/10': { sd: 0.02, tau: 10 },
  'drift 10/10': { sd: 0.1, tau: 10 },
  'drift 30/10': { sd: 0.3, tau: 10 },
  'drift 30/30': { sd: 0.3, tau: 30 },
  'drift 20/60': { sd: 0.2, tau: 60 },
  'bad 1': { bad: 0.01 },
  'bad 5': { bad: 0.05 },
  step: { stepAt: 90, stepTo: 2 / 3 },
  low: { low: 0.25 },
  slow: { recovers: 5 },
  queue: { queue: true },
  collapse: { collapse: 0.35, queue: true },
  warm: { warm: 0.3 },
  never: { k0: 5e6, max: 600e3 },
  always: { k0: 100 },
}

const horizon = 700
const logistic = (/** @type {number} */ x) => 1 / (1 + Math.exp(-x))

export const simulatedTarget = (/** @type {string} */ name, /** @type {number} */ seed) => {
  const c = { ...usual, ...scenarios[name] }
  const paths = seeded(seed * 7919 + 17).next
  const noise = seeded(seed * 104_729 + 5).next
  const lnK = new Float64Array(horizon)
  const isBad = new Uint8Array(horizon)
  const phi = Math.exp(-1 / c.tau)
  let drift = c.sd * normal(paths)
  for (let t = 0; t < horizon; t++) {
    const stepped = c.stepAt > 0 && t >= c.stepAt ? Math.log(c.stepTo) : 0
    const cold = c.warm > 0 ? Math.log(1 - c.warm * Math.exp(-t / 5)) : 0
    lnK[t] = Math.log(c.k0) + drift + stepped + cold
    drift = phi * drift + c.sd * Math.sqrt(1 - phi * phi) * normal(paths)
    // A bad second is over before the next begins.
    isBad[t] = isBad[t - 1] === 1 ? 0 : Number(paths() < c.bad)
  }
  const fresh = () => ({ backlog: 0, sick: 0 })
  /** @param {number} rate @param {number} t @param {ReturnType<typeof fresh>} state @param {() => number} next */
  const play = (rate, t, state, next) => {
    const v = next()
    const capacity = lnK[t] + c.slope * Math.log(v / (1 - v + 1e-300))
    const most = 1.05 * Math.exp(capacity)
    const over = Math.log(rate) - capacity
    let passed = over < 0 && isBad[t] === 0
    if (c.low > 0 && rate < c.low * c.k0) passed = passed && next() < 0.3
    if (c.queue) {
      const before = state.backlog
      state.backlog =
        rate > most ? Math.min(1, before + (rate - most) / most) : Math.max(0, before - (1 - rate / most))
      if (before > 0.02 || state.backlog > 0.02) passed = false
    }
    if (c.recovers > 0) {
      if (state.sick > 0) {
        passed = false
        state.sick--
      } else if (over > 0) state.sick = c.recovers
    }
    return { passed, achieved: rate > most ? most * c.collapse : rate, leaves: state.backlog > 0.01 }
  }
  let t = 0
  const state = fresh()
  /** The share of the seconds that a constant rate passes. @param {number} rate @param {number} from @param {number} to */
  const share = (rate, from, to) => {
    if (!c.queue && c.recovers === 0) {
      let sum = 0
      for (let i = from; i < to; i++) if (isBad[i] === 0) sum += logistic((lnK[i] - Math.log(rate)) / c.slope)
      return (sum / (to - from)) * (c.low > 0 && rate < c.low * c.k0 ? 0.3 : 1)
    }
    const again = seeded(seed + 99).next
    let sum = 0
    for (let k = 0; k < 12; k++) {
      const own = fresh()
      for (let i = from; i < to; i++) if (play(rate, i, own, again).passed) sum++
    }
    return sum / ((to - from) * 12)
  }
  return {
    min: c.min,
    max: c.max,
    second: (/** @type {number} */ rate) => play(Math.min(rate, c.max), t++, state, noise),
    share,
    /** The highest rate that passes the share. @param {number} wanted @param {number} from @param {number} to */
    rateAt: (wanted, from, to) => {
      if (share(c.max, from, to) >= wanted) return c.max
      let low = Math.log(c.low > 0 ? c.low * c.k0 * 1.01 : c.min)
      let high = Math.log(c.max)
      if (share(Math.exp(low), from, to) < wanted) return 0
      while (high - low > 0.0005) {
        const middle = (low + high) / 2
        if (share(Math.exp(middle), from, to) >= wanted) low = middle
        else high = middle
      }
      return Math.exp(low)
    },
  }
}

/**
 * Plays a search against a target.
 * @template Answer
 * @param {Generator<Step, Answer, SecondVerdict[]>} machine
 * @param {Pick<ReturnType<typeof simulatedTarget>, 'second'>} target
 */
export const played = (machine, target) => {
  let next = machine.next()
  while (!next.done) {
    const { rate, seconds, tries } = next.value
    const verdicts = /** @type {ReturnType<typeof target.second>[]} */ ([])
    while (verdicts.length < seconds && (!tries || (verdicts.at(-1)?.passed ?? true)))
      verdicts.push(target.second(rate))
    next = machine.next(verdicts)
  }
  return next.value
}
