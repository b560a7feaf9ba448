import { pricesOf } from '../lib/base/prices.js'
import { exactly } from '../lib/base/typed.js'
import { line } from '../lib/chart/lines.js'
import { chart, lyingAxis, uprightAxis } from '../lib/chart/parts.js'

/**
 * @import { Found } from '../lib/answers/find/memory-report.js'
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { RunRecord } from '../lib/result/record.js'
 *
 * @typedef {readonly { memory_bytes: number, lru_pct: number, policy_pct: number | null }[]} Points
 */

const gib = 2 ** 30
// Of a node's memory a part is reserved.
const usable = 0.75

/** Memory of nodes that is within a range, each size once. @param {number} least @param {number} most */
const nodeSizes = (least, most) => {
  const known = new Map(pricesOf('us-east-1').nodes.types.map(({ name, memoryGib }) => [memoryGib, name]))
  return [...known]
    .map(([size, name]) => ({ name: name.replace(/^cache\./, ''), bytes: size * gib * usable }))
    .filter(({ bytes }) => bytes >= least && bytes <= most)
}

/** @param {{ points: Points, policy: string, measured: readonly (readonly [bytes: number, pct: number])[] }} about */
const curveOption = ({ points, policy, measured }) => {
  if (points.length === 0) return null
  const [least, most] = [points[0].memory_bytes, points[points.length - 1].memory_bytes]
  const hasPolicy = points[0].policy_pct !== null && policy !== 'lru'
  const along = (/** @type {'lru_pct' | 'policy_pct'} */ key) =>
    points.map((point) => [Math.round(point.memory_bytes), point[key]])
  const series = [
    ...line('exact LRU', along('lru_pct'), { color: '@muted', dashed: hasPolicy, unit: 'pct' }),
    ...(hasPolicy ? line(policy, along('policy_pct'), { color: '@c1', width: 2.5, unit: 'pct' }) : []),
    {
      type: 'scatter',
      name: 'measured',
      symbolSize: 10,
      color: '@c2',
      itemStyle: { color: '@c2' },
      data: measured.map(([bytes, pct]) => [Math.round(bytes), +pct.toFixed(2)]),
      z: 5,
    },
  ]
  return chart({
    legend: { ...chart({}).legend, data: series.map(({ name }) => name) },
    xAxis: lyingAxis('memory, bytes, log scale', 'bytes', {
      type: 'log',
      min: Math.round(least),
      max: Math.round(most * 1.1),
    }),
    yAxis: uprightAxis('hits', 'pct', { scale: true, max: 100 }),
    series: [
      ...series,
      {
        type: 'line',
        name: '',
        data: [],
        silent: true,
        markLine: {
          symbol: 'none',
          silent: true,
          lineStyle: { color: '@muted', type: [2, 3] },
          label: { formatter: '{b}', position: 'insideStartTop', color: '@muted', fontSize: 11 },
          data: nodeSizes(least, most).map(({ name, bytes }) => ({ name, xAxis: Math.round(bytes) })),
        },
      },
    ],
  })
}

const about = {
  name: 'miss-curve',
  title: 'Hits by memory',
  note: 'Computed from the requests of the run. Vertical lines are nodes of ElastiCache (the memory they leave to keys).',
}

/** @type {Chart<Found>} */
export const missCurveChart = {
  ...about,
  option: ({ curve, policy, trials }) =>
    curveOption({
      points: curve,
      policy,
      measured: trials.map(({ memory_bytes: at, hit_pct: pct }) => [at, pct]),
    }),
}

/** @type {Chart<RunRecord>} */
export const missCurve = {
  ...about,
  option: ({ run }) => {
    if (!('miss_curve' in run) || !run.miss_curve || !run.cache) return null
    const { miss_curve: curve, cache } = run
    const { memory_bytes: bytes, hit_pct: pct } = cache
    const measured = bytes === null || pct === null ? [] : [exactly([bytes, pct])]
    return curveOption({ points: curve.points, policy: curve.policy, measured })
  },
}
