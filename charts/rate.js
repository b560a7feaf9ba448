import { line, overTime, timeChart, withPartial } from '../lib/chart/lines.js'
import { uprightAxis } from '../lib/chart/parts.js'
import { namesOfKind } from '../lib/loads/names.js'
import { achievedRates } from '../lib/result/achieved.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { RunRecord, Second } from '../lib/result/record.js'
 */

/** @param {Second} second */
const lostPerSecond = ({ items }) => items && items.failed + items.uncertain + items.dropped + items.unsettled

const together = (/** @type {number[]} */ values) => values.reduce((sum, value) => sum + value, 0)

/** The target rate, up to the end of the schedule. @param {RunRecord} record */
const targetOf = ({ run, seconds }) => {
  const nominal = run.rate?.nominal ?? null
  const points = overTime(seconds, ({ phase }) => (phase === 'draining' ? undefined : nominal))
  const endS = (run.plan.durationMs ?? 0) / 1000
  const last = points.at(-1)
  const drained = seconds.find(({ phase }) => phase === 'draining')
  const goesOn = last && drained && last[1] !== null && endS > Number(last[0]) && endS * 1000 <= drained.at_ms
  return goesOn ? [...points, [endS, nominal]] : points
}

/** @type {Chart<RunRecord>} */
export const rate = {
  name: 'rate',
  title: 'Target rate and achieved rate',
  note: 'Items acknowledged in each second beside those that the schedule asks for.',
  option: (record) => {
    const { seconds, run } = record
    if (seconds.every(({ achieved }) => achieved === undefined)) return null // a consumer's
    const unit = `${namesOfKind(run.plan).unit}s/s`
    const rates = achievedRates(record)
    const achieved = overTime(seconds, (_, at) => rates[at])
    const lost = overTime(seconds, withPartial(seconds, lostPerSecond, together))
    return timeChart(record, {
      axis: uprightAxis(unit, 'count', { min: 0, boundaryGap: [0, 0.1] }),
      series: [
        ...line('achieved', achieved, { color: '@c1', unit: 'count' }),
        ...line('target', targetOf(record), { color: '@c2', dashed: true, unit: 'count' }),
        ...(lost.some(([, n]) => n) ? line('lost', lost, { color: '@bad', unit: 'count' }) : []),
      ],
    })
  },
}
