// The report of `millrace plan scale`.

import { rateOf } from '../base/scalability.js'
import { count, micros, rate as perSecond, plainText, several } from '../base/units.js'
import { answer, figure, table, words } from '../report/kit.js'

/** @import { ScalingAnswer, Sweep } from './scaling-answer.js' */

const three = (/** @type {number} */ n) => String(+n.toPrecision(3))
const between = (/** @type {[number, number] | null} */ interval) =>
  interval === null ? '' : ` (${three(interval[0])} to ${three(interval[1])})`

/** @param {Sweep} sweep */
const lawWords = ({ fit: { law, intervals, r2, worst, name, knee, limit } }) => {
  const named = {
    usl: 'universal scalability law',
    amdahl: "Amdahl's law",
    linear: 'in proportion to the workers',
  }[name]
  return [
    `${named}: one worker ${three(law.lambda)} jobs/s${between(intervals.lambda)}`,
    name !== 'linear' && `serial share ${three(law.sigma)}${between(intervals.sigma)}`,
    name === 'usl' && `cost of a pair ${three(law.kappa)}${between(intervals.kappa)}`,
    `R² ${r2.toFixed(3)}, worst point ${three(worst * 100)} % off`,
    knee !== null
      ? `knee at ${three(knee)} workers${between(intervals.knee)}, ${perSecond(limit)} jobs/s`
      : limit !== null
        ? `no more than ${perSecond(limit)} jobs/s by the law, however many workers`
        : 'no limit within what was measured',
  ]
    .filter(Boolean)
    .join('; ')
}

/** 'at 5,000/s you need 9 workers of this kind; at 30,000/s 54 on 7 such boxes' @param {Sweep} sweep */
export const needWords = ({ needs }) =>
  needs
    .map(({ rate, workers, boxes, isBeyond }, i) => {
      const what = i === 0 ? `you need ${several(workers, 'worker')} of this kind` : count(workers)
      const where = boxes > 1 ? ` on ${count(boxes)} such boxes` : ''
      return `at ${perSecond(rate)}/s ${what}${where}${isBeyond ? ' (beyond what was measured)' : ''}`
    })
    .join('; ')

// Below this R² a law explains too little.
const leastR2 = 0.9

/** Why not to plan with it. @param {Sweep} sweep @returns {string[]} */
const cautionsOf = ({ points, fit: { r2 } }) => {
  const odd = points.filter(({ valid }) => !valid).length
  return [
    ...(r2 < leastR2
      ? [`The law explains less than ${leastR2 * 100} % of what was measured: do not plan by it.`]
      : []),
    ...(odd > 0
      ? [`${odd} of ${points.length} runs are not valid: see their reasons, and repeat them.`]
      : []),
  ]
}

export const scaling = answer({
  kind: 'scale',
  tables: (/** @type {ScalingAnswer} */ { sweeps }) =>
    sweeps.map((sweep) =>
      table(
        plainText(sweep.label),
        sweep.points,
        [
          figure('workers', ({ workers }) => workers, count),
          figure('jobs/s', ({ rate }) => rate, perSecond),
          figure('by the law', ({ workers }) => rateOf(sweep.fit.law, workers), perSecond),
          figure(
            'busy',
            ({ busy }) => busy,
            (busy) => (busy === null ? '–' : `${Math.round(busy * 100)} %`),
          ),
          figure('latency p99', ({ p99Us }) => p99Us, micros),
          figure('server CPU per job, idle included', ({ cpuUs }) => cpuUs, micros),
          words('', ({ valid }) => (valid ? '' : 'not valid')),
        ],
        {
          notes: [
            ...(sweep.needs.length > 0 ? [`${needWords(sweep)}.`] : []),
            `${lawWords(sweep)}.`,
            ...cautionsOf(sweep),
          ],
        },
      ),
    ),
  prose: ({ left }) => [left.map((line) => `left out: ${line}`)],
})
