// The read driver on ioredis with auto-pipelining: what a Node application would see. Commands in flight are
// bounded; redirects are the library's, and what it gives up is asked again here.
import { endpointOf } from '../servers/address.js'
import { disconnect } from '../servers/disconnect.js'
import { fetchScript, loadScript } from '../servers/scripts.js'
import { slotOf } from '../wire/slot.js'
import { silenceOf } from './half-open.js'
import { clientOf, connectClient, followConnections } from './ioredis-client.js'
import { listeningTo } from './ioredis-silence.js'
import { nodeAt, tellReply } from './read-client.js'
import { ReadError } from './read-driver.js'
import { sharesOf } from './read-order.js'
import { readAgain } from './read-retries.js'
import { readTopologyOf } from './read-topology.js'
import { refusalIn } from './refusals.js'

/**
 * @typedef {import('./read-driver.js').ReadDriver} ReadDriver
 * @typedef {import('./read-driver.js').ReadPlan} ReadPlan
 * @typedef {import('./read-driver.js').ReplySink} ReplySink
 * @typedef {import('./read-driver.js').IdList} IdList
 */

const maxInFlight = 5000
const scales = /** @type {const} */ ({ replica: 'slave', master: 'master', any: 'all' })

/** Ids under way, bounded. @param {number} most */
const boundOf = (most) => {
  let inFlight = 0
  /** @type {(() => void)[]} */
  const waiting = []
  return {
    /** null: there is room now. */
    room() {
      if (inFlight < most) return null
      return new Promise((/** @type {(value: void) => void} */ resolve) => waiting.push(resolve))
    },
    /** @param {number} ids */
    take(ids) {
      inFlight += ids
    },
    /** @param {number} ids */
    give(ids) {
      inFlight -= ids
      while (inFlight < most && waiting.length > 0) waiting.shift()?.()
    },
  }
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error))

/**
 * The places of each command.
 * @param {ReadPlan} plan
 * @param {(slot: number) => string} masterOf
 * @param {IdList} list
 * @param {Uint32Array} places
 * @param {boolean} many
 */
function* commandsFor({ cluster }, masterOf, list, places, many) {
  if (!many) {
    for (let i = 0; i < places.length; i++) yield places.subarray(i, i + 1)
    return
  }
  const shares = sharesOf({ list, places, cluster, many, serverOf: masterOf })
  for (const { places: ids, cuts } of shares.values())
    for (let c = 0; cuts && c + 1 < cuts.length; c++) yield ids.subarray(cuts[c], cuts[c + 1])
}

/**
 * @param {object} needs
 * @param {ReadPlan} needs.plan
 * @param {any} needs.client
 * @param {string} needs.server
 * @param {(slot: number) => string} needs.masterOf
 * @param {ReturnType<typeof readAgain>} needs.patience
 * @param {() => void} needs.onSend
 * @returns {ReadDriver['values']}
 */
const valuesReader = ({ plan, client, server, masterOf, patience, onSend }) => {
  const bound = boundOf(maxInFlight)

  return (list, places, command, sink) => {
    const many = plan.fetch === 'mget' && command.many
    const name = `${command.name.toLowerCase()}Buffer`
    /** @type {(ids: Uint32Array) => Promise<unknown>} */
    const send = many
      ? (ids) => client.mgetBuffer(Array.from(ids, (place) => list.text(place)))
      : ([place]) => client[name](list.text(place), ...command.after)
    const answered = (/** @type {Uint32Array} */ ids, /** @type {unknown} */ reply) => {
      const replies = Array.isArray(reply) ? reply : [reply]
      for (const [i, place] of ids.entries()) {
        if (Buffer.isBuffer(replies[i])) sink.value(place, replies[i], 0, replies[i].length)
        else sink.nil(place)
      }
    }

    return patience.untilRead(places, async (wanted, round) => {
      /** @type {Promise<void>[]} */
      const all = []
      for (const ids of commandsFor(plan, masterOf, list, wanted, many)) {
        const full = bound.room()
        if (full) await full
        bound.take(ids.length)
        onSend()
        const done = send(ids).then(
          (reply) => answered(ids, reply),
          (error) => round.refused(ids, refusalIn(error), server),
        )
        all.push(done.finally(() => bound.give(ids.length)))
      }
      await Promise.all(all)
    })
  }
}

