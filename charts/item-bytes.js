import { bytes } from '../lib/base/units.js'
import { stackedBars } from '../lib/chart/parts.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { RunRecord } from '../lib/result/record.js'
 */

/** @type {Chart<RunRecord>} */
export const itemBytes = {
  name: 'item-bytes',
  title: 'Memory and network per item',
  note: 'Memory of the data set on the masters; bytes in and out of the masters, the feed of their replicas included.',
  fold: 'cost',
  option: ({ run }) => {
    const { memory_bytes_per_item: memory, net_bytes_per_item: net } = 'items' in run ? run.server : {}
    if (typeof memory !== 'number' && typeof net !== 'number') return null
    const value = typeof memory === 'number' ? Math.min(memory, run.plan.valueBytes ?? 0) : null
    return stackedBars({
      axis: 'bytes per item',
      unit: 'bytes',
      rows: [`memory\n${bytes(memory)}`, `network\n${bytes(net)}`],
      parts: [
        { name: 'the value', color: '@c1', values: [value, null] },
        {
          name: 'its key and the structures around it',
          color: '@c5',
          values: [value === null || typeof memory !== 'number' ? null : memory - value, null],
        },
        { name: 'network', color: '@c3', values: [null, net ?? null] },
      ],
    })
  },
}
