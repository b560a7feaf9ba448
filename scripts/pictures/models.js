import { axisStyle, chart, lyingAxis } from '../../lib/chart/parts.js'
import { formatted } from '../../lib/chart/theme.js'
import { centreOf } from '../../lib/result/statistics.js'

/**
 * @import { FigureOfRow } from '../../lib/result/experiment-document.js'
 *
 * @typedef {{ name: string, color: string, symbol: string, figures: (Record<string, FigureOfRow> | undefined)[] }} Series
 * @typedef {{ figure: string, axis: string, unit: string, left: number, width: number }} Panel
 */

const rowPx = 52
const top = 78

/** Series of a row lie above each other. @param {number} at @param {number} count */
const offset = (at, count) => (at - (count - 1) / 2) * 0.34

/**
 * Costs of data models side by side: a row a model, a panel a figure, a point a server with its 95 % interval.
 * @param {{ rows: string[], series: Series[], panels: Panel[] }} parts
 */
export const modelsChart = ({ rows, series, panels }) => {
  const height = rows.length * rowPx
  // The first model on top; a row's place is its number.
  const upright = (/** @type {number} */ gridIndex) => ({
    type: 'value',
    gridIndex,
    inverse: true,
    min: -0.6,
    max: rows.length - 0.4,
    ...axisStyle,
    axisLine: { show: false },
    axisLabel: { show: false },
    splitLine: { show: false },
    interval: 1,
  })
  const lines = rows.map((_, row) => ({ yAxis: row }))
  return {
    height: top + height + 56,
    option: chart({
      legend: { ...chart({}).legend, data: series.map(({ name }) => name) },
      tooltip: { show: false },
      grid: panels.map(({ left, width }) => ({ left, width, top, height })),
      xAxis: panels.map(({ axis, unit, figure }, gridIndex) =>
        lyingAxis(axis, unit, {
          gridIndex,
          min: 0,
          max: Math.max(
            ...series.flatMap(({ figures }) => figures.map((row) => 1.22 * (row?.[figure]?.high ?? 0))),
          ),
          splitNumber: 4,
          axisLabel: { ...axisStyle.axisLabel, formatter: `@${unit}`, showMaxLabel: false },
        }),
      ),
      yAxis: panels.map((_, at) => upright(at)),
      series: panels.flatMap(({ figure, unit }, at) => {
        const scatter = { type: 'scatter', xAxisIndex: at, yAxisIndex: at }
        const unseen = { ...scatter, name: '', symbolSize: 0, silent: true }
        const lineOf = (/** @type {object} */ style) => ({ silent: true, label: { show: false }, ...style })
        return [
          ...series.map(({ name, color, symbol, figures }, nth) => ({
            ...scatter,
            name,
            symbol,
            symbolSize: 10,
            itemStyle: { color },
            data: figures.flatMap((row, r) =>
              row?.[figure] ? [[centreOf(row[figure]), r + offset(nth, series.length)]] : [],
            ),
            markLine: lineOf({
              symbol: ['rect', 'rect'],
              symbolSize: [8, 2],
              lineStyle: { color, type: 'solid', width: 1.5 },
              itemStyle: { color },
              data: figures.flatMap((row, r) => {
                const y = r + offset(nth, series.length)
                const own = row?.[figure]
                return own && own.high > own.low ? [[{ coord: [own.low, y] }, { coord: [own.high, y] }]] : []
              }),
            }),
          })),
          // The figures in words, right of their intervals.
          ...series.map(({ figures }, nth) => ({
            ...unseen,
            data: figures.flatMap((row, r) => {
              const own = row?.[figure]
              if (!own) return []
              const value = [own.high, r + offset(nth, series.length)]
              return [{ value, label: { formatter: formatted(unit, centreOf(own)) } }]
            }),
            label: { show: true, position: 'right', distance: 7, color: '@ink', fontSize: 12 },
          })),
          // The names of the rows and a faint line along each.
          {
            ...unseen,
            data: at === 0 ? rows.map((name, r) => ({ value: [0, r], label: { formatter: name } })) : [],
            label: { show: true, position: 'left', distance: 12, color: '@ink', fontSize: 13 },
            markLine: lineOf({
              symbol: 'none',
              lineStyle: { color: '@grid', type: 'solid', width: 1 },
              data: lines,
            }),
          },
        ]
      }),
    }),
  }
}
