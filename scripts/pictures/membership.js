import { axisStyle, chart, lyingAxis, marksAlone, uprightAxis } from '../../lib/chart/parts.js'

/**
 * @import { ExperimentDocument } from '../../lib/result/experiment-document.js'
 *
 * @typedef {{ name: string, color: string, rows: string, structures: string }} Structure rows: how its rows begin
 * @typedef {[log2: number, value: number]} Point
 */

/** @type {readonly Structure[]} */
export const structures = Object.freeze([
  { name: 'hash', color: '@c1', rows: 'hash', structures: 'hashes' },
  { name: 'set', color: '@c2', rows: 'set', structures: 'sets' },
  { name: 'sorted set', color: '@c3', rows: 'zset', structures: 'sorted sets' },
])

const idBytes = 32
// Published for 10 million ids; a structure of so many ids is here at a smaller count of them.
/** @type {Readonly<Record<string, readonly Point[]>>} overhead with the id, by ids in a structure as log2 */
const publishedBytes = {
  hash: [
    [0, 102],
    [Number.NaN, 32],
    [24, 69],
  ],
  set: [
    [0, 102],
    [24, 226],
  ],
  'sorted set': [
    [0, 154],
    [24, 69],
  ],
}

/** The published sweet spot: 10 million ids in 2^17 hashes. @param {number} ids */
const sweetSpot = (ids) => Math.log2((2 ** 17 * ids) / 1e7)

/** @param {ExperimentDocument} document @param {string} name @param {string} figure */
const figureOf = ({ rows }, name, figure) =>
  rows.find(({ label }) => label === name)?.figures[figure]?.mean ?? null

/** A structure's figure by partitions. @param {ExperimentDocument} document @param {Structure} structure @param {string} figure @returns {Point[]} */
export const pointsOf = (document, { rows: head }, figure) =>
  document.rows.flatMap(({ label }) => {
    const [, power] = new RegExp(`^${head} 2\\^(\\d+)$`).exec(label) ?? []
    const value = power === undefined ? null : figureOf(document, label, figure)
    return value === null ? [] : [/** @type {Point} */ ([Number(power), value])]
  })

const legend = () => ({ ...chart({}).legend, data: [...structures.map(({ name }) => name), 'published'] })

const partitionsAxis = (/** @type {object} */ more = {}) =>
  lyingAxis('partitions, as a power of 2', 'count', {
    min: 0,
    max: 24,
    interval: 4,
    splitLine: { show: false },
    axisLine: { show: true, lineStyle: { color: '@line' } },
    ...more,
  })

/** @param {Structure} structure @param {Point[]} data @param {object} [more] */
const line = ({ name, color }, data, more = {}) => ({
  type: 'line',
  name,
  data,
  symbol: 'circle',
  symbolSize: 5,
  color,
  lineStyle: { color, width: 2 },
  itemStyle: { color },
  ...more,
})

/** @param {string} color @param {readonly Point[]} data @param {object} [more] */
const theirs = (color, data, more = {}) => ({
  type: 'scatter',
  name: 'published',
  data: data.map(([x, y]) => [x, y]),
  symbol: 'diamond',
  symbolSize: 13,
  itemStyle: { color: '@surface', borderColor: color, borderWidth: 2 },
  silent: true,
  ...more,
})

/** @param {string} text @param {number} y @param {string} color */
const level = (text, y, color) => ({
  ...marksAlone,
  markLine: {
    silent: true,
    symbol: 'none',
    lineStyle: { color, type: [4, 4], width: 1 },
    label: { show: true, color: '@muted', fontSize: 12, formatter: text, position: 'insideStartTop' },
    data: [{ yAxis: y }],
  },
})

/**
 * Bytes per id over partitions; what lies above the id itself is overhead.
 * @param {ExperimentDocument} document
 * @param {number} ids
 */
export const membershipMemory = (document, ids) => {
  const memory = 'passes.memory_bytes_per_item'
  const series = structures.map((one) => line(one, pointsOf(document, one, memory)))
  const flat = figureOf(document, 'flat', memory)
  const place = sweetSpot(ids)
  return {
    title: 'Memory per id by structure and partitions',
    height: 420,
    option: chart({
      tooltip: { show: false },
      legend: legend(),
      xAxis: partitionsAxis(),
      yAxis: uprightAxis('bytes per id', 'bytes', { min: 0 }),
      series: [
        ...series,
        ...structures.map(({ name, color }) =>
          theirs(
            color,
            publishedBytes[name].map(([x, y]) => [Number.isNaN(x) ? place : x, y]),
          ),
        ),
        level(`the id itself, ${idBytes} B: what lies above is overhead`, idBytes, '@muted'),
        ...(flat === null ? [] : [level(`flat keys, ${flat.toFixed(0)} B`, flat, '@ink')]),
      ],
    }),
  }
}

/** @type {Readonly<Record<'hits' | 'misses', Readonly<Record<string, readonly Point[]>>>>} of flat keys; NaN: at the sweet spot */
const publishedRates = {
  hits: {
    hash: [[0, 0.9]],
    set: [[0, 0.95]],
    'sorted set': [
      [0, 0.8],
      [Number.NaN, 0.9],
    ],
  },
  misses: {
    hash: [
      [0, 1],
      [Number.NaN, 0.85],
    ],
    set: [[0, 0.98]],
    'sorted set': [[0, 0.75]],
  },
}

/**
 * Hits and misses per second of server CPU over partitions, as a part of those of flat keys: the published ones are rates,
 * whose client was the limit.
 * @param {ExperimentDocument} document
 * @param {number} ids
 */
export const membershipRates = (document, ids) => {
  const panels = /** @type {const} */ (['hits', 'misses'])
  const place = sweetSpot(ids)
  const series = panels.flatMap((pass, at) => {
    const figure = `passes.${pass}.server_cpu_us`
    const flat = figureOf(document, 'flat', figure) ?? 1
    const axes = { xAxisIndex: at, yAxisIndex: at }
    return structures.flatMap((one) => [
      line(
        one,
        pointsOf(document, one, figure).map(([x, us]) => [x, flat / us]),
        axes,
      ),
      theirs(
        one.color,
        publishedRates[pass][one.name].map(([x, y]) => [Number.isNaN(x) ? place : x, y]),
        axes,
      ),
    ])
  })
  return {
    title: 'Hits and misses per second of server CPU by partitions, flat keys being 1',
    height: 400,
    option: chart({
      tooltip: { show: false },
      legend: legend(),
      grid: [
        { left: 50, width: 370, top: 100, bottom: 56 },
        { left: 500, width: 370, top: 100, bottom: 56 },
      ],
      xAxis: panels.map((_, gridIndex) => partitionsAxis({ gridIndex })),
      yAxis: panels.map((pass, gridIndex) =>
        uprightAxis(`${pass}, part of flat keys`, 'ratio', {
          gridIndex,
          min: 0,
          max: 1.4,
          interval: 0.2,
          axisLabel: { ...axisStyle.axisLabel, formatter: '@ratio' },
        }),
      ),
      series,
    }),
  }
}
