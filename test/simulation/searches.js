// Many searches of one simulated target, beside its truth.
import { kneesAround } from '../../lib/answers/find/knees.js'
import { search } from '../../lib/answers/find/search.js'
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
