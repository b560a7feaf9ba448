import { axisStyle, chart, lyingAxis, uprightAxis } from '../../lib/chart/parts.js'

/**
 * @import { ExperimentDocument } from '../../lib/result/experiment-document.js'
 *
 * @typedef {{ name: string, color: string, symbol: string }} Way
 */

/** Published: 50,992 increments, one by one in 266.9 s, by a script in bundles in 1.85 s. */
export const increments = 50_992
const roundTrips = ['direct', '1 ms', '2 ms', '5 ms']
const sizes = [10, 100, 1000, 10_000, increments]

/** @type {readonly Way[]} */
const ways = Object.freeze([
  { name: 'loop', color: '@c2', symbol: 'circle' },
  { name: 'auto-pipeline', color: '@c4', symbol: 'rect' },
  { name: 'pipeline', color: '@c1', symbol: 'diamond' },
  { name: 'transaction', color: '@c5', symbol: 'triangle' },
  { name: 'script', color: '@c3', symbol: 'circle' },
  { name: 'function', color: '@c6', symbol: 'emptyCircle' },
])
const sized = ways.filter(({ name }) => name === 'pipeline' || name === 'script')

/** @param {ExperimentDocument} document @param {string} label @param {string} figure */
export const figureOf = ({ rows }, label, figure) =>
  rows.find((row) => row.label === label)?.figures[figure]?.median ?? null

/** The time of all increments at a rate, in ms. @param {number | null} rate @param {number} [many] */
const timeAt = (rate, many = increments) => (rate === null ? null : (many / rate) * 1000)

/** @param {string} way @param {string} place */
export const labelOf = (way, place) => (way === 'loop' ? `loop, ${place}` : `${way} of 10,000, ${place}`)

/** Milliseconds for all increments. @param {ExperimentDocument} document @param {string} label */
export const timeOf = (document, label) => timeAt(figureOf(document, label, 'passes.increments.rate'))

/** @param {Way} way @param {(number | null)[] | [number, number | null][]} data @param {object} [more] */
export const line = ({ name, color, symbol }, data, more = {}) => ({
  type: 'line',
  name,
  data,
  symbol,
  symbolSize: 7,
  connectNulls: true,
  color,
  lineStyle: { color, width: 2 },
  itemStyle: { color },
  ...more,
})

const logTime = (/** @type {string} */ name, /** @type {object} */ more = {}) =>
  uprightAxis(name, 'ms', { type: 'log', ...more })

/** Time for all increments by way and round trip. @param {ExperimentDocument} document */
export const counterTimes = (document) => ({
  title: `${increments.toLocaleString('en')} increments, by way and round trip`,
  height: 380,
  option: chart({
    tooltip: { show: false },
    legend: { ...chart({}).legend, data: [...ways.map(({ name }) => name), 'published'] },
    xAxis: {
      type: 'category',
      data: roundTrips,
      name: 'round trip that a proxy adds (direct: none)',
      nameLocation: 'middle',
      nameGap: 28,
      ...axisStyle,
      splitLine: { show: false },
    },
    yAxis: logTime('time for all of them, log scale'),
    series: [
      ...ways.map((way) =>
        line(
          way,
          roundTrips.map((place) => timeOf(document, labelOf(way.name, place))),
        ),
      ),
      {
        type: 'scatter',
        name: 'published',
        data: [
          ['5 ms', 266_900],
          ['5 ms', 1850],
        ],
        symbol: 'diamond',
        symbolSize: 14,
        itemStyle: { color: '@surface', borderColor: '@ink', borderWidth: 2 },
        silent: true,
      },
    ],
  }),
})

/** @param {string} way @param {number} size @param {string} place */
const sizedLabel = (way, size, place) => `${way} of ${size.toLocaleString('en')}, ${place}`

/** Time of all increments, and what another client waits, by the size of a bundle. @param {ExperimentDocument} document */
export const counterBundles = (document) => {
  const sizeAxis = (/** @type {number} */ gridIndex) =>
    lyingAxis('increments in a bundle, log scale', 'count', {
      type: 'log',
      gridIndex,
      min: 10,
      max: 100_000,
      splitLine: { show: false },
    })
  const waits = sizes.map((size) => [
    size,
    figureOf(document, `1M, ${sizedLabel('script', size, 'direct')}`, 'bystander.max'),
  ])
  return {
    title: 'What a larger bundle saves, and what another client waits for it',
    height: 380,
    option: chart({
      tooltip: { show: false },
      legend: { ...chart({}).legend, data: sized.map(({ name }) => name) },
      grid: [
        { left: 62, width: 358, top: 84, bottom: 56 },
        { left: 502, width: 368, top: 84, bottom: 56 },
      ],
      xAxis: [sizeAxis(0), sizeAxis(1)],
      yAxis: [
        logTime(`time of ${increments.toLocaleString('en')} at 1 ms, log scale`, { gridIndex: 0 }),
        uprightAxis('longest wait of another client, log scale', 'us', { gridIndex: 1, type: 'log' }),
      ],
      series: [
        ...sized.map((way) =>
          line(
            way,
            sizes.map((size) => [size, timeOf(document, sizedLabel(way.name, size, '1 ms'))]),
          ),
        ),
        line(ways[4], /** @type {[number, number | null][]} */ (waits), { xAxisIndex: 1, yAxisIndex: 1 }),
      ],
    }),
  }
}
