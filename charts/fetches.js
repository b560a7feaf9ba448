import { highest, line, overTime, timeChart, withPartial } from '../lib/chart/lines.js'
import { latencyAxis } from '../lib/chart/parts.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { RunRecord } from '../lib/result/record.js'
 */

/** @type {Chart<RunRecord>} */
export const fetches = {
  name: 'fetches',
  title: 'Fetches over time',
  note: 'How long a whole fetch took, its ids and its values, and how old the newest item was when its id was read.',
  option: (record) => {
    const time = (
      /** @type {'duration_us' | 'ids_us' | 'values_us' | 'freshness_us'} */ name,
      /** @type {'p50' | 'max'} */ key,
    ) => {
      const { seconds } = record
      const figure = (/** @type {RunRecord['seconds'][number]} */ second) => second[name]?.[key]
      return overTime(seconds, key === 'max' ? withPartial(seconds, figure, highest) : figure, highest)
    }
    return timeChart(record, {
      axis: latencyAxis('time'),
      series: [
        ...line('fetch, median', time('duration_us', 'p50'), { color: '@c1', unit: 'us' }),
        ...line('fetch, slowest', time('duration_us', 'max'), {
          color: '@c1',
          dashed: true,
          width: 1.5,
          unit: 'us',
        }),
        ...line('ids', time('ids_us', 'p50'), { color: '@c2', width: 1.5, unit: 'us' }),
        ...line('values', time('values_us', 'p50'), { color: '@c3', width: 1.5, unit: 'us' }),
        ...line('age of the newest item', time('freshness_us', 'p50'), { color: '@c4', unit: 'us' }),
      ],
    })
  },
}
