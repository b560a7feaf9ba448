import { line, overTime, timeChart } from '../lib/chart/lines.js'
import { uprightAxis } from '../lib/chart/parts.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { RunRecord } from '../lib/result/record.js'
 */

/** @type {Chart<RunRecord>} */
export const itemsRead = {
  name: 'items-read',
  title: 'Items read',
  note: 'Items that came back in each second, with all consumers of this process.',
  option: (record) =>
    timeChart(record, {
      axis: uprightAxis('items read/s', 'count', { min: 0 }),
      series: line(
        'items read',
        overTime(record.seconds, ({ items_per_s: items }) => items),
        { color: '@c1', unit: 'count' },
      ),
    }),
}
