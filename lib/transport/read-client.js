// ioredis as a reader: its client for the servers that are read from, and its replies told as the decoder tells them.
import { Cluster, Redis } from 'ioredis'
import { endpointOf } from '../target/address.js'
import { connectorFor } from './connector.js'
import { slotsLimits } from './ioredis-connect.js'

/** @typedef {import('../wire/values.js').ReplySink} ReplySink */

const scales = /** @type {const} */ ({ replica: 'slave', master: 'master', any: 'all' })

/**
 * @param {import('./read-driver.js').ReadDriverOptions} options
 * @param {import('./slot-map.js').Reads} reads
 * @param {string} server of a single target
 * @param {() => void} onStray the topology may be out of date
 */
export const clientOf = ({ plan, target }, reads, server, onStray) => {
  const { username, password, tls, db } = target.access
  const options = {
    username,
    password,
    tls: tls ?? undefined,
    connectTimeout: 5000,
    Connector: connectorFor(target, { sentinels: false, onStray }),
    protocol: /** @type {2} */ (2),
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (/** @type {number} */ times) => Math.min(1000, 50 * 2 ** Math.min(5, times)),
    connectionName: 'millrace',
  }
  if (!plan.cluster) {
    return new Redis({
      ...endpointOf(server),
      ...options,
      db: db ?? 0,
      enableAutoPipelining: true,
      enableOfflineQueue: false,
      lazyConnect: true,
    })
  }
  return new Cluster(target.topology.masters.map(endpointOf), {
    enableAutoPipelining: true,
    enableOfflineQueue: false,
    lazyConnect: true,
    scaleReads: scales[reads],
    slotsRefreshInterval: 2000,
    slotsRefreshTimeout: slotsLimits.firstMs,
    clusterNodeRetryStrategy: (times) => Math.min(1000, 100 * times),
    dnsLookup: (address, callback) => callback(null, address),
    redisOptions: options,
  })
}

/** @typedef {ReturnType<typeof clientOf>} Client */

/**
 * Tells of faults and of connections that are closed, and when nodes come or go.
 * @param {Client} client
 * @param {(kind: string, text: string) => void} tell
 * @param {() => void} onChange
 */
export const followClient = (client, tell, onChange) => {
  client.on('error', (/** @type {Error} */ error) => tell('connection', error.message))
  // A server that closes a connection is no error to the library.
  const follow = (/** @type {Redis} */ node) => {
    onChange()
    node.on('close', () => {
      tell('disconnected', `${node.options.host}:${node.options.port}`)
      onChange()
    })
  }
  if (client instanceof Cluster) client.on('+node', follow)
  else follow(client)
}

/** The client's connection to that server, or any. @param {Client} client @param {string} address */
export const nodeAt = (client, address) => {
  if (!(client instanceof Cluster)) return client
  const { host, port } = endpointOf(address)
  const nodes = client.nodes('all')
  return nodes.find((node) => node.options.host === host && node.options.port === port) ?? nodes[0]
}

/**
 * @param {unknown} reply
 * @param {ReplySink} sink
 * @param {number} [depth]
 */
export const tellReply = (reply, sink, depth = 0) => {
  if (reply === null || reply === undefined) sink.nil()
  else if (Buffer.isBuffer(reply)) sink.bulk(reply, 0, reply.length)
  else if (typeof reply === 'number') sink.number(reply)
  else if (typeof reply === 'string') {
    const bytes = Buffer.from(reply)
    sink.bulk(bytes, 0, bytes.length)
  } else if (reply instanceof Error) sink.error(reply.message)
  else if (Array.isArray(reply)) {
    sink.open(reply.length, depth)
    for (const element of reply) tellReply(element, sink, depth + 1)
  } else if (typeof reply === 'object') {
    // HGETALL, which the library makes an object of.
    const pairs = Object.entries(/** @type {Record<string, unknown>} */ (reply)).flat()
    tellReply(pairs, sink, depth)
  }
}