/**
 * @param {import('./read-driver.js').ReadDriverOptions} options
 * @returns {Promise<ReadDriver>}
 */
export const ioredisReadDriver = async (options) => {
  const { plan, target, clock, random, onEvent } = options
  const topology = readTopologyOf(options)
  const { story, servers, serverAt, masterOf, refresh } = topology
  const [server] = servers()
  // A driver that speaks RESP3 makes objects of maps.
  const clientAt = (/** @type {string} */ address, /** @type {typeof plan.reads} */ reads) =>
    clientOf(plan, target, {
      where: endpointOf(address),
      onStray: refresh,
      scaleReads: scales[reads],
      protocol: 2,
    })
  const client = clientAt(server, plan.reads)
  /** @type {ReturnType<typeof clientOf> | null} */
  let mains = null
  let closed = false
  let started = false
  let commands = 0
  // Redirects are the library's own: one that it gave up is tried again later.
  const patience = readAgain({ clock, random, follows: () => false, isClosed: () => closed })
  const listening = listeningTo(client, clock)
  const listen = silenceOf({ dial: target.dial, onEvent })

  // The library keeps a map of its own; this one names the nodes in the result.
  const changed = () => {
    if (started && !closed) refresh()
  }
  const connections = {
    up: (/** @type {string} */ address) => {
      story.up(address)
      changed()
    },
    down: (/** @type {string} */ address, /** @type {string} */ reason) => {
      story.down(address, reason)
      changed()
    },
  }
  followConnections(client, server, connections, () => started && !closed)

  /** The library takes every script for a write: the node of its keys is named. @param {string} key */
  const scriptNode = (key) => nodeAt(client, serverAt(slotOf(key), 0))
  /** @param {any} on @param {string[]} args @param {string} key @param {ReplySink} sink */
  const askUntil = (on, args, key, sink) =>
    patience.untilAnswered(async () => {
      const [name, ...rest] = args
      const node = name === 'EVALSHA' ? scriptNode(key) : on
      commands++
      try {
        tellReply(await node[`${name.toLowerCase()}Buffer`](...rest), sink)
        return null
      } catch (error) {
        return {
          line: refusalIn(error),
          from: server,
          words: `${name} ${key} is refused: ${messageOf(error)}`,
          loadScript: () => loadScript(node, fetchScript),
        }
      }
    })

  const masterClient = async () => {
    if (mains) return mains
    const [first] = target.topology.masters
    mains = clientAt(first, 'master')
    mains.on('error', () => {})
    await connectClient(mains, first, target.access)
    return mains
  }

  await connectClient(client, server, target.access)
  started = true

  return {
    ask: (args, key, sink) => askUntil(client, args, key, sink),
    askMaster: async (args, key, sink) => {
      const main = await masterClient().catch((error) => {
        mains = null
        throw new ReadError('CONNECT', messageOf(error))
      })
      await askUntil(main, args, key, sink)
    },
    values: valuesReader({
      plan,
      client,
      server,
      masterOf,
      patience,
      onSend: () => {
        commands++
      },
    }),
    serverOf: (key, consumer) => serverAt(plan.cluster ? slotOf(key) : 0, consumer),
    servers,
    bare: topology.bare,
    // The library does not say which of its nodes a command went to.
    figures: () => ({ all: { commands, bytes_in: null } }),
    watch: () => {
      listen(listening)
      topology.watch()
    },
    close: () => {
      closed = true
      topology.close()
      disconnect(client)
      if (mains) disconnect(mains)
    },
  }
}
