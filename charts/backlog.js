import { line, overTime, timeChart } from '../lib/chart/lines.js'
import { uprightAxis } from '../lib/chart/parts.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { RunRecord } from '../lib/result/record.js'
 */

/** Jobs that wait, of each stage; empty if no second has them. @param {RunRecord['seconds']} seconds */
export const backlogSeries = (seconds) => {
  const waiting = overTime(seconds, (second) => second.backlog)
  if (waiting.every(([, n]) => typeof n !== 'number')) return []
  const between = overTime(seconds, (second) => second.between)
  return [
    ...line('waiting', waiting, { color: '@c1', unit: 'count' }),
    ...(between.some(([, n]) => typeof n === 'number')
      ? line('between filters and outputs', between, { color: '@c2', unit: 'count' })
      : []),
  ]
}

/** @type {Chart<RunRecord>} */
export const backlog = {
  name: 'backlog',
  title: 'Jobs that wait over time',
  note: 'The length of the queue once a second: where it grows, the workers do not sustain the rate.',
  option: (record) =>
    timeChart(record, {
      axis: uprightAxis('jobs', 'count', { min: 0 }),
      series: backlogSeries(record.seconds),
    }),
}
