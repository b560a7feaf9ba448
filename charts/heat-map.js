import { lowerEndOf } from '../lib/base/buckets.js'
import { percent } from '../lib/base/units.js'
import { timeAxis } from '../lib/chart/lines.js'
import { chart, latencyAxis } from '../lib/chart/parts.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { HeatColumn, RunRecord } from '../lib/result/record.js'
 */

const mostColumns = 80
// As the buckets of latencies: a row is a quarter of an octave.
const bucketsARow = 4
const heightPx = 200
const topPx = 46
// A cell with few would be too pale to see.
const palest = 0.14
const seriesName = 'share of the moment'

/** Neighbouring columns as one, no more than a picture shows. @param {HeatColumn[]} heat */
const columnsOf = (heat) => {
  const wholeS = heat.at(-1)?.toS ?? 0
  const widthS = Math.max(1, Math.ceil(wholeS / mostColumns))
  /** @type {Map<number, { fromS: number, toS: number, rows: Map<number, number>, count: number }>} */
  const columns = new Map()
  for (const { fromS, toS, buckets } of heat) {
    // A second's line is written a little before its end.
    const at = Math.floor((toS - 0.1) / widthS)
    const column = columns.get(at) ?? { fromS, toS, rows: new Map(), count: 0 }
    columns.set(at, column)
    column.toS = toS
    for (const [bucket, n] of buckets) {
      const row = Math.floor(bucket / bucketsARow)
      column.rows.set(row, (column.rows.get(row) ?? 0) + n)
      column.count += n
    }
  }
  return [...columns.values()]
}

/** @param {ReturnType<typeof columnsOf>} columns */
const cellsOf = (columns) => {
  const highest = Math.max(...columns.flatMap(({ rows, count }) => [...rows.values()].map((n) => n / count)))
  const strength = (/** @type {number} */ share) => palest + (1 - palest) * Math.sqrt(share / highest)
  return columns.flatMap(({ fromS, toS, rows, count }) =>
    [...rows].map(([row, n]) => ({
      value: [(fromS + toS) / 2, lowerEndOf((row + 0.5) * bucketsARow)],
      spanS: toS - fromS,
      detail: percent((n / count) * 100),
      itemStyle: { opacity: +strength(n / count).toFixed(3) },
    })),
  )
}

/** Hides the labels of the ends where they would cover those of decades. @param {number[]} ends */
const hasDecade = ([least, most]) => Math.floor(Math.log10(most)) >= Math.ceil(Math.log10(least))

/**
 * The latencies of every moment: two groups of answers, which a percentile hides, are two bands.
 * @type {Chart<RunRecord>}
 */
export const heatMap = {
  name: 'heat-map',
  title: 'Latency heat map',
  note: 'Each column is a moment, each row a range of latencies from the due time (of a consumer, of whole fetches). The stronger the colour, the more latencies of that moment are in the range.',
  fold: 'latency',
  option: (record) => {
    const columns = columnsOf(record.heat)
    const data = cellsOf(columns)
    if (data.length === 0) return null
    const rows = columns.flatMap(({ rows: own }) => [...own.keys()])
    const ends = [Math.min(...rows), Math.max(...rows) + 1].map((row) => lowerEndOf(row * bucketsARow))
    const showEnds = !hasDecade(ends)
    const axis = latencyAxis('latency')
    const octaves = Math.log2(ends[1] / ends[0])
    return chart({
      panels: [{ title: '', names: [seriesName] }],
      height: topPx + heightPx + 52,
      legend: { ...chart({}).legend, data: [seriesName] },
      tooltip: { trigger: 'item' },
      grid: [{ left: 72, right: 18, top: topPx, height: heightPx, outerBoundsMode: 'none' }],
      xAxis: [timeAxis(record)],
      yAxis: [
        {
          ...axis,
          min: ends[0],
          max: ends[1],
          axisLabel: { ...axis.axisLabel, showMinLabel: showEnds, showMaxLabel: showEnds },
        },
      ],
      series: [
        {
          type: 'scatter',
          // Its cells get their sizes in pixels when the width of the picture is known.
          id: 'cells',
          cellPx: heightPx / octaves / (16 / bucketsARow),
          name: seriesName,
          symbol: 'rect',
          color: '@c1',
          itemStyle: { color: '@c1' },
          emphasis: { disabled: true },
          tooltip: { valueFormatter: '@us' },
          data,
        },
      ],
    })
  },
}
