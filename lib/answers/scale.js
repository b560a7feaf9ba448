// The answer of `millrace plan scale`: finished runs by the work of their workers, a law for each, the workers that rates need, and
// its report.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { OptionError } from '../base/errors.js'
import { fitOf, rateOf, workersFor } from '../base/scalability.js'
import * as S from '../base/shape.js'
import { exactly } from '../base/typed.js'
import { count, micros, rate as perSecond, plainText, several } from '../base/units.js'
import { answer, answerSchema, figure, table, words } from '../report/kit.js'
import { readRunFile } from '../result/record.js'

/**
 * @import { Shaped } from '../base/shape-types.js'
 * @import { RunDocument, WorkRun } from '../result/document.js'
 */

const interval = exactly({ type: 'array', items: S.number, minItems: 2, maxItems: 2 })
const point = S.object({
  ...S.each(['workers', 'rate'], S.number),
  valid: S.flag,
  ...S.each(['busy', 'p99Us', 'cpuUs'], S.figure),
})
const fit = S.object({
  law: S.object(S.each(['lambda', 'sigma', 'kappa'], S.number)),
  intervals: S.said(
    '95 of 100 bootstraps',
    S.object({ ...S.each(['lambda', 'sigma', 'kappa'], interval), knee: S.orNull(interval) }),
  ),
  r2: S.said('the part of the variance of the rates that the law explains', S.number),
  worst: S.said('the largest relative error of the law', S.number),
  name: S.oneOf('usl', 'amdahl', 'linear'),
  knee: S.said('workers beyond which the rate falls; null: it does not within the law', S.figure),
  limit: S.said('the highest rate that the law allows; null: there is none', S.figure),
})
const need = S.object({
  ...S.each(['rate', 'workers', 'boxes', 'each'], S.number),
  isBeyond: S.said('more workers on a box than were measured', S.flag),
})
const sweep = S.object({ label: S.text, points: S.list(point), fit, needs: S.list(need) })

export const schema = answerSchema('scale', {
  sweeps: S.said('runs that differ in the number of their workers alone', S.list(sweep)),
  boxWorkers: S.number,
  left: S.said('what was left out, and why', S.list(S.text)),
})
/** @typedef {Shaped<typeof sweep>} Sweep */
/** @typedef {Shaped<typeof schema>} ScalingAnswer */

// With this reason a run does not show how many workers are enough.
const starved = 'starved'
const fewest = 3

/** Files run.json in a folder, and in those within it. @param {string} folder @param {number} [depth] @returns {string[]} */
const runFiles = (folder, depth = 6) => {
  if (!existsSync(folder)) throw new OptionError(`${folder}: there is no such folder`)
  if (statSync(folder).isFile()) return [folder]
  const names = readdirSync(folder).sort()
  if (names.includes('run.json')) return [join(folder, 'run.json')]
  if (depth === 0) return []
  return names.flatMap((name) =>
    statSync(join(folder, name)).isDirectory() ? runFiles(join(folder, name), depth - 1) : [],
  )
}

/** @param {RunDocument | null} run @returns {run is WorkRun} */
const isOfWorkers = (run) => run !== null && 'jobs' in run

/** @param {WorkRun['plan']} plan */
const labelOf = ({ strategy, work: { take, kind, us, confirm, processes, workers } }) => {
  const does = us === 0 ? 'no work' : `${kind} ${us >= 1000 ? `${us / 1000} ms` : `${us} µs`}`
  const each =
    kind === 'cpu' && us > 0 && processes > 1 && processes < workers ? `, ${processes} processes` : ''
  return `${strategy}${confirm ? ' confirmed' : ''}, take ${take}, ${does}${each}`
}

/**
 * @param {readonly string[]} folders
 * @param {{ rates: readonly number[], boxWorkers: number | null }} asked boxWorkers: null for as many as were measured
 * @returns {Promise<ScalingAnswer>}
 */
export const scalingAnswer = async (folders, { rates, boxWorkers }) => {
  /** @type {Map<string, Shaped<typeof point>[]>} */
  const byLabel = new Map()
  /** @type {string[]} */
  const left = []
  for (const path of folders.flatMap((folder) => runFiles(folder))) {
    const run = await readRunFile(path)
    if (!isOfWorkers(run)) continue
    const { plan, rate, warnings, valid, workers, latency_us: latency, server } = run
    if (warnings.some(({ code }) => code === starved) || !rate.achieved) {
      left.push(`${path}: its workers had nothing to do for half of the time`)
      continue
    }
    const label = labelOf(plan)
    const points = byLabel.get(label) ?? []
    points.push({
      workers: workers.count,
      rate: rate.achieved,
      valid,
      busy: workers.busy_share ?? null,
      p99Us: latency.intended?.p99 ?? null,
      cpuUs: server?.cpu_us_per_job ?? null,
    })
    byLabel.set(label, points)
  }
  const sweeps = [...byLabel].flatMap(([label, points]) => {
    if (new Set(points.map(({ workers }) => workers)).size < fewest) {
      left.push(`${label}: a law needs runs with ${fewest} different numbers of workers`)
      return []
    }
    points.sort((a, b) => a.workers - b.workers)
    const fit = fitOf(points)
    const measured = points[points.length - 1].workers
    const most = boxWorkers ?? measured
    const needs = rates.map((rate) => ({
      rate,
      ...workersFor(fit.law, rate, most),
      isBeyond: workersFor(fit.law, rate, most).each > measured,
    }))
    return [{ label, points, fit, needs }]
  })
  if (sweeps.length === 0)
    throw new OptionError(
      `no sweep of workers in ${folders.join(', ')}${left.length > 0 ? `: ${left[0]}` : ''}; run the consumer with several --workers, or millrace experiment run queues`,
    )
  return {
    schema: 1,
    kind: 'scale',
    sweeps,
    boxWorkers:
      boxWorkers ?? Math.max(...sweeps.flatMap(({ points }) => points.map(({ workers }) => workers))),
    left,
  }
}

const three = (/** @type {number} */ n) => String(+n.toPrecision(3))
const between = (/** @type {readonly number[] | null} */ interval) =>
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
  ...{ kind: 'scale', schema },
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
