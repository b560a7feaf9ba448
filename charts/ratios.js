import { chart, lyingAxis, namesAxis, whiskers } from '../lib/report/chart-parts.js'
import { measureNamed } from '../lib/result/measures.js'

/** @typedef {import('../lib/result/experiment-document.js').ExperimentDocument} ExperimentDocument */

const formats = { tooltip: { valueFormatter: '@logratio' }, emphasis: { disabled: true } }

/** @param {number} ratio */
const logOf = (ratio) => +Math.log(ratio).toFixed(5)

/** @param {{ low: number | null, high: number | null }} ours */
const intervalWords = ({ low, high }) =>
  low === null || high === null ? 'one round' : `${low.toFixed(2)} to ${high.toFixed(2)}`

// Ten percent more and less are always within the picture.
const leastReach = 0.1

/** @type {import('../lib/report/chart-parts.js').Chart<ExperimentDocument>} */
export const ratiosChart = {
  name: 'ratios',
  title: 'Ratios within the experiment',
  note: 'What travels from one machine to another, with its 95 % interval and, below it, the rounds; a diamond is the published ratio. The scale is logarithmic: 2 and 0.5 are equally far from 1.',
  option: ({ ratios }) => {
    if (ratios.length === 0) return null
    const published = ratios.flatMap((ratio, row) =>
      ratio.published === null ? [] : [[logOf(ratio.published), row]],
    )
    const rounds = ratios.flatMap(({ samples = [] }, row) =>
      samples.map((ratio, round) => ({ value: [logOf(ratio), row], detail: `round ${round + 1}` })),
    )
    const ends = ratios.flatMap(({ ours: { ratio, low, high }, published: theirs }) =>
      [ratio, low, high, theirs].flatMap((value) => (value !== null && value > 0 ? [logOf(value)] : [])),
    )
    const all = [...ends, ...rounds.map(({ value: [log] }) => log)]
    const max = +(Math.max(leastReach, ...all) * 1.06).toFixed(4)
    const names = namesAxis(ratios.map(({ label, figure }) => `${label}\n${measureNamed(figure).title}`))
    const series = [
      {
        type: 'scatter',
        name: 'measured',
        data: ratios.map(({ ours }, row) => ({
          value: [logOf(ours.ratio), row],
          detail: intervalWords(ours),
        })),
        symbol: 'circle',
        symbolSize: 11,
        itemStyle: { color: '@c1' },
        z: 3,
        ...formats,
        markLine: {
          ...whiskers([], '@c1'),
          data: ratios.flatMap(({ ours: { low, high } }, row) =>
            low === null || high === null || low === high || low <= 0
              ? []
              : [[{ coord: [logOf(low), row] }, { coord: [logOf(high), row] }]],
          ),
        },
      },
      ...(rounds.length > 0
        ? [
            {
              type: 'scatter',
              name: 'round',
              data: rounds,
              symbolSize: 6,
              // Below the interval, which they would hide.
              symbolOffset: [0, 10],
              itemStyle: { color: '@c3', opacity: 0.75 },
              ...formats,
            },
          ]
        : []),
      ...(published.length > 0
        ? [
            {
              type: 'scatter',
              name: 'published',
              data: published,
              symbol: 'diamond',
              symbolSize: 14,
              itemStyle: { color: '@c2', borderColor: '@surface', borderWidth: 1 },
              ...formats,
            },
          ]
        : []),
    ]
    return chart({
      tooltip: { trigger: 'item' },
      legend: { ...chart({}).legend, data: series.map(({ name }) => name) },
      grid: { ...chart({}).grid, top: 40, right: 92 },
      xAxis: lyingAxis('ratio, 1 is no difference, log scale', 'logratio', {
        min: +(Math.min(-leastReach, ...all) * 1.06).toFixed(4),
        max,
      }),
      yAxis: { ...names, axisLabel: { ...names.axisLabel, width: 230 } },
      series: [
        ...series,
        // The values beside the picture, and the line of no difference.
        {
          type: 'scatter',
          name: '',
          silent: true,
          symbolSize: 0,
          data: ratios.map(({ ours, standing }, row) => ({
            value: [max, row],
            label: {
              show: true,
              position: 'right',
              distance: 8,
              color: '@ink',
              fontSize: 12,
              lineHeight: 15,
              // A page that is too narrow leaves the second line out.
              formatter: [ours.ratio.toFixed(2), standing].filter(Boolean).join('\n'),
            },
          })),
          markLine: {
            silent: true,
            symbol: 'none',
            label: { show: false },
            lineStyle: { color: '@muted', type: 'dashed', width: 1 },
            data: [{ xAxis: 0 }],
          },
        },
      ],
    })
  },
}
