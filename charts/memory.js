import { nodeLines, timeChart } from '../lib/chart/lines.js'
import { uprightAxis } from '../lib/chart/parts.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { RunRecord } from '../lib/result/record.js'
 */

/** @type {Chart<RunRecord>} */
export const memory = {
  name: 'memory',
  title: 'Memory of every node',
  note: 'As the server counts it (used_memory), buffers for clients and replicas included.',
  fold: 'nodes',
  option: (record) =>
    timeChart(record, {
      axis: uprightAxis('memory, bytes', 'bytes', { min: 0 }),
      series: nodeLines(record.seconds, (row) => row.memory_bytes, 'bytes'),
    }),
}
