// Services that change a cluster only by their own commands: which one to type, and how to see that it is done.

import { several } from '../base/units.js'
import { TargetError } from '../errors.js'

/**
 * @typedef {'move' | 'add-shard' | 'remove-shard' | 'failover'} Change
 * @typedef {{ masters: readonly string[], owners: Uint16Array | null }} Topology
 */

/** A server that does not let its clients change the cluster. */
export class RefusedChange extends TargetError {
  /** @param {string} address @param {Error} cause */
  constructor(address, cause) {
    super(`${address} does not let clients change the cluster (${cause.message})`, { code: 'REFUSED', cause })
  }
}

/** @param {unknown} error */
export const isRefusal = (error) =>
  error instanceof Error &&
  /unknown (sub)?command|NOPERM|not allowed|not permitted|is disabled/i.test(error.message)

const atAmazon = /\.cache\.amazonaws\.com(\.cn)?$/

/**
 * The replication group in a host name of ElastiCache: `clustercfg.GROUP.x.use1.cache.amazonaws.com`,
 * `GROUP.x.clustercfg.use1...`, `GROUP-0001-001.GROUP.x.use1...`.
 * @param {string} host
 */
export const groupIn = (host) => {
  if (!atAmazon.test(host)) return null
  const labels = host.split('.')
  if (labels[0] === 'clustercfg') return labels[1]
  // Only a node has a number behind its group.
  return labels[2] === 'clustercfg' ? labels[0] : labels[0].replace(/(-\d{4})?-\d{3}$/, '')
}

/** The shard's own id in a host name of one of its nodes. @param {string} host */
const nodeGroupIn = (host) => (atAmazon.test(host) ? (/-(\d{4})-\d{3}\./.exec(host)?.[1] ?? null) : null)

/**
 * The line to type where the servers refuse the change, and what stands in it that nobody has told.
 * @param {Change} change
 * @param {object} what
 * @param {string} what.host
 * @param {readonly string[]} what.masters hosts, in the order of their slots
 * @param {number | null} what.shard from 1, where one was named
 */
export const providerCommand = (change, { host, masters, shard }) => {
  const named = shard ?? masters.length
  const group = [host, ...masters].map(groupIn).find((id) => id !== null)
  const nodeGroup = nodeGroupIn(masters[named - 1] ?? '')
  const unknown = [
    ...(group ? [] : ['GROUP stands for the id of the replication group']),
    ...(nodeGroup || change === 'move' || change === 'add-shard'
      ? []
      : [`${padded(named)} is the shard by the order of slots: compare its id`]),
  ]
  return { line: lineOf(change, group ?? 'GROUP', nodeGroup ?? padded(named), masters.length), unknown }
}

const padded = (/** @type {number} */ n) => String(n).padStart(4, '0')

/** @param {Change} change @param {string} group @param {string} nodeGroup @param {number} shards */
const lineOf = (change, group, nodeGroup, shards) => {
  if (change === 'failover')
    return `aws elasticache test-failover --replication-group-id ${group} --node-group-id ${nodeGroup}`
  const wanted = shards + { move: 0, 'add-shard': 1, 'remove-shard': -1 }[change]
  return [
    'aws elasticache modify-replication-group-shard-configuration',
    `--replication-group-id ${group} --node-group-count ${wanted}`,
    ...(change === 'remove-shard' ? [`--node-groups-to-remove ${nodeGroup}`] : []),
    '--apply-immediately',
  ].join(' ')
}

/** Slots that have another owner than before. @param {Topology} before @param {Topology} now */
export const slotsChanged = (before, now) => {
  const { owners } = before
  const { owners: next } = now
  if (!owners || !next) return 0
  return owners.reduce(
    (sum, owner, slot) => sum + Number(before.masters[owner] !== now.masters[next[slot]]),
    0,
  )
}

/**
 * Whether what was asked for has come about.
 * @param {Change} change
 * @param {Topology} before
 * @param {Topology} now
 */
export const isDone = (change, before, now) => {
  if (change === 'add-shard') return now.masters.length > before.masters.length
  if (change === 'remove-shard') return now.masters.length < before.masters.length
  if (change === 'failover') return now.masters.some((address) => !before.masters.includes(address))
  return slotsChanged(before, now) > 0
}

/**
 * What is seen of it, in words.
 * @param {Change} change
 * @param {Topology} before
 * @param {Topology} now
 */
export const seenWords = (change, before, now) => {
  const slots = `${several(slotsChanged(before, now), 'slot')} have new owners`
  if (change === 'move') return slots
  const gone = before.masters.filter((address) => !now.masters.includes(address))
  const come = now.masters.filter((address) => !before.masters.includes(address))
  if (change === 'failover') return `${come.join(', ')} took over from ${gone.join(', ')}; ${slots}`
  return `${several(now.masters.length, 'master')} instead of ${before.masters.length}; ${slots}`
}
