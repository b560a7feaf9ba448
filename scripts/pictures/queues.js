import { backlog, backlogSeries } from '../../charts/backlog.js'
import { scalingChart } from '../../charts/scaling.js'
import { fitOf } from '../../lib/base/scalability.js'
import { chart, legendOf, lyingAxis, uprightAxis } from '../../lib/chart/parts.js'

/**
 * @import { ExperimentDocument } from '../../lib/result/experiment-document.js'
 *
 * @typedef {{ title: string, height: number, option: Record<string, any> }} Picture
 * @typedef {{ seconds: { at_ms: number, backlog?: number | null, between?: number | null }[] }} Run
 */

const shape = /^(\d+) workers?, (.+)$/
// Work that computes is limited by the number of cores, not by waiting.
const isOfCores = (/** @type {string} */ label) => /\bcpu\b/.test(label)
// A law has up to three parameters.
const fewest = 4

/** The rows that differ in the number of workers alone, with the law fitted to those that wait. @param {ExperimentDocument} document */
export const sweepsOf = ({ rows }) => {
  /** @type {Map<string, { workers: number, rate: number, valid: boolean, busy: null, p99Us: null, cpuUs: null }[]>} */
  const byLabel = new Map()
  for (const { label, figures } of rows) {
    const found = shape.exec(label)
    const rate = figures['rate.achieved']?.median ?? null
    if (found === null || rate === null) continue
    const name = found[2].replace(' / ', ', ')
    const points = byLabel.get(name) ?? []
    points.push({ workers: Number(found[1]), rate, valid: true, busy: null, p99Us: null, cpuUs: null })
    byLabel.set(name, points)
  }
  return [...byLabel].flatMap(([label, points]) =>
    points.length < fewest ? [] : [{ label, points, fit: isOfCores(label) ? null : fitOf(points) }],
  )
}

/** Jobs a second by the number of workers, with the laws; null: too few rows have a rate. @param {ExperimentDocument} document @returns {Picture | null} */
export const queueRates = (document) => {
  const sweeps = sweepsOf(document)
  if (sweeps.length === 0) return null
  const option = /** @type {Record<string, any>} */ (scalingChart.option({ sweeps }))
  return {
    title: 'Jobs done by the number of workers',
    height: 380,
    option: { ...option, tooltip: { show: false } },
  }
}

/** Jobs that wait in each of the queues. @param {Run} run @returns {Picture} */
export const queueBacklog = ({ seconds }) => {
  const series = backlogSeries(/** @type {any} */ (seconds))
  return {
    title: backlog.title,
    height: 300,
    option: chart({
      tooltip: { show: false },
      legend: legendOf(series),
      xAxis: lyingAxis('seconds', 'count', { type: 'value', min: 0, minInterval: 1 }),
      yAxis: uprightAxis('jobs', 'count', { min: 0 }),
      series,
    }),
  }
}
