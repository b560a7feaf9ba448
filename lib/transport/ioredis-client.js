// ioredis as writers and readers use it: the client, how it connects, and what is reported of its connections.
import { Cluster, Redis } from 'ioredis'
import { TargetError } from '../base/errors.js'
import { addressOf, endpointOf } from '../servers/address.js'
import { clientOptions, retryAfter } from '../servers/client-options.js'
import { dial } from '../servers/dial.js'
import { disconnect } from '../servers/disconnect.js'
import { reasonFor } from '../servers/reason.js'
import { connectorFor } from './connector.js'
import { closed as closedReason } from './topology-events.js'

/** A busy server has as long for the first map as for a connection; later another node is asked soon. */
const slotsLimits = { firstMs: 5000, laterMs: 1000 }

/**
 * Connects a client of the library. Where that fails, a plain connection is tried once: the library sees the end of a
 * connection before the words with which a server refused it (maxclients).
 * @param {import('ioredis').Redis | Cluster} client
 * @param {string} address of the server that is asked for the reason
 * @param {import('../servers/dial.js').Access} access
 */
export const connectClient = async (client, address, access) => {
  try {
    await client.connect()
  } catch (cause) {
    disconnect(client)
    const socket = await dial(endpointOf(address), access, { onBytes: () => {}, onClose: () => {} })
    socket.destroy()
    throw new TargetError(reasonFor(address, cause, access), { code: 'CONNECT', cause })
  }
  if (client instanceof Cluster) client.options.slotsRefreshTimeout = slotsLimits.laterMs
}

export const addressOfNode = (/** @type {Redis} */ { options: { host = '', port = 0 } }) =>
  addressOf({ host, port })
const wasClosedByUs = (/** @type {any} */ node) => node.manuallyClosing === true

/**
 * @param {{ cluster: boolean }} plan
 * @param {Pick<import('./socket.js').DriverTarget, 'topology' | 'access' | 'follows'>} target
 * @param {object} options
 * @param {object} options.where the one server is, or who names it
 * @param {() => void} options.onStray the topology may be out of date
 * @param {'master' | 'slave' | 'all'} [options.scaleReads]
 * @param {2 | 3} [options.protocol]
 */
export const clientOf = ({ cluster }, target, { where, onStray, scaleReads = 'master', protocol = 3 }) => {
  const options = {
    Connector: connectorFor(target, { sentinels: 'sentinels' in where, onStray }),
    ...clientOptions(target.access, 'millrace'),
    protocol,
    // A repeat is ours to decide: the library would send RPUSH and XADD twice.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: retryAfter(1000),
  }
  const queueing = { enableAutoPipelining: true, enableOfflineQueue: false, lazyConnect: true }
  if (!cluster) return new Redis({ ...where, ...options, ...queueing, db: target.access.db ?? 0 })
  return new Cluster(target.topology.masters.map(endpointOf), {
    ...queueing,
    scaleReads,
    // The defaults would never look for new slots, nor retry a dead node.
    slotsRefreshInterval: 2000,
    slotsRefreshTimeout: slotsLimits.firstMs,
    clusterNodeRetryStrategy: (times) => Math.min(1000, 100 * times),
    dnsLookup: (address, callback) => callback(null, address),
    redisOptions: options,
  })
}

/**
 * Reports when the library loses a server and finds it again.
 * @param {Redis | Cluster} client
 * @param {string} address of a single server
 * @param {Pick<import('./topology-events.js').Story, 'up' | 'down'>} story
 * @param {() => boolean} isRunning
 */
export const followConnections = (client, address, story, isRunning) => {
  if (client instanceof Cluster) {
    client.on('error', () => {})
    client.on('node error', (/** @type {Error} */ error, /** @type {string} */ node) => {
      if (isRunning()) story.down(node, reasonFor(node, error))
    })
    client.on('+node', (/** @type {Redis} */ node) => {
      const name = addressOfNode(node)
      node.on('ready', () => story.up(name))
      // The library itself closes those that have left, or changed roles.
      node.on('close', () => {
        if (isRunning() && !wasClosedByUs(node)) story.down(name, closedReason)
      })
    })
    return
  }
  let reason = closedReason
  let isAnswer = false
  client.on('error', (/** @type {Error} */ error) => {
    // What the server said says more than how the socket ended thereafter.
    if (isAnswer && error.name !== 'ReplyError') return
    isAnswer = error.name === 'ReplyError'
    reason = reasonFor(address, error)
  })
  client.on('close', () => {
    if (isRunning()) story.down(address, reason)
  })
  client.on('ready', () => {
    reason = closedReason
    isAnswer = false
    story.up(address)
  })
}
