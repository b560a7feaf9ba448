import { exactly } from '../lib/base/typed.js'
import { withLimits } from '../lib/chart/limits.js'
import { latencyOverTime, line, timeChart } from '../lib/chart/lines.js'
import { colour, latencyAxis } from '../lib/chart/parts.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { RunRecord } from '../lib/result/record.js'
 */

const shown = exactly([
  ['p50', 'p50'],
  ['p90', 'p90'],
  ['p99', 'p99'],
  ['p999', 'p99.9'],
  ['max', 'max'],
])

/** @type {Chart<RunRecord>} */
export const latency = {
  name: 'latency',
  title: 'Latency over time',
  note: 'From the moment an item was due to its answer: waiting behind others of its batch counts, as it does for an application. A percentile is drawn where at least ten samples of its second are beyond it.',
  option: (record) =>
    timeChart(record, {
      axis: latencyAxis('latency from the due time'),
      series: withLimits(
        record,
        /^latency(\.intended)?\./,
        shown.flatMap(([key, name], at) =>
          line(
            name,
            latencyOverTime(record, ({ latency_us: found }) => found?.intended, key),
            {
              color: colour(at),
              dashed: key === 'max',
              width: key === 'p99' ? 2.5 : 1.5,
              unit: 'us',
            },
          ),
        ),
      ),
    }),
}
