import { exactly } from '../lib/base/typed.js'
import { supported } from '../lib/chart/lines.js'
import { chart, latencyAxis, lyingAxis } from '../lib/chart/parts.js'
import { rateAt } from '../lib/traffic/rates.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { RunRecord } from '../lib/result/record.js'
 */

// A second in which the rate changed counts for neither rate.
const keys = exactly([
  ['p50', '@c1'],
  ['p99', '@c2'],
])

/** For a run whose rate changes. @type {Chart<RunRecord>} */
export const rateLatency = {
  name: 'rate-latency',
  title: 'Latency by rate',
  note: 'A point a second, at the target rate of that second. Of writers from the due time, of consumers of whole fetches.',
  fold: 'nodes',
  option: ({ run, seconds }) => {
    const rates = run.plan && 'rates' in run.plan && run.plan.rates
    if (!rates) return null
    const points = seconds.flatMap(({ at_ms: atMs, latency_us, duration_us }) => {
      const times = latency_us?.intended ?? duration_us
      const [first, last] = [rateAt(rates, Math.max(0, atMs - 970)), rateAt(rates, Math.max(0, atMs - 100))]
      return times && Math.abs(first / last - 1) < 0.2 ? [{ rate: Math.round(last), times }] : []
    })
    if (points.length === 0) return null
    return chart({
      tooltip: { trigger: 'item' },
      legend: { ...chart({}).legend, data: keys.map(([name]) => name) },
      xAxis: lyingAxis(`target rate, ${run.kind === 'consumer' ? 'fetches' : 'items'} a second`, 'rate', {
        scale: true,
      }),
      yAxis: latencyAxis('latency'),
      series: keys.map(([key, color]) => ({
        type: 'scatter',
        name: key,
        data: points.map(({ rate, times }) => [rate, supported(times, key)]),
        symbolSize: 6,
        color,
        itemStyle: { color, opacity: 0.75 },
        emphasis: { disabled: true },
      })),
    })
  },
}
