import { setTimeout as sleep } from 'node:timers/promises'
import { TargetError } from '../base/errors.js'
import { slotCount } from '../wire/slot.js'
import { listIn } from './lists.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { ConfigLine } from './embedded-servers.js'
 */

const pollMs = 20

/**
 * Settings while the cluster forms. News travels once in half a node timeout, and CLUSTER SLOTS (7.0) hides a
 * replica until its master's first ping, 10 s by default: with these a cluster of six takes 2 s, not 15. A node that
 * does not answer for a second is taken for failed then, and its replica must not take over.
 * @type {ConfigLine[]}
 */
export const formingConfig = [
  ['cluster-node-timeout', 1000],
  ['cluster-replica-no-failover', 'yes'],
  ['repl-ping-replica-period', 1],
]

const lastingConfig = [
  ['cluster-node-timeout', 5000],
  ['cluster-replica-no-failover', 'no'],
  ['repl-ping-replica-period', 10],
]

/**
 * @typedef {object} Member
 * @property {string} host
 * @property {number} port
 * @property {number} busPort
 * @property {'master' | 'replica'} role
 * @property {number} shard from 1
 * @property {Redis} redis
 */

/**
 * Makes a cluster of empty servers and waits until every node sees it whole.
 * @param {Member[]} members masters first
 * @param {{ slotRanges: boolean, signal: AbortSignal }} options slotRanges: the server knows ADDSLOTSRANGE (7.0)
 */
export async function formCluster(members, { slotRanges, signal }) {
  const masters = members.filter(({ role }) => role === 'master')
  const ids = await Promise.all(members.map(({ redis }) => redis.call('CLUSTER', 'MYID')))
  await Promise.all(members.map(({ redis }, i) => redis.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1)))
  await Promise.all(
    masters.map(({ redis, shard }) => {
      const [from, to] = slotsOf(shard, masters.length)
      if (slotRanges) return redis.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
      return redis.call('CLUSTER', 'ADDSLOTS', ...Array.from({ length: to - from + 1 }, (_, i) => from + i))
    }),
  )
  await meet(members)
  await until(signal, 'the nodes of the local cluster do not find each other', () =>
    every(members, async ({ redis }) =>
      knowsAll(String(await redis.call('CLUSTER', 'NODES')), members.length),
    ),
  )
  await Promise.all(
    members.map(({ role, shard, redis }) =>
      role === 'replica' ? redis.call('CLUSTER', 'REPLICATE', String(ids[shard - 1])) : undefined,
    ),
  )
  const wanted = wantedSlots(members, masters)
  await until(signal, 'the local cluster does not agree on its slots', () =>
    every(members, async ({ redis }) => {
      const info = String(await redis.call('CLUSTER', 'INFO'))
      if (!/^cluster_state:ok\r?$/m.test(info)) return false
      return seenSlots(listIn('CLUSTER SLOTS', await redis.call('CLUSTER', 'SLOTS'))) === wanted
    }),
  )
  await replicasLinked(members, signal)
  await Promise.all(
    members.flatMap(({ redis }) => lastingConfig.map(([name, value]) => redis.config('SET', name, value))),
  )
}

/**
 * Waits until every replica's link to its master is up.
 * @param {{ role: string, redis: Redis }[]} members
 * @param {AbortSignal} signal
 */
export async function replicasLinked(members, signal) {
  const replicas = members.filter(({ role }) => role === 'replica')
  await until(signal, 'the replicas of the local target do not reach their masters', () =>
    every(replicas, async ({ redis }) => (await redis.info('replication')).includes('master_link_status:up')),
  )
}

/**
 * The first and last slot of a shard, slots split evenly.
 * @param {number} shard from 1
 * @param {number} shards
 * @returns {[from: number, to: number]}
 */
function slotsOf(shard, shards) {
  return [Math.floor(((shard - 1) * slotCount) / shards), Math.floor((shard * slotCount) / shards) - 1]
}

/** Every pair is introduced: waiting for gossip would take seconds. @param {Member[]} members */
async function meet(members) {
  const introductions = members.flatMap((from, i) =>
    members.slice(0, i).map((to) => from.redis.call('CLUSTER', 'MEET', to.host, to.port, to.busPort)),
  )
  await Promise.all(introductions)
}

/** @param {string} nodes the answer to CLUSTER NODES @param {number} count */
function knowsAll(nodes, count) {
  const lines = nodes.trim().split('\n')
  return lines.length === count && lines.every((line) => !/handshake|noaddr|\bfail/.test(line.split(' ')[2]))
}

/** @typedef {[from: number, to: number, ...nodes: [host: string, port: number, ...unknown[]][]]} SlotRow */

/** @param {SlotRow[]} rows the answer to CLUSTER SLOTS */
function seenSlots(rows) {
  const lines = rows.map(([from, to, master, ...replicas]) =>
    slotLine(
      from,
      to,
      master[1],
      replicas.map((r) => r[1]),
    ),
  )
  return lines.sort().join('\n')
}

/** @param {Member[]} members @param {Member[]} masters */
function wantedSlots(members, masters) {
  const lines = masters.map(({ port, shard }) => {
    const replicas = members.filter((member) => member.role === 'replica' && member.shard === shard)
    return slotLine(
      ...slotsOf(shard, masters.length),
      port,
      replicas.map((replica) => replica.port),
    )
  })
  return lines.sort().join('\n')
}

/** @param {number} from @param {number} to @param {number} masterPort @param {number[]} replicaPorts */
function slotLine(from, to, masterPort, replicaPorts) {
  return `${from}-${to} ${masterPort} ${replicaPorts.sort((a, b) => a - b).join(' ')}`
}

/** @template T @param {T[]} members @param {(member: T) => Promise<boolean>} holds */
async function every(members, holds) {
  return (await Promise.all(members.map(holds))).every(Boolean)
}

/** @param {AbortSignal} signal @param {string} complaint @param {() => Promise<boolean>} holds */
async function until(signal, complaint, holds) {
  while (!(await holds())) {
    if (signal.aborted) throw new TargetError(complaint)
    await sleep(pollMs)
  }
}
