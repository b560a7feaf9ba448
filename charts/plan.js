import { exactly } from '../lib/base/typed.js'
import { line } from '../lib/chart/lines.js'
import { chart, colour, legendOf, lyingAxis, uprightAxis } from '../lib/chart/parts.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 *
 * @typedef {{ rate: number, low: number | null, monthly: number | null, high: number | null, shards: number | null }} CurvePoint
 * @typedef {{ asked: { value_bytes: number | null }, currency: string, models: readonly { strategy: string, curve: readonly CurvePoint[] }[] }} Costs
 * @typedef {{ models: readonly { strategy: string, proof: { points: readonly { predicted_us: number, measured_us: number }[] } }[] }} Proofs
 */

/** @param {number} base @param {number} value */
const powerBelow = (base, value) => base ** Math.floor(Math.log(value) / Math.log(base))

/** Rates at which a shard is added. @param {readonly CurvePoint[]} curve */
const shardSteps = (curve) =>
  curve.filter(
    ({ shards }, i) =>
      i > 0 && shards !== null && curve[i - 1].shards !== null && shards > Number(curve[i - 1].shards),
  )

/** Money over the rate: the prediction, and both ends of its interval. @type {Chart<Costs>} */
export const planCost = {
  name: 'plan-cost',
  title: 'What a rate costs a month',
  note: 'On the cheapest of the nodes. Dashed: by both ends of the interval of the prediction. Dots: a shard is added.',
  option: ({ models, currency, asked }) => {
    const curves = models.slice(0, 6).flatMap(({ strategy, curve }, i) => {
      const at = (/** @type {'low' | 'monthly' | 'high'} */ bound) =>
        curve.flatMap((point) => (point[bound] === null ? [] : [[point.rate, Number(point[bound])]]))
      const color = colour(i)
      const steps = shardSteps(curve).map(({ rate, monthly }) => ({ coord: [rate, monthly], value: '' }))
      const [middle] = line(strategy, at('monthly'), { color, unit: 'rate', step: true })
      const ends = exactly(['low', 'high']).flatMap((bound) =>
        line(`${strategy}, ${bound}`, at(bound), {
          color,
          dashed: true,
          width: 1,
          unit: 'rate',
          step: true,
        }),
      )
      return [
        ...(middle
          ? [
              {
                ...middle,
                markPoint: {
                  silent: true,
                  symbol: 'circle',
                  symbolSize: 7,
                  itemStyle: { color },
                  label: { show: false },
                  data: steps,
                },
              },
            ]
          : []),
        ...ends,
      ]
    })
    if (curves.length === 0) return null
    const lowest = Math.min(...models.flatMap(({ curve }) => curve.flatMap(({ low }) => low ?? [])))
    return chart({
      legend: legendOf(curves.filter(({ name }) => models.some(({ strategy }) => strategy === name))),
      xAxis: lyingAxis(`${asked.value_bytes === null ? 'operations' : 'items'}/s, log scale`, 'rate', {
        type: 'log',
        min: 'dataMin',
        max: 'dataMax',
      }),
      yAxis: uprightAxis(`${currency} a month, log scale`, 'count', {
        type: 'log',
        min: powerBelow(10, lowest),
      }),
      series: curves,
    })
  },
}

/** Held-out cells: what was predicted, over what was then measured. @type {Chart<Proofs>} */
export const planProof = {
  name: 'plan-proof',
  title: 'Predicted against measured',
  note: 'CPU of an item, or of an operation, in cells that were predicted before they were measured, on log scales. On the line the prediction is exact.',
  option: ({ models }) => {
    const series = models.slice(0, 6).flatMap(({ strategy, proof }, i) => {
      const points = proof.points.map(({ predicted_us, measured_us }) => [measured_us, predicted_us])
      const color = colour(i)
      const dots = {
        type: 'scatter',
        name: strategy,
        data: points,
        symbolSize: 8,
        itemStyle: { color },
        color,
      }
      return points.length > 0 ? [{ ...dots, tooltip: { valueFormatter: '@us' } }] : []
    })
    if (series.length === 0) return null
    const all = models.flatMap(({ proof }) =>
      proof.points.flatMap(({ predicted_us, measured_us }) => [predicted_us, measured_us]),
    )
    const [least, most] = [powerBelow(2, Math.min(...all)), 2 * powerBelow(2, Math.max(...all))]
    const scale = { type: 'log', logBase: 2, min: least, max: most }
    return chart({
      legend: { ...chart({}).legend, data: series.map(({ name }) => name) },
      tooltip: { trigger: 'item' },
      xAxis: lyingAxis('measured', 'us', scale),
      yAxis: uprightAxis('predicted', 'us', scale),
      series: [
        ...series,
        ...line(
          'exact',
          [
            [least, least],
            [most, most],
          ],
          { color: '@muted', dashed: true, width: 1, unit: 'us' },
        ),
      ],
    })
  },
}
