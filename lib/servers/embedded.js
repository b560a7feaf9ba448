import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorOf, TargetError } from '../base/errors.js'
import { faultIn } from '../base/json-schema.js'
import { ownedContent, takeOwnership } from '../base/lock.js'
import { exactly } from '../base/typed.js'
import { slotCount } from '../wire/slot.js'
import { findServerBinary } from './embedded-binary.js'
import { answering, baseConfig, freePorts, inServerGroup } from './embedded-servers.js'
import { listIn } from './lists.js'

/**
 * @import { ServerBinary } from './embedded-binary.js'
 * @import { ConfigLine, ServerGroup } from './embedded-servers.js'
 * @import { Redis } from 'ioredis'
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
async function replicasLinked(members, signal) {
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

const port = { type: 'integer', minimum: 1, maximum: 65_535 }
const text = { type: 'string' }

/** A state file. */
export const STATE = {
  type: 'object',
  required: ['address', 'endpoints', 'access', 'cluster', 'nodes', 'dir'],
  properties: {
    address: { type: 'string', pattern: '^.+:\\d+$' },
    endpoints: {
      type: 'array',
      minItems: 1,
      items: { type: 'object', required: ['host', 'port'], properties: { host: text, port } },
    },
    access: { type: 'object', required: ['password'], properties: { password: text } },
    cluster: { type: 'boolean' },
    nodes: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['host', 'port', 'pid', 'role', 'shard'],
        properties: {
          host: text,
          port,
          pid: { type: 'integer' },
          shard: { type: 'integer' },
          role: { enum: ['master', 'replica'] },
        },
      },
    },
    dir: text,
  },
}

/**
 * Embedded servers that are running.
 * @typedef {object} Embedded
 * @property {string} address of the first master
 * @property {{ host: string, port: number }[]} endpoints where to ask for the topology
 * @property {{ password: string }} access
 * @property {boolean} cluster
 * @property {{ host: string, port: number, pid: number, role: 'master' | 'replica', shard: number }[]} nodes
 * @property {string} dir
 */

/** The user's private folder of state files. @param {NodeJS.ProcessEnv} [env] */
function stateFolder(env = process.env) {
  const runtimeDir = env.XDG_RUNTIME_DIR
  if (runtimeDir && existsSync(runtimeDir)) return join(runtimeDir, 'millrace')
  return join(tmpdir(), `millrace-${userInfo().uid}`)
}

/**
 * Lets other programs of this user attach. The file's name, or undefined when servers of that kind with a
 * live owner are published already.
 * @param {string} folder
 * @param {Embedded} embedded
 * @returns {string | undefined}
 */
function publish(folder, embedded) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (!isPrivate(folder)) throw new Error(`${folder} is not a private folder of this user`)
  const file = stateFile(folder, embedded.cluster)
  return takeOwnership(file, embedded) ? file : undefined
}

/**
 * The published servers of that kind, if their owner is alive; a stale file is removed.
 * @param {string} folder
 * @param {boolean} cluster
 * @returns {Embedded | null}
 */
export function readState(folder, cluster) {
  if (!isPrivate(folder)) return null
  const file = stateFile(folder, cluster)
  const found = ownedContent(file)
  if (found === null) return null
  const fault = faultIn(found, STATE)
  if (fault)
    throw new TargetError(`${file} is not what a writer with local servers leaves: ${fault}; remove it`)
  const { ownerPid, ownerStarted, ownerHost, ...embedded } = found
  return embedded
}

/** @param {string} folder @param {boolean} cluster */
function stateFile(folder, cluster) {
  return join(folder, `${cluster ? 'cluster' : 'single'}.json`)
}

/** A folder (no link) of this user that no other user can read. @param {string} folder */
function isPrivate(folder) {
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  if (!stats?.isDirectory()) return false
  return stats.uid === userInfo().uid && (stats.mode & 0o077) === 0
}

const startLimitMs = 30_000

/** @typedef {{ role: 'master' | 'replica', shard: number }} Place */

/**
 * Starts private servers on loopback, in memory only, and waits until they are ready. They end with
 * `close()`, at the latest with this process, however it ends.
 * @param {object} options
 * @param {boolean} options.cluster
 * @param {number} [options.shards] masters of a cluster
 * @param {number} [options.replicas] of each master; 1 in a cluster, else 0
 * @param {string} [options.serverBin]
 * @param {readonly ConfigLine[]} [options.config] lines beside our own
 * @param {string | null} [options.stateDir] where other programs find them; null: nowhere
 * @param {(line: string) => void} options.log
 * @returns {Promise<Embedded & { close(): Promise<void> }>}
 */
