import { withLimits } from '../lib/chart/limits.js'
import { latencyOverTime, line, timeChart } from '../lib/chart/lines.js'
import { latencyAxis } from '../lib/chart/parts.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { RunRecord } from '../lib/result/record.js'
 */

/** @type {Chart<RunRecord>} */
export const bystander = {
  name: 'bystander',
  title: 'Latency of other clients',
  note: 'One PING each 20 ms to every master on a connection of its own, timed from the moment it was due.',
  fold: 'latency',
  option: (record) => {
    const time = (/** @type {'p50' | 'p99' | 'max'} */ key) =>
      latencyOverTime(record, ({ bystander_us: found }) => found, key)
    return timeChart(record, {
      axis: latencyAxis('latency of a PING'),
      series: withLimits(record, /^bystander\./, [
        ...line('p50', time('p50'), { color: '@c1', unit: 'us' }),
        ...line('p99', time('p99'), { color: '@c3', unit: 'us' }),
        ...line('max', time('max'), { color: '@c5', dashed: true, width: 1.5, unit: 'us' }),
      ]),
    })
  },
}
