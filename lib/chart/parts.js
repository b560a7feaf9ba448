// What the charts have in common: axes with their units, legends, bars, and a change between two sides in words.
import { count, dash, times } from '../base/units.js'
import { colourCount, formatted } from './theme.js'

/**
 * @import { Row } from '../compare/comparison.js'
 *
 * @typedef {Record<string, any>} Option an echarts option; colours and formats as theme.js names them
 */

/**
 * @template From
 * @typedef {object} Chart
 * @property {string} name of its file
 * @property {string} title
 * @property {string} note how to read it
 * @property {'latency' | 'cost' | 'nodes'} [fold] group of charts that a page shows on request; without it the chart is always shown
 * @property {(record: From) => Option | null} option null: it was not measured
 */

/** A series for marks: a line without points, which no legend shows. */
export const marksAlone = { type: 'line', name: '', data: [], silent: true }

/** The colour that belongs to a number, from 0 on. @param {number} n */
export const colour = (n) => `@c${(n % colourCount) + 1}`

export const axisStyle = {
  axisLine: { show: true, lineStyle: { color: '@line' } },
  axisTick: { show: false },
  axisLabel: { color: '@muted', fontSize: 12, hideOverlap: true, margin: 10 },
  nameTextStyle: { color: '@muted', fontSize: 12 },
  splitLine: { lineStyle: { color: '@grid' } },
}

/** An axis of figures. @param {string} name with its unit @param {string} format of theme.js @param {Option} [more] */
const figureAxis = (name, format, more = {}) => ({
  type: 'value',
  name,
  ...axisStyle,
  axisLine: { show: false },
  axisLabel: { ...axisStyle.axisLabel, formatter: `@${format}` },
  ...more,
})

/** The vertical axis: its name is above it, where it needs no room. @param {string} name @param {string} format @param {Option} [more] */
export const uprightAxis = (name, format, more = {}) =>
  figureAxis(name, format, {
    nameLocation: 'end',
    nameGap: 12,
    ...more,
    nameTextStyle: { ...axisStyle.nameTextStyle, align: 'left' },
  })

/** @param {string} name with its unit @param {string} format @param {Option} [more] */
export const lyingAxis = (name, format, more = {}) =>
  figureAxis(name, format, { nameLocation: 'middle', nameGap: 28, ...more })

/** The approximate width of a text in the charts' font. @param {string} text */
const widthOf = (text) => Math.max(...text.split('\n').map((row) => row.length)) * 8.4 + 8

/** Names of rows, the first on top. @param {string[]} names */
export const namesAxis = (names) => ({
  type: 'category',
  data: names,
  inverse: true,
  ...axisStyle,
  axisLabel: {
    ...axisStyle.axisLabel,
    color: '@ink',
    hideOverlap: false,
    lineHeight: 16,
    width: Math.min(190, Math.max(...names.map(widthOf))),
    // Names with a common beginning differ at their ends.
    overflow: 'break',
  },
  splitLine: { show: false },
})

