// What an item or a job cost the servers: derived from the nodes' amounts, the items and the idle cost, with no record of its
// own. Where a net cost is null, its reason is in `idle`.
import { netBytesBeside, netCostOf } from '../measure/idle-cost.js'
import { derived, measure, per } from './measure.js'
import { nodeTotals } from './nodes.js'

/**
 * @import { Costed } from './measure.js'
 * @import { NodeTotals } from './nodes.js'
 */

const disturbed = { why: 'the servers used more while idle than while items were written' }

/** @param {Pick<NodeTotals, 'cpu_s' | 'net_bytes' | 'info_bytes' | 'watched'>} totals @param {Costed} costed */
export const costsOf = (
  { cpu_s: cpuS, net_bytes: netBytes, info_bytes: infoBytes, watched },
  { items, idle },
) => {
  const net = netCostOf({ cpuS, items, idle, nodes: watched })
  const overS = Math.max(0, ...watched.map((node) => node.overS))
  return {
    cpu_us_per_item: per(cpuS, items, 1e6),
    cpu_us_per_item_net: net?.net ?? null,
    cpu_us_per_item_net_uncertainty: net?.uncertainty ?? null,
    fixed_cpu_share: net?.fixed_share ?? null,
    idle: net === null && items > 0 && cpuS !== null && !('why' in idle) ? disturbed : idle,
    net_bytes_per_item: per(netBytes, items),
    net_bytes_per_item_net: netBytesBeside({ netBytes, infoBytes, items, idle, overS }),
  }
}

export const costs = measure({
  ...derived,
  name: 'costs',
  of: ['writers'],
  summary: ({ window, whole, costed }) =>
    costed ? { server: costsOf(nodeTotals(window, whole), costed) } : {},
})

/** By all that used the servers in that time. */
export const jobCosts = measure({
  ...derived,
  name: 'job costs',
  of: ['workers'],
  summary({ window, whole, stored }) {
    const { cpu_s: cpuS, net_bytes: netBytes, evicted } = nodeTotals(window, whole)
    return {
      server: { cpu_us_per_job: per(cpuS, stored, 1e6), net_bytes_per_job: per(netBytes, stored), evicted },
    }
  },
})
