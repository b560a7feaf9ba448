// The read driver on ioredis with auto-pipelining: what a Node application would see. Commands in flight are
// bounded; redirects are the library's, and what it gives up is asked again here.
import { Cluster, Redis } from 'ioredis'
import { TargetError } from '../errors.js'
import { endpointOf } from '../target/address.js'
import { disconnect } from '../target/disconnect.js'
import { slotOf } from '../wire/slot.js'
import { readMapOf } from './read-map.js'
import { sharesOf } from './read-order.js'
import { ReadError } from './read-socket.js'
import { verdictOf } from './verdict.js'

/**
 * @typedef {import('./read-socket.js').ReadDriverOptions} ReadDriverOptions
 * @typedef {import('./read-socket.js').ReadDriver} ReadDriver
 * @typedef {import('../wire/values.js').ReplySink} ReplySink
 */

const maxInFlight = 5000
const againMs = 40
const giveUpMs = 5000

/**
 * A reply of the library, told as the decoder tells one.
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

/** @param {ReadDriverOptions} options @param {'slave' | 'master' | 'all'} scaleReads @param {string} server of a single target */
const clientOf = ({ plan, target }, scaleReads, server) => {
  const { username, password, tls, db } = target.access
  const options = {
    username,
    password,
    tls: tls ?? undefined,
    connectTimeout: 5000,
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
    scaleReads,
    slotsRefreshInterval: 2000,
    slotsRefreshTimeout: 1000,
    clusterNodeRetryStrategy: (times) => Math.min(1000, 100 * times),
    dnsLookup: (address, callback) => callback(null, address),
    redisOptions: options,
  })
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error))
const isRefusal = (/** @type {unknown} */ error) => error instanceof Error && error.name === 'ReplyError'

/**
 * @param {ReadDriverOptions} options
 * @returns {Promise<ReadDriver>}
 */
