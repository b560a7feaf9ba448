import { micros } from '../lib/base/units.js'
import { stackedBars } from '../lib/chart/parts.js'
import { costParts } from '../lib/result/cost-parts.js'

/**
 * @import { Chart } from '../lib/chart/parts.js'
 * @import { RunRecord } from '../lib/result/record.js'
 */

/** @type {Chart<RunRecord>} */
export const itemCost = {
  name: 'item-cost',
  title: 'CPU time per item',
  note: 'What one item costs the masters, their replicas, and the process that writes or reads it.',
  fold: 'cost',
  option: ({ run }) => {
    const { executing, masters, mastersIdle, replicas, client } = costParts(run)
    if (masters === null && client === null) return null
    const roles = [
      { name: 'masters', us: masters },
      { name: 'replicas', us: replicas },
      { name: 'load generator', us: client },
    ].filter(({ us }) => us !== null)
    const only = (/** @type {string} */ role, /** @type {number | null} */ us) =>
      roles.map(({ name }) => (name === role ? us : null))
    // Commands have wall time: if other processes took the CPU, this is more than their CPU time.
    const idle = mastersIdle ?? 0
    const split = masters !== null && executing !== null && executing + idle < masters
    const ofMasters = split
      ? [
          { name: 'masters: executing commands', color: '@c1', values: only('masters', executing) },
          {
            name: 'masters: sockets, parsing, replication',
            color: '@c5',
            values: only('masters', masters - executing - idle),
          },
          { name: 'masters: idle cost', color: '@c6', values: only('masters', mastersIdle) },
        ]
      : [{ name: 'masters', color: '@c1', values: only('masters', masters) }]
    return stackedBars({
      axis: 'CPU time per item',
      unit: 'us',
      rows: roles.map(({ name, us }) => `${name}\n${micros(us)}`),
      parts: [
        ...ofMasters,
        { name: 'replicas', color: '@c3', values: only('replicas', replicas) },
        { name: 'load generator', color: '@c4', values: only('load generator', client) },
      ].filter(({ values }) => values.some((value) => value !== null)),
    })
  },
}
