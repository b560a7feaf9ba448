import { randomBytes } from 'node:crypto'
import { errorOf, TargetError } from '../base/errors.js'
import { exactly } from '../base/typed.js'
import { findServerBinary } from './embedded-binary.js'
import { formCluster, formingConfig, replicasLinked } from './embedded-cluster.js'
import { answering, baseConfig, freePorts, inServerGroup } from './embedded-servers.js'
import { publish, readState, stateFolder } from './embedded-state.js'

/**
 * @import { ServerBinary } from './embedded-binary.js'
 * @import { ConfigLine, ServerGroup } from './embedded-servers.js'
 * @import { Embedded } from './embedded-state.js'
 */

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
