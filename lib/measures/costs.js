// What an item or a job cost the servers: derived from the nodes' amounts, the items and the idle cost, with no record of its
// own. Where a net cost is null, its reason is in `idle`.
import { idleSecondsBy, netBytesBeside, netCostOf } from '../probes/idle-cost.js'
import { isReplicated, isScript } from '../probes/others.js'
import { isRead } from '../wire/read-commands.js'
import { derived, measure, per } from './measure.js'
import { nodeTotals } from './nodes.js'

/**
 * @import { Costed } from './measure.js'
 * @import { NodeTotals } from './nodes.js'
 * @import { Others } from '../probes/others.js'
 * @import { CommandUse } from '../wire/info.js'
 */

// What of the CPU of replicas is replication, where they serve reads as well. It cannot be counted, so it is known within
// bounds: by what their masters used for the same items, by the time in which a replica executed what was replicated, and by
// what is left when the time in which it executed reads is taken off.

/**
 * @typedef {object} WatchedNode over the window
 * @property {string} address
 * @property {string} role
 * @property {number} shard
 * @property {number} overS
 * @property {number | null} cpuS
 * @property {Record<string, CommandUse>} commands that it executed
 *
 * @typedef {{ leastS: number, mostS: number }} Bounds
 */

// Of the CPU of their masters, idle excluded, replicas without reads used 0.72 to 0.99 (2,000 to 60,000 items/s, evenly and in
// bursts), where masters ran little but writes that are replicated. Reads are not, nor is a write that changes nothing, and of
// a script only the effects are.
const ofMaster = { least: 0.55, most: 1.15 }
// Of what was replicated, at most so much more ran on the masters; of their time, scripts: leases run a few.
const mostUnreplicated = 0.1
// Replicas are sent these where an item expires.
const expiring = new Set(['del', 'unlink'])
// The run sends them beside idle servers too.
const probing = new Set(['ping', 'info', 'time'])

/** Seconds in which commands were executed. @param {WatchedNode['commands']} commands @param {(name: string) => boolean} isCounted */
const executingS = (commands, isCounted) =>
  Object.entries(commands).reduce((sum, [name, { usec }]) => sum + (isCounted(name) ? usec * 1e-6 : 0), 0)

/** @param {WatchedNode['commands']} commands @param {(name: string) => boolean} isCounted */
const callsOf = (commands, isCounted) =>
  Object.entries(commands).reduce((sum, [name, { calls }]) => sum + (isCounted(name) ? calls : 0), 0)

const isWrite = (/** @type {string} */ name) => isReplicated(name) && !expiring.has(name)
const isServed = (/** @type {string} */ name) => isRead(name) && !probing.has(name)

/** Whether a replica executed nearly all that a master of its shard did. @param {WatchedNode} replica @param {WatchedNode} master */
const areAlike = ({ commands: replicated }, { commands }) =>
  callsOf(commands, (name) => isWrite(name) || isServed(name)) <=
    callsOf(replicated, isWrite) * (1 + mostUnreplicated) &&
  executingS(commands, isScript) <= executingS(commands, isWrite) * mostUnreplicated

/**
 * @param {readonly WatchedNode[]} nodes
 * @param {(node: WatchedNode) => number} idleS what a node uses while idle, for as long as it was watched
 * @returns {Bounds | null} of all replicas; null: a node gave no figures, or a replica has no master here
 */
const replicationIn = (nodes, idleS) => {
  /** @type {Map<number, number>} */
  const masters = new Map()
  let [leastS, mostS] = [0, 0]
  for (const node of nodes)
    if (node.role === 'master')
      masters.set(node.shard, (masters.get(node.shard) ?? 0) + Number(node.cpuS) - idleS(node))
  for (const node of nodes.filter(({ role }) => role === 'replica')) {
    const leftS = Number(node.cpuS) - idleS(node)
    const ofShard = nodes.filter(({ role, shard }) => role === 'master' && shard === node.shard)
    const leastShare = ofShard.every((master) => areAlike(node, master)) ? ofMaster.least : 0
    const ofMasterS = Math.max(0, masters.get(node.shard) ?? Number.NaN)
    const executedS = executingS(node.commands, isReplicated)
    const ownLeastS = Math.max(0, Math.min(leftS, Math.max(executedS, leastShare * ofMasterS)))
    leastS += ownLeastS
    mostS += Math.max(
      ownLeastS,
      Math.min(leftS - executingS(node.commands, isRead), ofMaster.most * ofMasterS),
    )
  }
  return Number.isFinite(leastS + mostS) && nodes.every(({ cpuS }) => cpuS !== null)
    ? { leastS, mostS }
    : null
}

const disturbed = { why: 'the servers used more while idle than while items were written' }

// Where others may have cost more than this part of what is left for the items, their part is not known.
const mostOfOthers = 0.05

