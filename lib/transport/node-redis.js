// node-redis: one client, which puts the commands of a turn of the event loop into one write. Redirects and the queue of
// a lost connection are the library's; it never repeats what it has written.
import { createClient, createCluster, ErrorReply, RESP_TYPES } from 'redis'
import { errorOf } from '../base/errors.js'
import { addressOf, endpointOf } from '../servers/address.js'
import { reasonFor } from '../servers/reason.js'
import { closed as closedReason } from './topology-events.js'

/**
 * @import { EventEmitter } from 'node:events'
 * @import { RedisClientOptions } from 'redis'
 * @import { Fault, Library, LibraryNeeds } from './library.js'
 * @import { Endpoint } from '../servers/address.js'
 * @import { Access } from '../servers/dial.js'
 */

// They come before a command is written, or instead of a redirect that was not followed.
const neverSent = new Set([
  'ClientClosedError',
  'ClientOfflineError',
  'MaxCommandRedirectionsError',
  'RootNodesUnavailableError',
  'TypeError',
])
// The library removes the limit of a command when it writes it.
const timedOutWaiting = (/** @type {Error} */ { constructor: { name } }) => name === 'TimeoutError'
const isFull = (/** @type {Error} */ { message }) => /^(The queue is full|Cannot find node )/.test(message)

/** @param {unknown} error @returns {Fault} */
const faultOf = (error) => {
  const reason = errorOf(error)
  if (reason instanceof ErrorReply) return { line: reason.message, left: true, atOnce: false }
  const isUnsent = neverSent.has(reason.constructor.name) || timedOutWaiting(reason) || isFull(reason)
  return { line: null, left: !isUnsent, atOnce: false }
}

/** As the library's own, which ends the client after a socketTimeout. @param {number} retries */
const reconnectMs = (retries) => Math.min(2 ** retries * 50, 2000) + Math.floor(Math.random() * 200)

/**
 * The library logs in with what it is given, at once for its connection and for each later one.
 * @param {Access} access
 * @returns {Partial<RedisClientOptions>}
 */
const loginOf = (access) => {
  const { loginAgainMs } = access
  const now = () => ({ username: access.username, password: access.password })
  if (loginAgainMs === undefined) return now()
  return {
    credentialsProvider: {
      type: 'streaming-credentials-provider',
      subscribe: async ({ onNext }) => {
        const timer = setInterval(() => onNext(now()), loginAgainMs).unref()
        return [now(), { dispose: () => clearInterval(timer) }]
      },
      // It stays logged in by the token before.
      onReAuthenticationError: () => {},
    },
  }
}

/** @param {LibraryNeeds} needs */
const optionsOf = ({ target: { access }, bytes, options }) => ({
  /** @type {2 | 3} */
  RESP: bytes ? 2 : 3,
  ...loginOf(access),
  name: 'millrace',
  disableOfflineQueue: Boolean(options.disableOfflineQueue),
  pingInterval: Number(options.pingInterval) || undefined,
  socket: /** @type {any} */ ({
    connectTimeout: Number(options.connectTimeout) || undefined,
    ...(options.socketTimeout && {
      socketTimeout: Number(options.socketTimeout),
      reconnectStrategy: reconnectMs,
    }),
    ...(access.tls && { ...access.tls, tls: true }),
  }),
  commandOptions: {
    timeout: Number(options.commandTimeout) || undefined,
    ...(bytes && { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } }),
  },
})

/** Reports the events of one server. @param {EventEmitter} client @param {string} address @param {LibraryNeeds['events']} events */
const followServer = (client, address, events) => {
  client.on('error', (/** @type {Error} */ error) => {
    if (error instanceof ErrorReply) events.turnedAway(error.message)
    events.down(address, reasonFor(address, error) || closedReason)
  })
  client.on('ready', () => {
    events.up(address)
    events.ready()
  })
}

/** @param {EventEmitter} cluster @param {LibraryNeeds['events']} events */
const followNodes = (cluster, events) => {
  cluster.on('error', () => {})
  cluster.on('node-error', (/** @type {Error} */ error, /** @type {Endpoint} */ node) =>
    events.down(addressOf(node), reasonFor(addressOf(node), error)),
  )
  cluster.on('node-ready', (/** @type {Endpoint} */ node) => events.up(addressOf(node)))
}

/** @param {LibraryNeeds} needs @returns {Library} */
const ofServer = (needs) => {
  const { address, target, events, options } = needs
  const { socket, ...rest } = optionsOf(needs)
  const client = createClient(
    /** @type {any} */ ({
      ...rest,
      socket: { ...socket, ...endpointOf(address) },
      database: target.access.db ?? 0,
    }),
  )
  followServer(client, address, events)
  const send = (/** @type {(string | Buffer)[]} */ args) => client.sendCommand(args)
  return {
    limit: Number(options.inFlight),
    connect: async () => {
      await untilTold(client, () => client.connect())
    },
    send,
    sendTo: send,
    ownerOf: () => undefined,
    faultOf,
    refreshSlots: () => {},
    connections: () => [],
    close: () => client.destroy(),
  }
}

/** The library retries for ever: the first fault ends it. @param {EventEmitter} client @param {() => Promise<unknown>} connect */
const untilTold = (client, connect) =>
  new Promise((resolve, reject) => {
    client.once('error', reject)
    connect().then(resolve, reject)
  })

/** @param {LibraryNeeds} needs @returns {Library} */
const ofCluster = (needs) => {
  const { target, reads, events, options } = needs
  const { commandOptions, RESP, ...defaults } = optionsOf(needs)
  const cluster = createCluster(
    /** @type {any} */ ({
      rootNodes: target.topology.masters.map((address) => ({ socket: endpointOf(address) })),
      defaults,
      RESP,
      commandOptions,
      useReplicas: reads === 'any',
      maxCommandRedirections: Number(options.maxCommandRedirections),
      topologyRefreshOnReconnectionAttempt: Number(options.topologyRefreshOnReconnectionAttempt),
    }),
  )
  followNodes(cluster, events)
  const isRead = reads === 'any'
  return {
    limit: Number(options.inFlight),
    connect: async () => {
      await cluster.connect()
    },
    send: (args, key) => cluster.sendCommand(key, isRead, args),
    async sendTo(args, at) {
      const node = /** @type {any} */ (cluster.nodeByAddress.get(at) ?? cluster.masters[0])
      return (await cluster.nodeClient(node)).sendCommand(args, commandOptions)
    },
    ownerOf: (slot) => cluster.slots[slot]?.master.address,
    faultOf,
    // It updates its slots itself at a redirect.
    refreshSlots: () => {},
    connections: () => [],
    close: () => cluster.destroy(),
  }
}

/** @param {LibraryNeeds} needs */
export const nodeRedisLibrary = (needs) => (needs.cluster ? ofCluster(needs) : ofServer(needs))