/** An option with the settings of all charts. @param {Option} option */
export const chart = (option) => ({
  animation: false,
  textStyle: { fontFamily: 'sans-serif', color: '@ink' },
  tooltip: { trigger: 'axis', axisPointer: { type: 'line', lineStyle: { color: '@muted' } } },
  legend: {
    type: 'plain',
    top: 0,
    left: 0,
    itemWidth: 24,
    itemGap: 16,
    textStyle: { color: '@ink', fontSize: 12 },
  },
  grid: { left: 4, right: 18, top: 74, bottom: 34, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
  ...option,
})

/** A legend that shows lines as they are drawn, without a symbol. @param {Option[]} series */
export const legendOf = (series) => ({
  ...chart({}).legend,
  data: series.map(({ name }) => name),
  itemStyle: { opacity: 0 },
  lineStyle: { width: 'inherit' },
})

/** An axis for latencies, which differ by orders of magnitude. @param {string} name */
export const latencyAxis = (name) =>
  uprightAxis(`${name}, log scale`, 'us', {
    type: 'log',
    minorTick: { show: false, splitNumber: 9 },
    minorSplitLine: { show: true, lineStyle: { color: '@shade' } },
  })

/**
 * 95 % intervals over the rows of lying figures.
 * @param {({ low: number | null, high: number | null } | undefined)[]} intervals one a row; none where it is a point
 * @param {string} color
 */
export const whiskers = (intervals, color) => ({
  silent: true,
  symbol: ['rect', 'rect'],
  // Turned like the line.
  symbolSize: [10, 2],
  label: { show: false },
  lineStyle: { color, type: 'solid', width: 1.5 },
  itemStyle: { color },
  data: intervals.flatMap((interval, row) => {
    const { low, high } = interval ?? { low: null, high: null }
    if (low === null || high === null || low === high) return []
    return [[{ coord: [Math.max(0, low), row] }, { coord: [high, row] }]]
  }),
})

/**
 * Parts of lying bars, stacked: one row of names, a series a part.
 * @param {{ axis: string, unit: string, rows: string[], parts: { name: string, color: string, values: (number | null)[] }[] }} bars
 */
export const stackedBars = ({ axis, unit, rows, parts }) =>
  chart({
    tooltip: { trigger: 'axis', axisPointer: { type: 'shadow' } },
    legend: { ...chart({}).legend, data: parts.map(({ name }) => name) },
    grid: { ...chart({}).grid, top: 40 },
    xAxis: lyingAxis(axis, unit, { min: 0 }),
    yAxis: namesAxis(rows),
    series: parts.map(({ name, color, values }) => ({
      type: 'bar',
      name,
      stack: 'all',
      data: values,
      barMaxWidth: 30,
      color,
      itemStyle: { color },
      emphasis: { disabled: true },
      tooltip: { valueFormatter: `@${unit}` },
    })),
  })

/**
 * The rounds as small dots, below the interval, which they would hide.
 * @param {readonly object[]} data
 * @param {string} color
 * @param {Option} style
 * @returns {Option[]}
 */
export const roundDots = (data, color, style) =>
  data.length === 0
    ? []
    : [
        {
          type: 'scatter',
          name: 'round',
          data,
          symbolSize: 6,
          symbolOffset: [0, 10],
          itemStyle: { color, opacity: 0.75 },
          ...style,
        },
      ]

/**
 * The values to the right of the picture, and the line of no difference.
 * @param {number} at the right end of the axis
 * @param {readonly (string | null | undefined)[][]} texts lines of each row
 */
export const valuesBeside = (at, texts) => ({
  type: 'scatter',
  name: '',
  silent: true,
  symbolSize: 0,
  data: texts.map((lines, row) => ({
    value: [at, row],
    label: {
      show: true,
      position: 'right',
      distance: 8,
      color: '@ink',
      fontSize: 12,
      lineHeight: 15,
      formatter: lines.filter(Boolean).join('\n'),
    },
  })),
  markLine: {
    silent: true,
    symbol: 'none',
    label: { show: false },
    lineStyle: { color: '@muted', type: 'dashed', width: 1 },
    data: [{ xAxis: 0 }],
  },
})

// A change between two sides, for charts, tables and sentences.

const leastTimes = 9

/** ×0.02, ×12 @param {number} ratio */
const timesWords = (ratio) => {
  // An interval of two rounds may be very wide.
  if (ratio > 1e6) return '>×1,000,000'
  if (ratio < 0.001) return '<×0.001'
  return `×${ratio >= 1 + leastTimes ? count(ratio) : ratio < 0.0995 ? +ratio.toPrecision(2) : times(ratio)}`
}

/** +4.8 %, or ×12 from ten times on @param {number | null} change */
export const changeWords = (change) => {
  if (change === null) return dash
  if (change >= leastTimes) return timesWords(1 + change)
  const pct = change * 100
  const digits = Math.abs(pct) < 9.995 ? 1 : 0
  const shown = Math.abs(pct).toFixed(digits)
  return `${Number(shown) === 0 ? '' : pct < 0 ? '−' : '+'}${shown} %`
}

/** Values shown as 0 have no sign. @param {string} shown @param {number} value */
const signed = (shown, value) => (/[1-9]/.test(shown) ? `${value < 0 ? '−' : '+'}${shown}` : shown)

/** @param {Row} row @param {number | null} value */
export const differenceWords = ({ figure, difference }, value) =>
  difference.relative || value === null
    ? changeWords(value)
    : signed(formatted(figure.unit, Math.abs(value)), value)

/** Both ends of an interval in one unit: −4.8 % to +3.1 %, or ×0.02 to ×14. @param {number} low @param {number} high */
export const rangeWords = (low, high) => {
  const shown = high >= leastTimes ? (/** @type {number} */ end) => timesWords(1 + end) : changeWords
  return `${shown(low)} to ${shown(high)}`
}

/** @param {Row} row */
export const intervalWords = (row) => {
  const { low, high, relative } = row.difference
  if (low === null || high === null) return dash
  return relative ? rangeWords(low, high) : `${differenceWords(row, low)} to ${differenceWords(row, high)}`
}

/** 3 % @param {number} effect */
export const effectWords = (effect) => `${+(effect * 100).toPrecision(3)} %`

/** @param {Row} row @param {number} effect */
export const verdictWords = ({ primary, difference: { verdict, low, relative } }, effect) => {
  if (!primary) return ''
  if (low === null) return 'one run a side'
  if (verdict === 'same') return relative ? `no difference beyond ${effectWords(effect)}` : 'no difference'
  return verdict === 'unclear' ? 'cannot tell' : verdict
}
