// The read driver over a client library, as a Node application would use it. The library follows redirects.
import { errorOf } from '../base/errors.js'
import { fetchScript } from '../servers/scripts.js'
import { slotOf } from '../wire/slot.js'
import { connectLibrary, libraryNamed } from './library.js'
import { answerLimitOf, answersOf, unansweredCause } from './library-answers.js'
import { longestReplyOf } from './longest-reply.js'
import { ReadError } from './read-driver.js'
import { readsByServer } from './read-order.js'
import { readRetriesOf } from './read-retries.js'
import { readTopologyOf } from './read-topology.js'

/**
 * @import { ReadDriver, ReadDriverOptions } from './read-driver.js'
 * @import { Fault, Library } from './library.js'
 * @import { IdList } from '../wire/id-list.js'
 * @import { ReplySink } from '../wire/values.js'
 * @import { ReadPlan } from '../loads/fetches/plan.js'
 */

// The reads of a client library: one command until it is answered, and the values of ids. Commands in flight are limited,
// and those that the library gives up are retried.

/**
 * @typedef {{ fault: Fault | null, reply: unknown }} Answered the reply, or why there is none with the error
 * @typedef {ReturnType<typeof libraryAskingOf>} Asking
 */

/**
 * Passes the replies of a client library on as the decoder does.
 * @param {unknown} reply
 * @param {ReplySink} sink
 * @param {number} [depth]
 */
const tellReply = (reply, sink, depth = 0) => {
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
    const pairs = Object.entries(reply).flat()
    tellReply(pairs, sink, depth)
  }
}

/** Every command gets an answer or a fault. @param {{ library: Library, plan: ReadPlan, clock: () => number }} needs */
const libraryAskingOf = ({ library, plan, clock }) => {
  /** @typedef {{ sentMs: number, done: (answered: Answered) => void }} One */
  const answers = answersOf({
    library,
    limitMs: answerLimitOf(plan),
    clock,
    onReply: (/** @type {One} */ { done }, reply) => done({ fault: null, reply }),
    onFault: ({ done }, fault, error) => done({ fault, reply: error }),
  })
  return {
    watch: answers.watch,
    hasOverdue: () => answers.hasOverdue(),
    /** @param {() => Promise<unknown>} send @returns {Promise<Answered>} */
    ask: (send) => new Promise((done) => answers.ask({ sentMs: 0, done }, send)),
  }
}

/** A limit for the ids under way. @param {number} most */
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
  const reads = readsByServer({ list, places, cluster, many, serverOf: masterOf })
  for (const { places: ids, cuts } of reads.values())
    for (let c = 0; cuts && c + 1 < cuts.length; c++) yield ids.subarray(cuts[c], cuts[c + 1])
}

/**
 * @typedef {object} LibraryReading what the reads of a library share
 * @property {ReadPlan} plan
 * @property {ReadDriverOptions['target']} target
 * @property {Asking} asking
 * @property {string} server
 * @property {ReturnType<typeof readRetriesOf>} retries
 * @property {() => void} onSend
 *
 * @param {LibraryReading} reading
 * @param {Library} library
 * @param {(slot: number) => string} masterOf
 * @returns {ReadDriver['values']}
 */
const valuesReader = ({ plan, asking, server, retries, onSend }, library, masterOf) => {
  const bound = boundOf(library.limit)

  return (list, places, command, sink) => {
    const many = plan.fetch === 'mget' && command.many
    /** @type {(ids: Uint32Array) => Promise<unknown>} */
    const send = (ids) => {
      const keys = many ? Array.from(ids, (place) => list.text(place)) : [list.text(ids[0])]
      const args = many ? ['MGET', ...keys] : [command.name, keys[0], ...command.after]
      return library.send(args, keys[0], null)
    }
    const answered = (/** @type {Uint32Array} */ ids, /** @type {unknown} */ reply) => {
      const replies = Array.isArray(reply) ? reply : [reply]
      for (const [i, place] of ids.entries()) {
        if (Buffer.isBuffer(replies[i])) sink.value(place, replies[i], 0, replies[i].length)
        else sink.nil(place)
      }
    }

    return retries.untilRead(places, async (wanted, round) => {
      /** @type {Promise<void>[]} */
      const all = []
      for (const ids of commandsFor(plan, masterOf, list, wanted, many)) {
        const full = bound.room()
        if (full) await full
        bound.take(ids.length)
        onSend()
        const done = asking
          .ask(() => send(ids))
          .then(({ fault, reply }) => {
            bound.give(ids.length)
            if (!fault) answered(ids, reply)
            else if (fault.isSilent) round.givenUp(ids, unansweredCause)
            else round.refused(ids, fault.line, server)
          })
        all.push(done)
      }
      await Promise.all(all)
    })
  }
}

