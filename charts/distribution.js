import { line } from '../lib/chart/lines.js'
import { chart, latencyAxis, legendOf, lyingAxis } from '../lib/chart/parts.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { RunRecord } from '../lib/result/record.js'
 */

// With fewer samples beyond it, a point is chance.
const fewestBeyond = 10

/** Independent samples of a run; a command may carry many items. @param {RunRecord} record @param {'intended' | 'service'} name */
const samplesOf = ({ seconds }, name) =>
  seconds.reduce((sum, { latency_us: latency }) => {
    const found = latency?.[name]
    return sum + (found ? (found.samples ?? found.count) : 0)
  }, 0)

/** As far into the tail as the samples reach. @param {RunRecord} record @param {'intended' | 'service'} name */
const points = (record, name) => {
  const deepest = samplesOf(record, name) / fewestBeyond
  return record.distribution[name]
    .filter(({ beyond }) => beyond <= deepest * (1 + 1e-9))
    .map(({ beyond, us }) => [+beyond.toPrecision(6), us])
}

/** @type {Chart<RunRecord>} */
export const distribution = {
  name: 'distribution',
  title: 'Latency distribution',
  note: 'Rarer latencies are further right: each step leaves a tenth of the items. A curve ends where fewer than ten samples are beyond it. The gap between the curves is time spent waiting to be sent.',
  fold: 'latency',
  option: (record) => {
    const series = [
      ...line('from the due time', points(record, 'intended'), { color: '@c1', unit: 'us' }),
      ...line('service time', points(record, 'service'), { color: '@c2', dashed: true, unit: 'us' }),
    ]
    return series.length === 0
      ? null
      : chart({
          legend: legendOf(series),
          xAxis: lyingAxis('percentile of items, log scale', 'percentile', { type: 'log', min: 1 }),
          yAxis: latencyAxis('latency'),
          series,
        })
  },
}
