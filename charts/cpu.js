import { nodeLines, timeChart } from '../lib/chart/lines.js'
import { uprightAxis } from '../lib/chart/parts.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { RunRecord } from '../lib/result/record.js'
 */

/** @type {Chart<RunRecord>} */
export const cpu = {
  name: 'cpu',
  title: 'CPU of every node',
  note: 'The main thread (engine), in percent of one core. Masters are solid, their replicas dashed in the same colour.',
  option: (record) =>
    timeChart(record, {
      axis: uprightAxis('engine CPU, % of one core', 'pct', { min: 0 }),
      series: nodeLines(record.seconds, (row) => row.engine_cpu_pct, 'pct'),
    }),
}
