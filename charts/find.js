import { limitLines } from '../lib/chart/limits.js'
import { line } from '../lib/chart/lines.js'
import { axisStyle, chart, legendOf, lyingAxis, uprightAxis } from '../lib/chart/parts.js'

/**
 * @import { Found as FindAnswer } from '../lib/answers/find/report.js'
 * @import { Chart } from '../lib/chart/parts.js'
 */
/** @typedef {FindAnswer['seconds'][number]} Second */

const measured = (/** @type {FindAnswer} */ { seconds }) =>
  seconds.filter(({ phase, rate }) => rate !== null && phase !== 'warm-up' && phase !== 'limit')

/** @param {string} name @param {Second[]} seconds @param {string} color @param {(second: Second) => number | null} x @param {(second: Second) => number | null} y */
const dots = (name, seconds, color, x, y) => ({
  type: 'scatter',
  name,
  data: seconds.map((second) => ({
    value: [x(second), y(second)],
    detail: second.missed ?? 'met all objectives',
  })),
  symbolSize: 6,
  color,
  itemStyle: { color, opacity: 0.75 },
  emphasis: { disabled: true },
})

const atS = (/** @type {{ at_ms: number }} */ { at_ms: ms }) => +(ms / 1000).toFixed(1)
const rateOf = (/** @type {Second} */ { rate }) => (rate === null ? null : Math.round(rate))
const split = (/** @type {Second[]} */ seconds) => [
  seconds.filter(({ passed }) => passed),
  seconds.filter(({ passed }) => !passed),
]

/** @param {FindAnswer} answer */
const rateAxis = ({ unit = 'items' }) => `rate, ${unit} a second`

/** The answer and its interval across a chart of rates. @param {FindAnswer} answer @param {'xAxis' | 'yAxis'} axis */
const answerMarks = ({ find: { low, high } }, axis) =>
  low === null
    ? []
    : [
        {
          type: 'line',
          name: '',
          data: [],
          silent: true,
          markLine: {
            symbol: 'none',
            silent: true,
            label: { show: false },
            lineStyle: { color: '@c1', width: 2, type: 'solid' },
            data: [{ [axis]: Math.round(low) }],
          },
          ...(high !== null && {
            markArea: {
              silent: true,
              itemStyle: { color: '@shade' },
              data: [[{ [axis]: Math.round(low) }, { [axis]: Math.round(high) }]],
            },
          }),
        },
      ]

/** @param {FindAnswer} answer */
const endS = ({ seconds }) => Math.ceil((seconds.at(-1)?.at_ms ?? 0) / 1000) + 1

/** A note says only what is drawn. @typedef {Omit<Chart<FindAnswer>, 'note'> & { note: (answer: FindAnswer) => string }} FindChart */

/** @type {FindChart} */
export const findLatency = {
  name: 'find-latency',
  title: 'p99 by rate, a point a second',
  note: ({ find: { low, high } }) => {
    const band = high === null ? '' : ', the shaded band its 95 % interval'
    return `From the due time.${low === null ? '' : ` The line is the answer${band}.`}`
  },
  option: (answer) => {
    const [passed, failed] = split(measured(answer).filter(({ latency_us: latency }) => latency.intended))
    if (passed.length + failed.length === 0) return null
    const p99 = (/** @type {Second} */ { latency_us: latency }) => latency.intended?.p99 ?? null
    const rates = [...passed, ...failed].map((second) => rateOf(second) ?? 0)
    const series = [
      dots('met the objectives', passed, '@c1', rateOf, p99),
      dots('did not', failed, '@bad', rateOf, p99),
      ...limitLines(answer.objectives, /^latency(\.intended)?\.p99$/, [
        Math.min(...rates),
        Math.max(...rates),
      ]),
    ]
    return chart({
      tooltip: { trigger: 'item' },
      legend: { ...chart({}).legend, data: series.map(({ name }) => name) },
      xAxis: lyingAxis(rateAxis(answer), 'rate', { scale: true }),
      yAxis: uprightAxis('p99, log scale', 'us', { type: 'log' }),
      series: [...series, ...answerMarks(answer, 'xAxis')],
    })
  },
}

/** @type {Chart<FindAnswer>} */
export const findShare = {
  name: 'find-share',
  title: 'Share of the seconds that meet the objectives',
  note: 'As fitted, with its 95 % band; over the time since the warm-up, or since the target changed.',
  option: (answer) => {
    const { curve, share } = answer
    if (curve.length === 0) return null
    const along = (/** @type {'low' | 'middle' | 'high'} */ key) =>
      curve.map((point) => [Math.round(point.rate), +(point[key] * 100).toFixed(2)])
    const series = [
      ...line('share', along('middle'), { color: '@c1', width: 2.5, unit: 'pct' }),
      ...line('95 % band', along('low'), { color: '@muted', dashed: true, width: 1.5, unit: 'pct' }),
      ...line('95 % band', along('high'), { color: '@muted', dashed: true, width: 1.5, unit: 'pct' }),
    ]
    return chart({
      legend: legendOf(series.slice(0, 2)),
      xAxis: lyingAxis(rateAxis(answer), 'rate', { scale: true }),
      yAxis: uprightAxis('share of seconds', 'pct', { min: 0, max: 100 }),
      series: [
        ...series,
        ...answerMarks(answer, 'xAxis'),
        {
          ...answerMarks(answer, 'yAxis')[0],
          markArea: undefined,
          type: 'line',
          name: '',
          data: [],
          markLine: {
            symbol: 'none',
            silent: true,
            label: { show: false },
            lineStyle: { color: '@muted', width: 1, type: [2, 3] },
            data: [{ yAxis: share * 100 }],
          },
        },
      ],
    })
  },
}

/** @type {FindChart} */
export const findPath = {
  name: 'find-path',
  title: 'Rates over the search, and the capacity',
  note: ({ path }) =>
    `A point a second.${path.length === 0 ? '' : ' The line is the capacity as fitted (half of the seconds at it would meet the objectives), with its 95 % band.'}`,
  option: (answer) => {
    const [passed, failed] = split(measured(answer))
    if (passed.length + failed.length === 0) return null
    const along = (/** @type {'low' | 'middle' | 'high'} */ key) =>
      answer.path.map((point) => [atS(point), Math.round(point[key])])
    const fitted = [
      ...line('capacity', along('middle'), { color: '@ink', width: 2, unit: 'rate' }),
      ...line('95 % band', along('low'), { color: '@muted', dashed: true, width: 1, unit: 'rate' }),
      ...line('95 % band', along('high'), { color: '@muted', dashed: true, width: 1, unit: 'rate' }),
    ]
    const series = [
      dots('met the objectives', passed, '@c1', atS, rateOf),
      dots('did not', failed, '@bad', atS, rateOf),
      ...(answer.path.length > 0 ? fitted : []),
    ]
    return chart({
      tooltip: { trigger: 'item' },
      legend: { ...chart({}).legend, data: [...new Set(series.map(({ name }) => name))] },
      xAxis: lyingAxis('time, min:s', 'clock', {
        min: 0,
        max: endS(answer),
        axisLabel: { ...axisStyle.axisLabel, formatter: '@clock' },
      }),
      yAxis: uprightAxis(rateAxis(answer), 'rate', { scale: true }),
      series,
    })
  },
}
