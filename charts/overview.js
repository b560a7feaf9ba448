import { chart, legendOf } from '../lib/chart/parts.js'
import { cpu } from './cpu.js'
import { fetches } from './fetches.js'
import { itemsRead } from './items-read.js'
import { latency } from './latency.js'
import { rate } from './rate.js'

/**
 * @import { Chart, Option } from '../lib/chart/parts.js'
 * @import { RunRecord } from '../lib/result/record.js'
 */

// The height of a panel; between two of them the name of the lower axis and the labels of events have room.
const panelPx = 140
const gapPx = 46
const topPx = 46
const leftPx = 72

/** What the panels show, from the top. */
export const PANELS = Object.freeze([cpu, rate, itemsRead, latency, fetches])

/** @param {Option} option @param {number} at @param {boolean} isLast */
const panelOf = ({ xAxis, yAxis, series }, at, isLast) => {
  const place = { xAxisIndex: at, yAxisIndex: at }
  const marks = series.at(-1)
  // Events and phases have their names in the first panel, and their lines and areas in all.
  const quiet = (/** @type {Option} */ mark) => ({ ...mark, label: { ...mark.label, show: false } })
  const ownMarks =
    at === 0 ? marks : { ...marks, markLine: quiet(marks.markLine), markArea: quiet(marks.markArea) }
  return {
    xAxis: {
      ...xAxis,
      gridIndex: at,
      ...(!isLast && { name: '', axisLabel: { ...xAxis.axisLabel, show: false } }),
    },
    yAxis: { ...yAxis, gridIndex: at, nameGap: at === 0 ? 24 : 12, splitNumber: 4 },
    series: [
      ...series.slice(0, -1).map((/** @type {Option} */ one) => ({ ...one, ...place })),
      { ...ownMarks, ...place, id: at === 0 ? 'marks' : `quiet-${at}` },
    ],
  }
}

/**
 * What a node did, how much was done and how long it took, at the same moments: one axis of time for all.
 * @type {Chart<RunRecord>}
 */
export const overview = {
  name: 'overview',
  title: 'CPU, rate and latency over time',
  note: 'CPU is that of the main thread (engine): masters solid, replicas dashed in the colour of their shard. Latency is from the due time to the answer.',
  option: (record) => {
    const found = PANELS.flatMap(({ option }) => option(record) ?? [])
    if (found.length < 2) return null
    const panels = found.map((option, at) => panelOf(option, at, at === found.length - 1))
    const series = panels.flatMap((panel) => panel.series)
    const tops = found.map((_, at) => topPx + at * (panelPx + gapPx))
    return chart({
      panels: found.map(({ yAxis, legend }) => ({ title: yAxis.name, names: legend.data })),
      height: (tops.at(-1) ?? 0) + panelPx + 52,
      legend: legendOf(series.filter(({ name }) => name)),
      axisPointer: { link: [{ xAxisIndex: 'all' }] },
      // Widths of labels must not move the axes apart.
      grid: tops.map((top) => ({ left: leftPx, right: 18, top, height: panelPx, outerBoundsMode: 'none' })),
      xAxis: panels.map(({ xAxis }) => xAxis),
      yAxis: panels.map(({ yAxis }) => yAxis),
      series,
    })
  },
}
