import { highest, line, overTime, sinceWarmUp, timeChart } from '../lib/report/chart-lines.js'
import { latencyAxis } from '../lib/report/chart-parts.js'

/** @type {import('../lib/report/chart-parts.js').Chart<import('../lib/result/record.js').RunRecord>} */
export const bystander = {
  name: 'bystander',
  title: 'What another application feels',
  note: 'One PING each 20 ms to every master on a connection of its own, timed from the moment it was due.',
  option: (record) => {
    const felt = (/** @type {'p50' | 'p99' | 'max'} */ key) =>
      overTime(
        record.seconds,
        sinceWarmUp(record, ({ bystander_us: found }) => found?.[key] ?? null),
        highest,
      )
    return timeChart(record, {
      axis: latencyAxis('latency of a PING'),
      series: [
        ...line('p50', felt('p50'), { color: '@c1', unit: 'us' }),
        ...line('p99', felt('p99'), { color: '@c3', unit: 'us' }),
        ...line('max', felt('max'), { color: '@c5', dashed: true, width: 1.5, unit: 'us' }),
      ],
    })
  },
}
