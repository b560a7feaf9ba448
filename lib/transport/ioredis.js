// ioredis with auto-pipelining: how it connects, sends and reports.
import * as ioredis from 'ioredis'
import { errorOf } from '../base/errors.js'
import { exactly } from '../base/typed.js'
import { addressOf, endpointOf } from '../servers/address.js'
import { clientOptions, retryAfter, withLivePassword } from '../servers/client-options.js'
import { connectorFor } from '../servers/connector.js'
import { disconnect } from '../servers/disconnect.js'
import { reasonFor } from '../servers/reason.js'
import { refusalIn, ruleOf } from './refusals.js'
import { closed as closedReason } from './topology-events.js'

/**
 * @import { Fault, Library, LibraryEvents, LibraryNeeds } from './library.js'
 * @import { Cluster, Redis } from 'ioredis'
 * @import { Listened } from './net.js'
 *
 * @typedef {Pick<typeof ioredis, 'Redis' | 'Cluster' | 'Command'>} Classes
 */

// The connections of ioredis that may be half-open: what they have read, and whether they owe answers.

/**
 * @typedef {{ bytesRead: number, destroy: () => void }} Stream
 * @typedef {{ stream?: Stream, commandQueue: { length: number }, options: { host?: string, port?: number } }} Node what is read of the library's
 */

/** Checked once a second, so a silence is known to a second. @param {Cluster | Redis} client @param {() => number} clock */
export const silentConnectionsOf = (client, clock) => {
  /** @type {WeakMap<Stream, { bytes: number, sinceMs: number }>} */
  const heard = new WeakMap()

  /** @param {Node} node */
  const silentMs = ({ stream, commandQueue }) => {
    if (!stream) return 0
    const { bytesRead } = stream
    const last = heard.get(stream)
    if (last?.bytes === bytesRead && commandQueue.length > 0) return clock() - last.sinceMs
    heard.set(stream, { bytes: bytesRead, sinceMs: clock() })
    return 0
  }
  /** @returns {Listened[]} */
  return () => {
    // A class of iovalkey is not one of ioredis.
    const nodes = 'nodes' in client ? client.nodes('all') : [client]
    return /** @type {Node[]} */ (/** @type {unknown} */ (nodes)).map((node) => ({
      address: addressOf({ host: node.options.host ?? '', port: node.options.port ?? 0 }),
      silentMs: () => silentMs(node),
      cut: () => node.stream?.destroy(),
    }))
  }
}

const askAgainMs = 100
/** The first map may take as long as a connection; later another node is asked soon. */
const slotsLimits = { firstMs: 5000, laterMs: 1000 }
const scripts = new Set(['eval', 'evalsha', 'fcall'])
const scales = exactly({ replica: 'slave', master: 'master', any: 'all' })

// The map changed while the pipeline was built, and the library rejects all of it.
const wasRegrouped = (/** @type {Error} */ error) => /same slots allocation group/.test(error.message)
const wasNeverSent = (/** @type {Error} */ error) =>
  wasRegrouped(error) ||
  /enableOfflineQueue|isn't writeable|Failed to refresh slots cache/i.test(error.message)

/** @param {unknown} error @returns {Fault} */
const faultOf = (error) => {
  const reason = errorOf(error)
  return { line: refusalIn(reason), left: !wasNeverSent(reason), atOnce: wasRegrouped(reason) }
}

const addressOfNode = (/** @type {Redis} */ { options: { host = '', port = 0 } }) => addressOf({ host, port })
const wasClosedByUs = (/** @type {any} */ node) => node.manuallyClosing === true
const isCluster = (/** @type {Redis | Cluster} */ client) => 'refreshSlotsCache' in client

/**
 * All replies are judged here: the library would follow any redirect, and repeat a lost RPUSH that was sent alone. Only if
 * all commands of a pipeline get ASK, it follows them: it has sent an ASKING before each.
 * @param {any} client
 * @param {LibraryNeeds['target']['follows']} follows
 */
const ruleReplies = (client, follows) => {
  client.handleError = (
    /** @type {Error} */ error,
    /** @type {unknown} */ _left,
    /** @type {{ defaults: () => void, ask: (slot: number | undefined, address: string) => void, tryagain: () => void }} */ handlers,
  ) => {
    const { action, slot, address = '' } = ruleOf(error.message, '')
    if (action !== 'asking') return handlers.defaults()
    if (follows('its cluster', address)) handlers.ask(slot, address)
    else setTimeout(handlers.tryagain, askAgainMs)
  }
}

/** How each connection is made. @param {LibraryNeeds} needs @param {boolean} sentinels they name the server */
const connectionOptions = ({ target, bytes, mostBytes, events, options: asked }, sentinels) => ({
  Connector: connectorFor(target, { sentinels, onStray: events.stray, mostBytes }),
  ...clientOptions(target.access, 'millrace'),
  // With RESP3 it makes objects of maps, so RESP2 is used.
  /** @type {2 | 3} */
  protocol: bytes ? 2 : 3,
  // Retries are decided here: the library would send RPUSH and XADD twice.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: retryAfter(1000),
  connectTimeout: Number(asked.connectTimeout),
  ...(asked.commandTimeout && { commandTimeout: Number(asked.commandTimeout) }),
})

