import { line, overTime, timeChart, whereLong } from '../lib/report/chart-lines.js'
import { uprightAxis } from '../lib/report/chart-parts.js'

/** @param {import('../lib/result/record.js').Second} second */
const lostPerSecond = ({ items }) => items && items.failed + items.uncertain + items.dropped + items.unsettled

/** @type {import('../lib/report/chart-parts.js').Chart<import('../lib/result/record.js').RunRecord>} */
export const rate = {
  name: 'rate',
  title: 'Rate asked and achieved',
  note: 'Items acknowledged in each second beside those that the schedule asked for.',
  option: (record) => {
    const { seconds, run } = record
    if (seconds.every(({ achieved }) => achieved === undefined)) return null // a consumer's
    const nominal = run.rate?.nominal ?? null
    const lost = overTime(seconds, lostPerSecond)
    return timeChart(record, {
      axis: uprightAxis('items/s', 'count', { min: 0 }),
      series: [
        ...line(
          'achieved',
          overTime(
            seconds,
            whereLong(({ achieved }) => achieved),
          ),
          { color: '@c1', unit: 'count' },
        ),
        ...line(
          'asked',
          overTime(seconds, () => nominal),
          { color: '@c2', dashed: true, unit: 'count' },
        ),
        ...(lost.some(([, n]) => n) ? line('lost', lost, { color: '@bad', unit: 'count' }) : []),
      ],
    })
  },
}