export const ioredisReadDriver = async (options) => {
  const { plan, target, clock, random, onEvent } = options
  const map = () => readMapOf({ nodes: target.nodes(), ...target.topology }, plan.reads)
  const [server] = map().servers
  const scale = /** @type {const} */ ({ replica: 'slave', master: 'master', any: 'all' })[plan.reads]
  const client = clientOf(options, scale, server)
  /** @type {ReturnType<typeof clientOf> | null} */
  let mains = null
  let closed = false
  let started = false
  let inFlight = 0
  let commands = 0
  /** @type {(() => void)[]} */
  const waiting = []

  client.on('error', (/** @type {Error} */ error) => {
    if (started && !closed) onEvent('connection', error.message)
  })
  // A server that closes a connection is no error to the library.
  const watchNode = (/** @type {Redis} */ node) => {
    node.on('close', () => {
      if (started && !closed) onEvent('disconnected', `${node.options.host}:${node.options.port}`)
    })
  }
  if (client instanceof Cluster) client.on('+node', watchNode)
  else watchNode(client)

  const room = () => {
    if (inFlight < maxInFlight) return null
    return new Promise((/** @type {(value: void) => void} */ resolve) => waiting.push(resolve))
  }
  const over = () => {
    inFlight--
    while (inFlight < maxInFlight && waiting.length > 0) waiting.shift()?.()
  }

  /** The node of a script's keys: the library takes every script for a write. @param {string} key */
  const scriptNode = (key) => {
    if (!(client instanceof Cluster)) return client
    const { host, port } = endpointOf(map().serverOf(map().shardOf(slotOf(key)), 0))
    const nodes = client.nodes('all')
    return nodes.find((node) => node.options.host === host && node.options.port === port) ?? nodes[0]
  }

  /** @param {any} on @param {string[]} args @param {string} key @returns {Promise<unknown>} */
  const call = (on, args, key) => {
    const [name, ...rest] = args
    const node = name === 'EVALSHA' ? scriptNode(key) : on
    commands++
    return node[`${name.toLowerCase()}Buffer`](...rest)
  }

  /**
   * @param {() => any} on
   * @param {string[]} args
   * @param {string} key
   * @param {ReplySink} sink
   */
  const askUntil = async (on, args, key, sink) => {
    const deadline = clock() + giveUpMs
    for (let attempt = 0; ; attempt++) {
      try {
        tellReply(await call(on(), args, key), sink)
        return
      } catch (error) {
        const line = messageOf(error)
        const { action, cause } = isRefusal(error)
          ? verdictOf(line, server)
          : { action: 'later', cause: 'CLOSED' }
        if (action === 'give-up' || action === 'load' || closed || clock() > deadline)
          throw new ReadError(cause, `${args[0]} ${key} is refused: ${line}`)
      }
      await new Promise((resolve) =>
        setTimeout(resolve, againMs * 2 ** Math.min(3, attempt) * (0.5 + random())),
      )
    }
  }

  /**
   * Values of these places; what must be asked again goes into `again`.
   * @param {import('../wire/id-list.js').IdList} list
   * @param {Uint32Array} places
   * @param {import('../readers/declare.js').ValueCommand} command
   * @param {import('../readers/shapes.js').ValueSink} values
   * @param {{ again: number[], given: Record<string, number>, cause: string }} leftover
   */
  const readEach = async (list, places, command, values, leftover) => {
    const failed = (/** @type {unknown} */ error, /** @type {Uint32Array} */ ids) => {
      const { action, cause } = isRefusal(error)
        ? verdictOf(messageOf(error), server)
        : { action: 'later', cause: 'CLOSED' }
      leftover.cause = cause
      if (action === 'give-up') leftover.given[cause] = (leftover.given[cause] ?? 0) + ids.length
      else for (const place of ids) leftover.again.push(place)
    }
    const tell = (/** @type {number} */ place, /** @type {unknown} */ reply) => {
      if (Buffer.isBuffer(reply)) values.value(place, reply, 0, reply.length)
      else values.nil(place)
    }
    /** @type {Promise<void>[]} */
    const all = []
    const send = (/** @type {Uint32Array} */ ids, /** @type {() => Promise<unknown>} */ sent) => {
      inFlight++
      commands++
      all.push(
        sent()
          .then(
            (reply) => {
              const replies = Array.isArray(reply) ? reply : [reply]
              for (const [i, place] of ids.entries()) tell(place, replies[i])
            },
            (error) => failed(error, ids),
          )
          .finally(over),
      )
    }
    const any = /** @type {any} */ (client)
    if (plan.fetch === 'mget' && command.many) {
      const { cluster } = plan
      const shares = sharesOf({ list, places, cluster, many: true, serverOf: map().masterOf })
      for (const { places: ids, cuts } of shares.values()) {
        for (let c = 0; cuts && c + 1 < cuts.length; c++) {
          await room()
          const part = ids.subarray(cuts[c], cuts[c + 1])
          inFlight += part.length - 1
          send(part, () =>
            any.mgetBuffer(Array.from(part, (place) => list.text(place))).finally(() => {
              inFlight -= part.length - 1
            }),
          )
        }
      }
    } else {
      const name = `${command.name.toLowerCase()}Buffer`
      for (let i = 0; i < places.length; i++) {
        const full = room()
        if (full) await full
        const place = places[i]
        send(places.subarray(i, i + 1), () => any[name](list.text(place), ...command.after))
      }
    }
    await Promise.all(all)
  }

  /** @type {ReadDriver['values']} */
  const values = async (list, places, command, sink) => {
    const deadline = clock() + giveUpMs
    const given = /** @type {Record<string, number>} */ ({})
    let wanted = places
    for (let attempt = 0; wanted.length > 0; attempt++) {
      const leftover = { again: /** @type {number[]} */ ([]), given, cause: '' }
      await readEach(list, wanted, command, sink, leftover)
      wanted = Uint32Array.from(leftover.again)
      if (wanted.length === 0) break
      if (closed || clock() > deadline) {
        given[leftover.cause] = (given[leftover.cause] ?? 0) + wanted.length
        break
      }
      await new Promise((resolve) =>
        setTimeout(resolve, againMs * 2 ** Math.min(3, attempt) * (0.5 + random())),
      )
    }
    return given
  }

  const masterClient = async () => {
    if (mains) return mains
    mains = clientOf(options, 'master', target.topology.masters[0])
    mains.on('error', () => {})
    await mains.connect()
    return mains
  }

  try {
    await client.connect()
  } catch (error) {
    disconnect(client)
    throw new TargetError(`${server}: ${messageOf(error)}`, { code: 'CONNECT', cause: error })
  }
  started = true

  return {
    ask: (args, key, sink) => askUntil(() => client, args, key, sink),
    askMaster: async (args, key, sink) => {
      const main = await masterClient().catch((error) => {
        mains = null
        throw new ReadError('CONNECT', messageOf(error))
      })
      await askUntil(() => main, args, key, sink)
    },
    values,
    serverOf: (key, consumer) => {
      const now = map()
      return now.serverOf(now.shardOf(plan.cluster ? slotOf(key) : 0), consumer)
    },
    servers: () => map().servers,
    bare: () => map().bare,
    // The library does not say which of its nodes a command went to.
    figures: () => ({ all: { commands, bytes_in: null } }),
    watch: () => {},
    close: () => {
      closed = true
      disconnect(client)
      if (mains) disconnect(mains)
    },
  }
}
