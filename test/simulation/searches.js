// Many searches of one simulated target, beside its truth.
import { kneesAround } from '../../lib/answers/find/knees.js'
import { search } from '../../lib/answers/find/search.js'
import { ratioOfSearches } from '../../lib/compare/find-ratio.js'
import { played, simulatedTarget } from './capacity.js'

/** @import { Second } from '../../lib/answers/find/knees.js' */

const share = 0.9

const median = (/** @type {readonly number[]} */ list) =>
  list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]

/** What independent seconds would say of the rate: biased where the capacity drifts. @param {readonly Second[]} measured @param {number} centre */
const staticRate = (measured, centre) => {
  const knees = kneesAround(Math.log(centre))
  measured.forEach(knees.add)
  return Math.exp(knees.rateAt(share)(0.5))
}

/** @param {string} name of a scenario @param {number} n seeds 1 to n */
export const searches = (name, n) => {
  const [states, warnings] = [{}, {}].map((counts) => /** @type {Record<string, number>} */ (counts))
  const answers = Array.from({ length: n }, (_, i) => {
    const target = simulatedTarget(name, i + 1)
    const answer = played(search({ min: target.min, max: target.max, seed: i + 1 }), target)
    states[answer.state] = (states[answer.state] ?? 0) + 1
    for (const { code } of answer.warnings) warnings[code] = (warnings[code] ?? 0) + 1
    const truth = answer.fit ? target.rateAt(share, answer.from, answer.seconds) : Number.NaN
    return { ...answer, truth, lowPasses: target.share(answer.low, answer.from, answer.seconds) }
  })
  const fitted = answers.filter(({ fit }) => fit !== null)
  return {
    states,
    warnings,
    rates: answers.map(({ low }) => low),
    changes: answers.flatMap(({ change }) => (change ? [change] : [])),
    fitted: fitted.length,
    seconds: median(answers.map(({ seconds }) => seconds)),
    /** In how many the truth lies in the interval; half a thousandth is the grid of the truth. */
    covered: fitted.filter(({ truth, low, high }) => truth >= low * 0.9995 && truth <= Number(high) * 1.0005)
      .length,
    width: median(fitted.map(({ low, middle, high }) => (Number(high) - low) / middle)),
    bias: median(fitted.map(({ middle, truth }) => middle / truth - 1)),
    staticBias: () =>
      median(fitted.map(({ measured, middle, truth }) => staticRate(measured, middle) / truth - 1)),
    lowFails: fitted.filter(({ lowPasses }) => lowPasses < share - 1e-3).length,
  }
}

const rounds = 3
const seconds = 60
const times = 2

/** A search of a minute, as a comparison has it, of a target that sustains so many times the rate. @param {string} name @param {number} seed @param {number} factor */
const compared = (name, seed, factor) => {
  const target = simulatedTarget(name, seed)
  const second = (/** @type {number} */ rate) => {
    const verdict = target.second(rate / factor)
    return { ...verdict, achieved: verdict.achieved * factor }
  }
  const terms = { min: target.min * factor, max: target.max * factor, seed, seconds, warmUp: 5, confirm: 10 }
  const { state, low, middle, high } = played(search(terms), { second })
  const known = (/** @type {number | null} */ rate) => (Number.isFinite(rate) ? rate : null)
  const find = { low: known(low), middle: known(middle), high: known(high) }
  return { state, find, sentence: '', folder: '' }
}

/** Comparisons of a target with one that sustains twice its rate. @param {string} name of a scenario @param {number} n */
export const comparisons = (name, n) => {
  const roundOf = (/** @type {number} */ c, /** @type {number} */ r) => ({
    ...{ round: r + 1, first: /** @type {const} */ ('a') },
    a: compared(name, c * 100 + r * 2 + 1, 1),
    b: compared(name, c * 100 + r * 2 + 2, times),
  })
  const all = Array.from({ length: n }, (_, c) =>
    ratioOfSearches(Array.from({ length: rounds }, (_, r) => roundOf(c, r))),
  )
  const told = all.filter(({ low }) => low !== null)
  return {
    told: told.length,
    covered: told.filter(({ low, high }) => Number(low) <= times && Number(high) >= times).length,
    unsteady: all.reduce((sum, { unsteady }) => sum + unsteady, 0),
    searches: all.reduce((sum, one) => sum + one.rounds * 2, 0),
    width: median(told.map(({ low, high, ratio }) => (Number(high) - Number(low)) / Number(ratio))),
  }
}
