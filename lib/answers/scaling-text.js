// The answer of `millrace scale` as text. Pure.

import { alignedTable, blocksText, wrapped } from '../base/layout.js'
import { count, micros, rate as perSecond, plainText, several } from '../base/units.js'
import { rateOf } from './scaling.js'

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

/** @param {Sweep} sweep @param {number} columns */
const tableOf = ({ points, fit }, columns) =>
  alignedTable(
    [
      { title: 'workers', cell: ({ workers }) => count(workers) },
      { title: 'jobs/s', cell: ({ rate }) => perSecond(rate) },
      { title: 'by the law', cell: ({ workers }) => perSecond(rateOf(fit.law, workers)) },
      { title: 'busy', cell: ({ busy }) => (busy === null ? '–' : `${Math.round(busy * 100)} %`) },
      { title: 'latency p99', cell: ({ p99Us }) => micros(p99Us) },
      { title: 'gross server CPU a job', cell: ({ cpuUs }) => micros(cpuUs) },
      { title: '', left: true, cell: ({ valid }) => (valid ? '' : 'not valid') },
    ],
    points,
    columns,
  )

/** @param {ScalingAnswer} answer @param {{ columns?: number }} [layout] */
export const scalingText = ({ sweeps, left }, { columns = 80 } = {}) =>
  blocksText([
    ...sweeps.map((sweep) => [
      ...wrapped(plainText(sweep.label).toUpperCase(), columns),
      ...(sweep.needs.length > 0 ? wrapped(`${needWords(sweep)}.`, columns) : []),
      ...wrapped(`${lawWords(sweep)}.`, columns),
      ...cautionsOf(sweep).flatMap((line) => wrapped(line, columns)),
      ...tableOf(sweep, columns),
    ]),
    left.flatMap((line) => wrapped(`left out: ${plainText(line)}`, columns)),
  ])
