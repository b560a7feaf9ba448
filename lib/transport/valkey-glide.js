// Valkey GLIDE: one client, whose core in Rust has the connections, the map of the slots, the redirects and the retries
// of a connection. What it reports is typed, so faults are put back into the words of the servers.
import { createRequire } from 'node:module'
import { errorOf } from '../base/errors.js'
import { exactly } from '../base/typed.js'
import { endpointOf } from '../servers/address.js'
import { causeOf, isRedirect } from './refusals.js'

/**
 * @import { Fault, Library, LibraryNeeds } from './library.js'
 *
 * @typedef {{ key: unknown, value: unknown[] }} Pair
 */

// Imported only when used: without its part for this platform, import() of the package ends the process (Node 20).
/** @type {typeof import('@valkey/valkey-glide')} */
const glide = createRequire(import.meta.url)('@valkey/valkey-glide')
const { Batch, ClusterBatch, Decoder, GlideClient, GlideClusterClient, Logger, ProtocolVersion } = glide

/** @type {Record<string, string>} */
const kinds = {
  ResponseError: 'ERR',
  NoScriptError: 'NOSCRIPT',
  BusyLoadingError: 'LOADING',
  PermissionDenied: 'NOPERM',
  CrossSlot: 'CROSSSLOT',
  ExecAbortError: 'EXECABORT',
}
const ofServer = /^An error was signalled by the server: - (\w+): (.*)$/s
const asServer = /^([A-Z][A-Z_]*): (.*)$/s
const neverSent = /^Reached maximum inflight requests|FatalSendError/

/** The line with which a server refused; null: another fault. @param {string} message */
const lineOf = (message) => {
  const named = ofServer.exec(message)
  if (named) return `${kinds[named[1]] ?? named[1].toUpperCase()} ${named[2]}`
  const plain = asServer.exec(message)
  return plain && `${plain[1]} ${plain[2]}`
}

/** @param {unknown} error @returns {Fault} */
const faultOf = (error) => {
  const { message, name } = errorOf(error)
  const line = name === 'RequestError' ? lineOf(message) : null
  // It follows redirects itself; a command that it gave up in a batch is retried later.
  if (line !== null && isRedirect(causeOf(line))) return { line: null, left: false, atOnce: false }
  return { line, left: !neverSent.test(message), atOnce: false }
}

const scored = new Set(['ZSCORE', 'ZMSCORE'])
const asText = (/** @type {unknown} */ value) => (typeof value === 'number' ? String(value) : value)
const flat = (/** @type {Pair | unknown[]} */ pair) =>
  Array.isArray(pair) ? pair.map(asText) : [pair.key, asText(pair.value)]

/** A reply as a server gives it in RESP2: the library makes pairs and numbers of it. @param {string[]} args @param {unknown} reply */
const plainReply = (args, reply) => {
  const name = args[0].toUpperCase()
  if (scored.has(name)) return Array.isArray(reply) ? reply.map(asText) : asText(reply)
  if (!Array.isArray(reply)) return reply
  if (name === 'XRANGE' || name === 'XREVRANGE')
    return reply.map((/** @type {Pair} */ { key, value }) => [key, value.flat()])
  if (name === 'HGETALL' || args.includes('WITHSCORES')) return reply.flatMap(flat)
  return reply
}

const reading = exactly({ master: 'primary', replica: 'preferReplica', any: 'allNodes' })