/**
 * One command of a reader, asked until it is answered.
 * @param {LibraryReading} reading
 * @param {(slot: number, consumer: number) => string} serverAt
 */
const askerOf =
  ({ target, asking, server, retries, onSend }, serverAt) =>
  (
    /** @type {Library} */ on,
    /** @type {string[]} */ args,
    /** @type {string} */ key,
    /** @type {ReplySink} */ sink,
  ) =>
    retries.untilAnswered(async () => {
      // A library takes every script for a write, so the node of its keys is named.
      const node = args[0] === 'EVALSHA' ? serverAt(slotOf(key), 0) : null
      onSend()
      const { fault, reply } = await asking.ask(() =>
        node ? on.sendTo(args, node) : on.send(args, key, null),
      )
      if (!fault) {
        tellReply(reply, sink)
        return null
      }
      if (fault.isSilent) throw new ReadError(unansweredCause, `${args[0]} ${key}: ${errorOf(reply).message}`)
      return {
        line: fault.line,
        from: server,
        words: `${args[0]} ${key} is refused: ${errorOf(reply).message}`,
        loadScript: () => target.loadScripts(node ?? server, [fetchScript]),
      }
    })

/** @param {ReadDriverOptions} options @returns {Promise<ReadDriver>} */
export const libraryReadDriver = async (options) => {
  const { plan, target, machine } = options
  const { clock } = machine
  const topology = readTopologyOf(options, { connections: () => library.connections() })
  const { topologyEvents, servers, serverAt, masterOf, refresh } = topology
  const [server] = servers()
  let closed = false
  let started = false
  let commands = 0
  // Redirects are the library's own: one that it gave up is tried again later.
  const retries = readRetriesOf({ machine, follows: () => false, isClosed: () => closed })

  // The library has its own map; this one names the nodes in the result.
  const changed = () => {
    if (started && !closed) refresh()
  }
  const events = {
    up: (/** @type {string} */ address) => {
      topologyEvents.up(address)
      changed()
    },
    down: (/** @type {string} */ address, /** @type {string} */ reason) => {
      if (!started || closed) return
      topologyEvents.down(address, reason)
      changed()
    },
    ready: () => {},
    turnedAway: () => {},
    stray: refresh,
  }
  const openLibrary = await libraryNamed(plan.driver)
  const open = (
    /** @type {string} */ address,
    /** @type {'replica' | 'master' | 'any'} */ reads,
    on = events,
  ) =>
    openLibrary({
      cluster: plan.cluster,
      target,
      address,
      reads,
      options: plan.library?.options ?? {},
      bytes: true,
      mostBytes: longestReplyOf(plan),
      clock,
      events: on,
    })
  // Its round trips are not known to us, and a rule refuses it.
  const library = open(server, plan.reads === 'nearest' ? 'any' : plan.reads)
  const asking = libraryAskingOf({ library, plan, clock })
  /** @type {typeof library | null} of masters */
  let mains = null

  const onSend = () => {
    commands++
  }
  const reading = { plan, target, asking, server, retries, onSend }
  const askUntil = askerOf(reading, serverAt)

  const masterLibrary = async () => {
    if (mains) return mains
    const [first] = target.topology.masters
    mains = open(first, 'master', { ...events, up: () => {}, down: () => {} })
    await connectLibrary(mains, first, target.access)
    return mains
  }

  await connectLibrary(library, server, target.access)
  started = true

  return {
    ask: (args, key, sink) => askUntil(library, args, key, sink),
    askMaster: async (args, key, sink) => {
      const main = await masterLibrary().catch((error) => {
        mains = null
        throw new ReadError('CONNECT', errorOf(error).message)
      })
      await askUntil(main, args, key, sink)
    },
    values: valuesReader(reading, library, masterOf),
    serverOf: (key, consumer) => serverAt(plan.cluster ? slotOf(key) : 0, consumer),
    servers,
    bare: topology.bare,
    // The library does not say which of its nodes a command went to.
    figures: () => ({ all: { commands, bytes_in: null } }),
    watch: () => {
      topology.listen()
      asking.watch()
      topology.watch()
    },
    hasOverdue: asking.hasOverdue,
    close: () => {
      closed = true
      topology.close()
      library.close()
      mains?.close()
    },
  }
}