/** @param {Classes} library @param {LibraryNeeds} needs @returns {Redis | Cluster} */
const clientOf = ({ Redis, Cluster }, needs) => {
  const { cluster, target, address, reads, options: asked } = needs
  const where = target.sentinels?.clientOptions() ?? endpointOf(address)
  const options = connectionOptions(needs, 'sentinels' in where)
  const queueing = {
    enableAutoPipelining: Boolean(asked.enableAutoPipelining),
    enableOfflineQueue: Boolean(asked.enableOfflineQueue),
    lazyConnect: true,
  }
  if (!cluster)
    return withLivePassword(
      new Redis({ ...where, ...options, ...queueing, db: target.access.db ?? 0 }),
      target.access,
    )
  const client = new Cluster(target.topology.masters.map(endpointOf), {
    ...queueing,
    scaleReads: scales[reads],
    // The defaults would never look for new slots, nor retry a dead node.
    slotsRefreshInterval: Number(asked.slotsRefreshInterval) || undefined,
    slotsRefreshTimeout: slotsLimits.firstMs,
    clusterNodeRetryStrategy: (times) => Math.min(1000, 100 * times),
    dnsLookup: (name, callback) => callback(null, name),
    redisOptions: options,
  })
  return withLivePassword(client, target.access)
}

/** Reports when the library loses a server and has it again. @param {Cluster} client @param {LibraryEvents} events */
const followNodes = (client, events) => {
  client.on('error', () => {})
  client.on('node error', (/** @type {Error} */ error, /** @type {string} */ node) =>
    events.down(node, reasonFor(node, error)),
  )
  client.on('+node', (/** @type {Redis} */ node) => {
    const name = addressOfNode(node)
    node.on('ready', () => events.up(name))
    // The library itself closes connections to servers that left or changed roles.
    node.on('close', () => {
      if (!wasClosedByUs(node)) events.down(name, closedReason)
    })
  })
}

/** @param {Redis} client @param {string} address @param {LibraryEvents} events */
const followServer = (client, address, events) => {
  let reason = closedReason
  let isAnswer = false
  client.on('error', (/** @type {Error} */ error) => {
    // The server's error says more than how the socket ended afterwards.
    if (isAnswer && error.name !== 'ReplyError') return
    isAnswer = error.name === 'ReplyError'
    reason = reasonFor(address, error)
  })
  client.on('close', () => events.down(address, reason))
  client.on('ready', () => {
    reason = closedReason
    isAnswer = false
    events.up(address)
  })
}

/**
 * @param {Classes} library
 * @param {{ groupsScripts: boolean }} can whether it puts a script into the pipeline of its key's slots
 * @returns {(needs: LibraryNeeds) => Library}
 */
export const libraryLike =
  (library, { groupsScripts }) =>
  (needs) => {
    const { target, address, bytes, clock, events, options } = needs
    const client = clientOf(library, needs)
    /** @type {any} its commands by name */
    const commands = client
    const ending = bytes ? 'Buffer' : ''
    if (!bytes) ruleReplies(client, target.follows)
    if (isCluster(client)) followNodes(client, events)
    else followServer(client, address, events)
    client.on('ready', events.ready)
    client.on('error', (/** @type {Error} */ error) => {
      const line = refusalIn(error)
      if (line !== null) events.turnedAway(line)
    })

    /** Follows a redirect at the server that it names: the library would fetch the whole map at each one. @param {string} at */
    const masterAt = (at) =>
      isCluster(client) ? client.nodes('master').find((known) => addressOfNode(known) === at) : undefined

    return {
      limit: Number(options.inFlight),
      connect: async () => {
        await client.connect()
        if (isCluster(client)) client.options.slotsRefreshTimeout = slotsLimits.laterMs
      },
      send(args, _key, to) {
        const [name, ...rest] = args
        const command = String(name).toLowerCase()
        const isAlone = !groupsScripts && isCluster(client) && scripts.has(command)
        // The library does not know that server yet: the old owner will redirect again.
        const node = to === null ? undefined : masterAt(to.address)
        if (!node && !isAlone) return commands[command + ending](rest)
        if (node && to?.asking) node.asking().catch(() => {})
        const one = new library.Command(command, rest, { replyEncoding: bytes ? null : 'utf8' })
        return /** @type {Promise<unknown>} */ ((node ?? client).sendCommand(one))
      },
      sendTo([name, ...rest], at) {
        const nodes = isCluster(client) ? client.nodes('all') : [client]
        const node = /** @type {any} */ (nodes.find((known) => addressOfNode(known) === at) ?? nodes[0])
        return node[name.toLowerCase() + ending](...rest)
      },
      ownerOf: (slot) => (isCluster(client) ? /** @type {any} */ (client).slots[slot]?.[0] : undefined),
      faultOf,
      refreshSlots: () => {
        if (isCluster(client)) client.refreshSlotsCache()
      },
      connections: silentConnectionsOf(client, clock),
      close: () => disconnect(client),
    }
  }

export const ioredisLibrary = libraryLike(ioredis, { groupsScripts: true })
