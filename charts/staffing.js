import { line } from '../lib/chart/lines.js'
import { chart, legendOf, lyingAxis, uprightAxis } from '../lib/chart/parts.js'

/**
 * @import { StaffingAnswer } from '../lib/answers/staff.js'
 * @import { Chart } from '../lib/chart/parts.js'
 */

/** Capacity over the number of nodes that share the same total load. @type {Chart<StaffingAnswer>} */
export const staffingChart = {
  name: 'staffing',
  title: 'Capacity for the same load on more, smaller nodes',
  note: 'All separate nodes together, against one node for the sum of their loads.',
  option: ({ unit, counts, margin }) => {
    const at = (/** @type {(row: StaffingAnswer['counts'][number]) => number} */ value) =>
      counts.map((row) => [row.nodes, value(row)])
    const curves = [
      ...line(
        'one of the nodes may fail',
        at(({ afterFailure }) => afterFailure),
        {
          color: '@c3',
          dashed: true,
          unit,
        },
      ),
      ...line(
        'no more risk than one node',
        at(({ sameRisk }) => sameRisk),
        { color: '@c2', unit },
      ),
      ...line(
        `separate nodes, margin ${margin}`,
        at(({ separate }) => separate),
        { color: '@c1', width: 2.5, unit },
      ),
      ...line(
        `one node, margin ${margin}`,
        at(({ single }) => single),
        { color: '@muted', width: 2.5, unit },
      ),
    ]
    return chart({
      legend: legendOf(curves),
      xAxis: lyingAxis('nodes, log scale', 'count', {
        type: 'log',
        min: 1,
        max: counts.at(-1)?.nodes,
        logBase: 2,
      }),
      yAxis: uprightAxis('capacity of all nodes', unit, { min: 0 }),
      series: curves.map((curve) => ({ ...curve, showSymbol: true, symbol: 'circle', symbolSize: 5 })),
    })
  },
}