/** @param {LibraryNeeds} needs */
const configOf = ({ cluster, target: { topology, access }, address, reads, options }) => {
  const { username, password, tls } = access
  const servers = cluster ? topology.masters : [...new Set([address, ...topology.masters])]
  const isStrict = tls?.rejectUnauthorized !== false
  return {
    addresses: servers.map(endpointOf),
    clientName: 'millrace',
    useTLS: Boolean(tls),
    ...(password && { credentials: { username, password } }),
    ...(!cluster && { databaseId: access.db ?? 0 }),
    protocol: ProtocolVersion.RESP3,
    readFrom: reading[reads],
    requestTimeout: Number(options.requestTimeout) || undefined,
    inflightRequestsLimit: Number(options.inflightRequestsLimit),
    advancedConfiguration: {
      connectionTimeout: Number(options.connectionTimeout) || undefined,
      tcpNoDelay: Boolean(options.tcpNoDelay),
      ...(tls && {
        tlsAdvancedConfiguration: isStrict
          ? { rootCertificates: /** @type {any} */ (tls.ca ?? undefined) }
          : { insecure: true },
      }),
    },
  }
}

/**
 * The commands of a turn of the event loop as batches that are not atomic.
 * @param {object} needs
 * @param {boolean} needs.cluster
 * @param {number} needs.most commands in one
 * @param {object} [needs.decoder]
 * @param {() => any} needs.client
 */
const batching = ({ cluster, most, decoder, client }) => {
  const Kind = cluster ? ClusterBatch : Batch
  /** @typedef {{ resolve: (reply: unknown) => void, reject: (error: unknown) => void }} Waiting */
  let batch = new Kind(false)
  /** @type {Waiting[]} */
  let waiting = []

  const flush = () => {
    if (waiting.length === 0) return
    const [sent, all] = [batch, waiting]
    batch = new Kind(false)
    waiting = []
    client()
      .exec(sent, false, decoder)
      .then(
        (/** @type {unknown[]} */ replies) => {
          for (const [i, { resolve, reject }] of all.entries())
            if (replies[i] instanceof Error) reject(replies[i])
            else resolve(replies[i])
        },
        (/** @type {unknown} */ error) => {
          for (const { reject } of all) reject(error)
        },
      )
  }
  /** @param {(string | Buffer)[]} args @returns {Promise<unknown>} */
  return (args) =>
    new Promise((resolve, reject) => {
      batch.customCommand(args)
      if (waiting.push({ resolve, reject }) === 1) process.nextTick(flush)
      else if (waiting.length === most) flush()
    })
}

/** @param {LibraryNeeds} needs @returns {Library} */
export const valkeyGlideLibrary = (needs) => {
  const { cluster, bytes, options } = needs
  // Its log would be mixed with our lines.
  Logger.setLoggerConfig('off')
  /** @type {any} */
  let client = null
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const decoder = bytes ? { decoder: Decoder.Bytes } : undefined
  const most = Number(options.batchCommands)
  /** @type {(args: (string | Buffer)[]) => Promise<unknown>} */
  const send =
    most > 1
      ? batching({ cluster, most, decoder, client: () => client })
      : (args) => client.customCommand(args, decoder)
  const plain = async (/** @type {any} */ args, /** @type {Promise<unknown>} */ reply) =>
    bytes ? plainReply(args, await reply) : reply
  const config = configOf(needs)
  return {
    limit: config.inflightRequestsLimit,
    connect: async () => {
      client = cluster
        ? await GlideClusterClient.createClient(config)
        : await GlideClient.createClient(config)
      const { access } = needs.target
      const use = (/** @type {boolean} */ atOnce) =>
        client.updateConnectionPassword(access.password, atOnce).catch(() => {})
      // Its later connections log in with it.
      access.renewed?.(() => use(false))
      // Those that it has log in again.
      if (access.loginAgainMs !== undefined) timer = setInterval(use, access.loginAgainMs, true).unref()
    },
    send: bytes ? (args) => plain(args, send(args)) : send,
    sendTo: (args, at) => {
      const route = cluster ? { route: { type: 'routeByAddress', ...endpointOf(at) } } : {}
      return plain(args, client.customCommand(args, { ...decoder, ...route }))
    },
    ownerOf: () => undefined,
    faultOf,
    // It updates its slots itself.
    refreshSlots: () => {},
    connections: () => [],
    close: () => {
      clearInterval(timer)
      client?.close()
    },
  }
}