export async function startEmbedded({
  cluster,
  shards = 3,
  replicas = cluster ? 1 : 0,
  serverBin,
  config = [],
  stateDir = stateFolder(),
  log,
}) {
  const binary = findServerBinary(serverBin)
  const places = placesOf(cluster ? shards : 1, replicas)
  const { group, result: embedded } = await inServerGroup(binary, (group) =>
    started(group, binary, cluster, places, config),
  )
  try {
    const file = stateDir === null ? undefined : publish(stateDir, embedded)
    if (file) group.ownState(file)
  } catch (error) {
    log(`other programs cannot attach: ${errorOf(error).message}`)
  }
  log(
    `started a local ${described(cluster, places)} on ${embedded.address} (${binary.name} ${binary.version})`,
  )
  /** @type {Promise<void> | undefined} */
  let closed
  return {
    ...embedded,
    close() {
      closed ??= group.close()
      return closed
    },
  }
}

/**
 * The embedded servers that another program of this user runs, or null.
 * @param {{ cluster?: boolean, stateDir?: string }} [options] without `cluster` either kind will do
 * @returns {Embedded | null}
 */
export function findEmbedded({ cluster, stateDir = stateFolder() } = {}) {
  const kinds = cluster === undefined ? [true, false] : [cluster]
  for (const kind of kinds) {
    const embedded = readState(stateDir, kind)
    if (embedded) return embedded
  }
  return null
}

/** @param {number} shards @param {number} replicas @returns {Place[]} */
function placesOf(shards, replicas) {
  const numbers = Array.from({ length: shards }, (_, i) => i + 1)
  return [
    ...numbers.map((shard) => ({ role: exactly('master'), shard })),
    ...numbers.flatMap((shard) => Array(replicas).fill({ role: 'replica', shard })),
  ]
}

/**
 * @param {ServerGroup} group
 * @param {ServerBinary} binary
 * @param {boolean} cluster
 * @param {Place[]} places
 * @param {readonly ConfigLine[]} more
 * @returns {Promise<Embedded>}
 */
async function started(group, binary, cluster, places, more) {
  const signal = AbortSignal.timeout(startLimitMs)
  const password = randomBytes(24).toString('base64url')
  const oldBus = binary.major < 7
  const ports = await freePorts(places.length, !cluster ? 'none' : oldBus ? 'plus10000' : 'any')
  const servers = places.map((place, i) => {
    const { port, busPort } = ports[i]
    const config = [...baseConfig({ port, password }), ...more]
    // DEBUG fills and reloads the servers; before 7.0 it needs no permission.
    if (!oldBus) config.push(['enable-debug-command', 'local'])
    if (cluster) {
      config.push(['cluster-enabled', 'yes'], ['cluster-config-file', 'nodes.conf'])
      config.push(['cluster-announce-ip', '127.0.0.1'], ...formingConfig)
      if (!oldBus) config.push(['cluster-port', busPort])
    } else if (place.role === 'replica') config.push(['replicaof', '127.0.0.1', ports[0].port])
    return { ...place, busPort, ...group.launch(`${place.role}-${i + 1}`, port, config) }
  })
  const clients = await Promise.allSettled(servers.map((server) => answering(server, password, signal)))
  try {
    const members = servers.map((server, i) => {
      const client = clients[i]
      if (client.status === 'rejected') throw client.reason
      return { ...server, redis: client.value }
    })
    if (cluster) await formCluster(members, { slotRanges: !oldBus, signal })
    else await replicasLinked(members, signal)
  } catch (error) {
    if (error instanceof TargetError) throw error
    throw new TargetError(`the local servers did not start: ${errorOf(error).message}`, {
      cause: error,
    })
  } finally {
    for (const client of clients) if (client.status === 'fulfilled') client.value.disconnect()
  }
  const nodes = servers.map(({ host, port, pid, role, shard }) => ({ host, port, pid, role, shard }))
  const endpoints = nodes
    .filter(({ role }) => cluster || role === 'master')
    .map(({ host, port }) => ({ host, port }))
  const address = `${endpoints[0].host}:${endpoints[0].port}`
  return { address, endpoints, access: { password }, cluster, nodes, dir: group.dir }
}

/** @param {boolean} cluster @param {Place[]} places */
function described(cluster, places) {
  const masters = places.filter(({ role }) => role === 'master').length
  const replicas = places.length - masters
  const withReplicas = replicas ? ` and ${replicas} replica${replicas === 1 ? '' : 's'}` : ''
  if (!cluster) return `server${withReplicas.replace('and', 'with')}`
  return `cluster of ${masters} master${masters === 1 ? '' : 's'}${withReplicas}`
}
