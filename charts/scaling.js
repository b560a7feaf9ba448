import { rateOf } from '../lib/base/scalability.js'
import { line } from '../lib/chart/lines.js'
import { chart, legendOf, lyingAxis, uprightAxis } from '../lib/chart/parts.js'

/**
 * @import { Fit } from '../lib/base/scalability.js'
 * @import { Chart } from '../lib/chart/parts.js'
 */
/** @typedef {{ label: string, points: readonly { workers: number, rate: number }[], fit: Fit | null }} Sweep */

const steps = 60

// Curves go on for a quarter behind the last point.
const beyond = 1.25

/** Where the rate begins to fall, if that is within the picture. @param {Fit} fit @param {number} most workers @param {string} color */
const kneeMark = ({ knee }, most, color) =>
  knee === null || knee > most * beyond
    ? {}
    : {
        markLine: {
          silent: true,
          symbol: 'none',
          label: { formatter: 'knee', color },
          lineStyle: { color, type: 'dashed' },
          data: [{ xAxis: knee }],
        },
      }

/** Jobs a second over the number of workers: measured, and by the law. @type {Chart<{ sweeps: readonly Sweep[] }>} */
export const scalingChart = {
  name: 'scaling',
  title: 'Jobs done by the number of workers',
  note: 'Points are runs, lines the law that was fitted to them.',
  option: ({ sweeps }) => {
    const most = Math.max(...sweeps.flatMap(({ points }) => points.map(({ workers }) => workers)))
    const curves = sweeps.slice(0, 6).flatMap(({ label, points, fit }, i) => {
      const color = `@c${i + 1}`
      // Without a law the points themselves are joined.
      const law = fit
        ? Array.from({ length: steps }, (_, k) => {
            const n = 1 + ((most * beyond - 1) * k) / (steps - 1)
            return [n, rateOf(fit.law, n)]
          })
        : points.map(({ workers, rate }) => [workers, rate])
      return [
        ...line(label, law, { color, unit: 'rate' }).map((one) => ({
          ...one,
          ...(fit && kneeMark(fit, most, color)),
        })),
        ...line(
          `${label}, measured`,
          points.map(({ workers, rate }) => [workers, rate]),
          { color, unit: 'rate' },
        ).map((one) => ({
          ...one,
          lineStyle: { width: 0 },
          showSymbol: true,
          symbol: 'circle',
          symbolSize: 7,
        })),
      ]
    })
    return chart({
      legend: legendOf(curves.filter((_, i) => i % 2 === 0)),
      xAxis: lyingAxis('workers', 'count', { type: 'value', min: 0 }),
      yAxis: uprightAxis('jobs/s', 'rate', { min: 0 }),
      series: curves,
    })
  },
}
