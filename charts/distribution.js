import { line } from '../lib/report/chart-lines.js'
import { chart, latencyAxis, legendOf, lyingAxis } from '../lib/report/chart-parts.js'

/** @param {import('../lib/result/record.js').Curve} curve */
const points = (curve) => curve.map(({ beyond, us }) => [+beyond.toPrecision(6), us])

/** @type {import('../lib/report/chart-parts.js').Chart<import('../lib/result/record.js').RunRecord>} */
export const distribution = {
  name: 'distribution',
  title: 'Latency distribution',
  note: 'The further right, the rarer: each step is a tenth of the items before. The gap between the curves is time spent waiting to be sent.',
  option: ({ distribution: { intended, service } }) => {
    const series = [
      ...line('from the intended moment', points(intended), { color: '@c1', unit: 'us' }),
      ...line('from the send (service)', points(service), { color: '@c2', dashed: true, unit: 'us' }),
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
