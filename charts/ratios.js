import { times } from '../lib/base/units.js'
import { chart, lyingAxis, namesAxis, roundDots, valuesBeside, whiskers } from '../lib/chart/parts.js'
import { measureNamed } from '../lib/result/metrics.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { ExperimentDocument } from '../lib/result/experiment-document.js'
 */

const formats = { tooltip: { valueFormatter: '@logratio' }, emphasis: { disabled: true } }

/** @param {number} ratio */
const logOf = (ratio) => +Math.log(ratio).toFixed(5)

/** @param {{ low: number | null, high: number | null }} ours */
const intervalWords = ({ low, high }) =>
  low === null || high === null ? 'one round' : `${times(low)} to ${times(high)}`

// Steps of a decade, from few to many; the last ones are for ratios near 1.
const ladders = [
  [1],
  [1, 3],
  [1, 2, 5],
  [1, 1.5, 2, 3, 5, 7],
  [1, 1.2, 1.4, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9],
  [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.2, 2.5, 3, 4, 5, 6, 7, 8, 8.5, 9, 9.5],
  [1, 1.02, 1.04, 1.06, 1.08, 1.1, 9, 9.2, 9.4, 9.6, 9.8],
]
const mostSteps = 8

/** Round ratios between two logarithms, as many as can be read. @param {number} min @param {number} max */
export const ratioSteps = (min, max) => {
  const decades = Array.from({ length: 13 }, (_, i) => 10 ** (i - 6))
  const [most] = ladders
    .map((ladder) =>
      decades
        .flatMap((decade) => ladder.map((step) => logOf(+(step * decade).toPrecision(3))))
        .filter((log) => log >= min && log <= max),
    )
    .filter(({ length }) => length <= mostSteps)
    .toReversed()
  return most ?? [0]
}

// Ten percent more and less are always within the picture.
const leastReach = 0.1

/** @type {Chart<ExperimentDocument>} */
export const ratiosChart = {
  name: 'ratios',
  title: 'Ratios within the experiment',
  note: 'What carries over to other machines, with its 95 % interval and, below it, the rounds; a diamond is the published ratio. On the scale ×2 and ×1/2 are equally far from ×1.',
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
    const min = +(Math.min(-leastReach, ...all) * 1.06).toFixed(4)
    const max = +(Math.max(leastReach, ...all) * 1.06).toFixed(4)
    const steps = ratioSteps(min, max)
    const axis = lyingAxis('ratio, ×1 is no difference, log scale', 'logratio', { min, max })
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
      ...roundDots(rounds, '@c3', formats),
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
      xAxis: {
        ...axis,
        axisTick: { ...axis.axisTick, customValues: steps },
        axisLabel: { ...axis.axisLabel, customValues: steps },
      },
      yAxis: { ...names, axisLabel: { ...names.axisLabel, width: 230 } },
      series: [
        ...series,
        valuesBeside(
          max,
          ratios.map(({ ours, standing }) => [times(ours.ratio), standing]),
        ),
      ],
    })
  },
}
