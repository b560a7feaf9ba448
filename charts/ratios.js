import { chart, lyingAxis, namesAxis, whiskers } from '../lib/report/chart-parts.js'
import { figureNamed } from '../lib/report/figures.js'

/** @typedef {import('../lib/report/experiment-document.js').ExperimentDocument} ExperimentDocument */

const formats = { tooltip: { valueFormatter: '@ratio' }, emphasis: { disabled: true } }

/** @type {import('../lib/report/chart-parts.js').Chart<ExperimentDocument>} */
export const ratiosChart = {
  name: 'ratios',
  title: 'Ratios within the experiment',
  note: 'What travels from one machine to another, with its 95 % interval; a diamond is the published ratio.',
  option: ({ ratios }) => {
    if (ratios.length === 0) return null
    const published = ratios.flatMap((ratio, row) =>
      ratio.published === null ? [] : [[ratio.published, row]],
    )
    const names = namesAxis(ratios.map(({ label, figure }) => `${label}\n${figureNamed(figure).title}`))
    return chart({
      tooltip: { trigger: 'item' },
      legend: { ...chart({}).legend, data: published.length > 0 ? ['measured', 'published'] : ['measured'] },
      grid: { ...chart({}).grid, top: 40 },
      xAxis: lyingAxis('ratio, 1 is no difference', 'ratio', { min: 0 }),
      yAxis: { ...names, axisLabel: { ...names.axisLabel, width: 230 } },
      series: [
        {
          type: 'scatter',
          name: 'measured',
          data: ratios.map(({ ours }, row) => [ours.ratio, row]),
          symbol: 'circle',
          symbolSize: 11,
          itemStyle: { color: '@c1' },
          ...formats,
          markLine: whiskers(
            ratios.map(({ ours }) => ours),
            '@c1',
          ),
        },
        // Unseen, so that the axis reaches as far as the intervals do.
        {
          type: 'scatter',
          name: '',
          data: ratios.map(({ ours }, row) => [Math.max(1, ours.high ?? ours.ratio), row]),
          symbolSize: 0,
          silent: true,
          markLine: {
            silent: true,
            symbol: 'none',
            label: { show: false },
            lineStyle: { color: '@muted', type: 'dashed', width: 1 },
            data: [{ xAxis: 1 }],
          },
        },
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
      ],
    })
  },
}
