import { chart, lyingAxis, namesAxis, whiskers } from '../lib/chart/parts.js'
import { formatted } from '../lib/chart/theme.js'
import { asSentence, isComparable, publishedWords } from '../lib/result/experiment-document.js'
import { measureNamed } from '../lib/result/metrics.js'

import { centreOf } from '../lib/result/statistics.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { ExperimentDocument, FigureOfRow } from '../lib/result/experiment-document.js'
 */

/** @param {FigureOfRow} figure @param {string} unit */
const intervalOf = ({ low, high }, unit) =>
  low < high ? { detail: `${formatted(unit, low)} to ${formatted(unit, high)}` } : {}

/**
 * One figure of an experiment over its rows, beside the published one.
 * @param {string} column
 * @param {ExperimentDocument} experiment
 * @returns {Chart<ExperimentDocument>}
 */
export const rowFigures = (column, experiment) => {
  const { title, unit, axis } = measureNamed(column)
  const published = experiment.rows.map((row) =>
    isComparable(column, row) ? (row.published?.[column] ?? null) : null,
  )
  const some = published.some((value) => value !== null)
  const figures = experiment.rows.flatMap(({ figures }) => figures[column] ?? [])
  // One interval of a few unsteady rounds would make all bars too short to be seen.
  const reach = 4 * Math.max(...figures.map(centreOf), ...published.map((value) => value ?? 0))
  const cut = figures.some(({ high }) => high > reach)
  return {
    name: column.replaceAll(/[^a-z0-9]+/gi, '-'),
    title: title.replace(/^./, (first) => first.toUpperCase()),
    note: `The geometric mean of the repeats with its 95 % interval${some ? '; a diamond is the published figure' : ''}${cut ? '; the longest intervals are cut at the edge' : ''}.${asSentence(publishedWords(experiment, column))}`,
    option: ({ rows }) => {
      const ours = rows.map(({ figures }) => figures[column])
      // Rows of zeros are in the table only.
      if (ours.every((figure) => !figure || (figure.low === 0 && figure.high === 0))) return null
      const drawn = ours.map((figure) => figure && { ...figure, high: Math.min(figure.high, reach) })
      const formats = { tooltip: { valueFormatter: `@${unit}` }, emphasis: { disabled: true } }
      return chart({
        tooltip: { trigger: 'axis', axisPointer: { type: 'shadow' } },
        legend: { ...chart({}).legend, data: some ? ['measured', 'published'] : ['measured'] },
        grid: { ...chart({}).grid, top: 40 },
        xAxis: lyingAxis(axis, unit, { min: 0 }),
        yAxis: namesAxis(rows.map(({ label }) => label)),
        series: [
          {
            type: 'bar',
            name: 'measured',
            data: ours.map((figure) => figure && { value: centreOf(figure), ...intervalOf(figure, unit) }),
            barMaxWidth: 26,
            itemStyle: { color: '@c1' },
            ...formats,
            markLine: whiskers(drawn, '@ink'),
          },
          // Invisible points that extend the axis to the ends of the intervals.
          {
            type: 'scatter',
            name: '',
            data: drawn.flatMap((figure, row) => (figure ? [[figure.high, row]] : [])),
            symbolSize: 0,
            silent: true,
          },
          ...(some
            ? [
                {
                  type: 'scatter',
                  name: 'published',
                  data: published.map((value, row) => [value, row]).filter(([value]) => value !== null),
                  symbol: 'diamond',
                  symbolSize: 14,
                  itemStyle: { color: '@c2', borderColor: '@surface', borderWidth: 1 },
                  ...formats,
                },
              ]
            : []),
        ],
      })
    },
  }
}