/** @typedef {Pick<NodeTotals, 'cpu_s' | 'masters_cpu_s' | 'cpu_repeats' | 'net_bytes' | 'info_bytes' | 'watched' | 'each'>} Totals */

/**
 * What an item cost on some nodes without their idle cost, with its uncertainty; null: not known.
 * @param {{ cpuS: number | null, repeats: number | null, othersS: number, nodes: NodeTotals['watched'] } & Costed} of
 */
const netOn = ({ cpuS, repeats, othersS, nodes, items, idle }) => {
  const found = netCostOf({ cpuS, items, idle, nodes })
  const leftS = found ? (found.net * items) / 1e6 : Number(cpuS)
  const isOfOthers = othersS > leftS * mostOfOthers
  const known = found && !isOfOthers ? found : null
  return {
    isOfOthers,
    net: known?.net ?? null,
    uncertainty:
      known && repeats !== null
        ? Math.hypot(known.uncertainty, (repeats * known.net) / (1 - known.fixed_share)) +
          (othersS * 1e6) / items
        : null,
    fixedShare: found?.fixed_share ?? null,
  }
}

// More of the masters' CPU must not be that of readers of replicas, which ask masters for little.
const mostOnMasters = 0.25

/**
 * What an item cost the masters, and of the replicas, which others read from, what replication is: between its bounds. So is
 * what the same others asked of the masters.
 * @param {Totals} totals
 * @param {Costed} costed
 * @returns {{ net: number | null, uncertainty: number | null }} null: not known
 */
const netBesideReads = (totals, { items, idle, others }) => {
  const { each, masters_cpu_s: cpuS, cpu_repeats: repeats, watched } = totals
  const nodes = watched.filter(({ role }) => role === 'master')
  const found = netCostOf({ cpuS, items, idle, nodes })
  const replication = 'why' in idle ? null : replicationIn(each, idleSecondsBy(idle))
  const othersS = others?.masters_cpu_s ?? 0
  const unknown = { net: null, uncertainty: null }
  if (!found || !replication || cpuS === null || repeats === null) return unknown
  const leftS = (found.net * items) / 1e6
  if (othersS > leftS * mostOnMasters) return unknown
  const { leastS, mostS } = replication
  const middleS = (leastS + mostS) / 2
  const halfS = (mostS - leastS + othersS) / 2
  const usAnItem = 1e6 / items
  return {
    net: (leftS - othersS / 2 + middleS) * usAnItem,
    uncertainty: Math.hypot(found.uncertainty, repeats * (cpuS + middleS) * usAnItem) + halfS * usAnItem,
  }
}

/** @param {Totals} totals @param {Costed} costed @param {boolean} [readsReplicas] the run does: what it costs there is not replication alone */
export const costsOf = (totals, costed, readsReplicas = false) => {
  const { cpu_s: cpuS, masters_cpu_s: mastersS, net_bytes: netBytes, info_bytes: infoBytes, watched } = totals
  const { items, idle, others } = costed
  const { cpu_repeats: repeats } = totals
  const gross = per(cpuS, items, 1e6)
  const all = netOn({ ...costed, cpuS, repeats, othersS: others?.cpu_s ?? 0, nodes: watched })
  const masters = watched.filter(({ role }) => role === 'master')
  const ofMasters = netOn({
    ...costed,
    cpuS: mastersS,
    repeats,
    othersS: others?.masters_cpu_s ?? 0,
    nodes: masters,
  })
  const overS = Math.max(0, ...watched.map((node) => node.overS))
  const isUnknown = all.net === null && !all.isOfOthers
  const { net, uncertainty } =
    all.isOfOthers && others?.on === 'replicas' && !readsReplicas ? netBesideReads(totals, costed) : all
  return {
    cpu_us_per_item: gross,
    cpu_us_per_item_uncertainty: gross === null || repeats === null ? null : gross * repeats,
    cpu_us_per_item_net: net,
    cpu_us_per_item_net_uncertainty: uncertainty,
    masters_cpu_us_per_item_net: ofMasters.net,
    fixed_cpu_share: all.fixedShare,
    foreign_calls: all.isOfOthers && others ? foreignOf(others, Number(cpuS)) : null,
    idle: isUnknown && items > 0 && cpuS !== null && !('why' in idle) ? disturbed : idle,
    net_bytes_per_item: per(netBytes, items),
    net_bytes_per_item_net: netBytesBeside({ netBytes, infoBytes, items, idle, overS }),
  }
}

/** @param {Others} others @param {number} cpuS of all */
const foreignOf = ({ cpu_s: othersS, masters_cpu_s: _, ...named }, cpuS) => ({
  ...named,
  cpu_share_most: cpuS > othersS ? othersS / cpuS : 1,
})

export const costs = measure({
  ...derived,
  name: 'costs',
  of: ['writers'],
  summary: ({ window, whole, costed, plan }) =>
    costed ? { server: costsOf(nodeTotals(window, whole), costed, plan.reads !== undefined) } : {},
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
