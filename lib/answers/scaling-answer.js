// The answer of `millrace plan scale`: finished runs by the work of their workers, a law for each, and the workers that rates need.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { OptionError } from '../base/errors.js'
import { fitOf, rateOf, workersFor } from '../base/scalability.js'
import { readRunFile } from '../result/record.js'

/**
 * @import { Fit } from '../base/scalability.js'
 *
 * @typedef {object} Sweep runs that differ in the number of their workers alone
 * @property {string} label
 * @property {{ workers: number, rate: number, valid: boolean, busy: number | null, p99Us: number | null, cpuUs: number | null }[]} points
 * @property {Fit} fit
 * @property {{ rate: number, workers: number, boxes: number, each: number, isBeyond: boolean }[]} needs isBeyond: more workers on a
 *   box than were measured
 *
 * @typedef {object} ScalingAnswer
 * @property {Sweep[]} sweeps
 * @property {number} boxWorkers
 * @property {string[]} left what was left out, and why
 */

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

/** @param {any} plan */
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
  /** @type {Map<string, Sweep['points']>} */
  const byLabel = new Map()
  const left = /** @type {string[]} */ ([])
  for (const path of folders.flatMap((folder) => runFiles(folder))) {
    const run = /** @type {any} */ (await readRunFile(path))
    if (!run?.jobs) continue
    const { plan, rate, warnings, valid, workers, latency_us: latency, server } = run
    if (warnings.some((/** @type {any} */ { code }) => code === starved) || !(rate.achieved > 0)) {
      left.push(`${path}: its workers had nothing to do for half of the time`)
      continue
    }
    const label = labelOf(plan)
    const points = byLabel.get(label) ?? []
    points.push({
      workers: workers.count,
      rate: rate.achieved,
      valid,
      busy: workers.busy_share,
      p99Us: latency.intended?.p99 ?? null,
      cpuUs: server.cpu_us_per_job,
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
    sweeps,
    boxWorkers:
      boxWorkers ?? Math.max(...sweeps.flatMap(({ points }) => points.map(({ workers }) => workers))),
    left,
  }
}

export { rateOf }
