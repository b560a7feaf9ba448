// The read driver on plain sockets: one connection to each server for all consumers of the process; reads that were
// redirected, refused for now or lost are retried.
import { fetchScript } from '../servers/scripts.js'
import { askingBytes, encodedSize } from '../wire/encode.js'
import { slotOf } from '../wire/slot.js'
import { longestValueOf } from './longest-reply.js'
import { ReadError } from './read-driver.js'
import { readsByServer } from './read-order.js'
import { commandJob, deaf, readQueueOf } from './read-queue.js'
import { readRetriesOf } from './read-retries.js'
import { readTopologyOf } from './read-topology.js'
import { closed as closedReason } from './topology-events.js'

/**
 * @import { ReadDriverOptions, ReadDriver } from './read-driver.js'
 * @import { ReplySink } from '../wire/values.js'
 * @import { ReadQueue, ReadJob } from './read-queue.js'
 * @import { ServerReads } from './read-order.js'
 * @import { Round } from './read-retries.js'
 * @import { IdList } from '../wire/id-list.js'
 * @import { ValueCommand } from '../workloads/declare.js'
 * @import { ValueSink } from '../workloads/shapes.js'
 */

// The connections of a reader: one to each server, the map of who serves what, and what is reported of both.

// Commands on a frozen connection are retried on another server.
const frozenLimitMs = 10_000

/** @param {ReadDriverOptions} options */
const readQueuesOf = (options) => {
  const { plan, target, machine } = options
  /** @type {Map<string, ReadQueue>} */
  const queues = new Map()
  // A fetch waits for the map.
  const topology = readTopologyOf(options, { spacingMs: 0, connections: () => queues.values() })
  const { topologyEvents, servers } = topology
  /** @type {Map<string, Error>} of the start */
  const faults = new Map()
  let started = false
  let closed = false

  /** @type {Parameters<typeof readQueueOf>[0]['onState']} */
  const onState = (address, state, error) => {
    if (error && !started) faults.set(address, error)
    if (!started || closed) return
    if (state === 'up') return topologyEvents.up(address)
    topologyEvents.down(address, error?.message ?? closedReason)
    // Each failed attempt to connect asks again, until the cluster has dropped a dead replica.
    if (topology.isServing(address)) topology.refresh()
  }

  /** @param {string} address @param {boolean} stale old values will do */
  const queueAt = (address, stale) => {
    const readOnly = plan.cluster && stale && plan.reads !== 'master'
    const name = readOnly ? address : `${address} master`
    const known = queues.get(name)
    if (known) return known
    const maxUnansweredBytes = plan.windowBytes
    const open = (/** @type {Parameters<typeof target.dial>[1]} */ events) => target.dial(address, events)
    const limits = { maxUnansweredBytes, mostBytes: longestValueOf(plan) }
    const queue = readQueueOf({ address, readOnly, limits, open, machine, onState })
    queues.set(name, queue)
    if (started) queue.connect()
    return queue
  }

  const close = () => {
    closed = true
    topology.close()
    for (const queue of queues.values()) queue.close()
  }

  return {
    ...topology,
    queueAt: queueAt,
    isClosed: () => closed,

    async connectAll() {
      await Promise.all(servers().map((address) => queueAt(address, true).connect()))
      for (const { address, isUp } of queues.values()) {
        if (isUp()) continue
        close()
        throw faults.get(address) ?? new ReadError('CONNECT', `${address}: ${closedReason}`)
      }
      started = true
    },

    figures() {
      /** @type {Record<string, { commands: number, bytes_in: number }>} */
      const sums = {}
      for (const queue of queues.values()) {
        const { commands, bytes_in } = queue.figures()
        const sum = sums[queue.address] ?? { commands: 0, bytes_in: 0 }
        sums[queue.address] = { commands: sum.commands + commands, bytes_in: sum.bytes_in + bytes_in }
      }
      return sums
    },
    /** Retries what a half-open connection or a frozen server owes. */
    watch() {
      topology.listen()
      for (const queue of queues.values()) if (queue.silentMs() > frozenLimitMs) queue.cut()
      topology.watch()
    },
    close,
  }
}

// The values of ids as a job for one server: each command written straight from the ids' bytes, each reply handed
// to the taker of the values, with the place of its id.

/**
 * @typedef {object} ValuesWanted
 * @property {IdList} list
 * @property {ValueCommand} command
 * @property {boolean} asking each command goes behind an ASKING
 * @property {ValueSink} values
 * @property {{ mean: () => number | null, seen: (bytes: number) => void }} sizes of values
 *
 * @typedef {object} ValuesEvents
 * @property {(place: number, line: string) => void} onRefused
 * @property {(missing: Uint32Array) => void} onClosed places that no reply came for
 * @property {() => void} onDone
 */

const bulk = (/** @type {string} */ text) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`
// The size of values is unknown at first: few are asked for, since each may have 1 MB.
const unknownBytes = 32_768

const digitsOf = (/** @type {number} */ n) => (n < 10 ? 1 : n < 100 ? 2 : n < 1000 ? 3 : String(n).length)

/** @param {Buffer} out @param {number} at @param {IdList} list @param {number} place */
const putId = (out, at, list, place) => {
  const { bytes } = list
  const from = list.startOf(place)
  const to = list.endOf(place)
  const length = to - from
  let next = at
  out[next++] = 36
  if (length < 10) out[next++] = 48 + length
  else if (length < 100) {
    out[next++] = 48 + ((length / 10) | 0)
    out[next++] = 48 + (length % 10)
  } else next += out.write(String(length), next, 'latin1')
  out[next++] = 13
  out[next++] = 10
  if (length < 48) for (let i = from; i < to; i++) out[next++] = bytes[i]
  else {
    bytes.copy(out, next, from, to)
    next += length
  }
  out[next++] = 13
  out[next++] = 10
  return next
}

/** @param {IdList} list @param {number} place */
const idBytes = (list, place) => {
  const length = list.endOf(place) - list.startOf(place)
  return length + 5 + digitsOf(length)
}

/**
 * @param {ValuesWanted} wanted
 * @param {ServerReads} reads places of the ids in the list, and where the commands of several ids begin and, last, end
 * @param {ValuesEvents} events
 * @returns {ReadJob}
 */
export const valuesJob = (wanted, { places, cuts }, { onRefused, onClosed, onDone }) => {
  const { list, command, asking: asks, values, sizes } = wanted
  const commands = cuts ? cuts.length - 1 : places.length
  const tail = Buffer.from(command.after.map(bulk).join(''))
  const name = cuts ? 'MGET' : command.name
  const headOf = (/** @type {number} */ ids) =>
    Buffer.from(`*${1 + ids + command.after.length}\r\n${bulk(name)}`)
  const single = Buffer.concat([asks ? askingBytes : Buffer.alloc(0), headOf(1)])
  const overhead = single.length + tail.length
  let next = 0 // the next command to be sent
  let answered = 0 // the command whose reply is under way
  let cursor = 0 // the id whose value is next
  let isLead = asks

  const endOf = (/** @type {number} */ i) => (cuts ? cuts[i + 1] : i + 1)
  const manyBytes = (/** @type {number} */ i) => {
    if (!cuts) return 0
    let size = encodedSize(['MGET']) + 8
    for (let k = cuts[i]; k < cuts[i + 1]; k++) size += idBytes(list, places[k])
    return size
  }

  /** @type {ReplySink} */
  const sink = {
    open() {},
    bulk(bytes, from, to) {
      if (isLead) return
      sizes.seen(to - from)
      values.value(places[cursor++], bytes, from, to)
    },
    number() {},
    nil() {
      if (!isLead) values.nil(places[cursor++])
    },
    error(line) {
      if (isLead) return
      // The whole command, or one element of it, as a key of another type would be.
      for (const end = endOf(answered); cursor < end; cursor++) onRefused(places[cursor], line)
    },
  }

  return {
    sink,
    repliesEach: asks ? 2 : 1,
    expectBytes: () => {
      const each = (sizes.mean() ?? unknownBytes) + 12
      return cuts && next < commands ? each * (cuts[next + 1] - cuts[next]) : each
    },
    nextBytes: () => {
      if (next === commands) return 0
      return cuts ? manyBytes(next) : overhead + idBytes(list, places[next])
    },
    encodeNext(out, at) {
      let to = at
      if (cuts) {
        to += headOf(cuts[next + 1] - cuts[next]).copy(out, to)
        for (let k = cuts[next]; k < cuts[next + 1]; k++) to = putId(out, to, list, places[k])
      } else {
        for (let i = 0; i < single.length; i++) out[to++] = single[i]
        to = putId(out, to, list, places[next])
        for (let i = 0; i < tail.length; i++) out[to++] = tail[i]
      }
      next++
      return to
    },
    replied() {
      if (isLead) {
        isLead = false
        return
      }
      isLead = asks
      if (++answered === commands) onDone()
    },
    closed() {
      onClosed(places.subarray(cursor))
    },
  }
}

/**
 * One exchange with one server: a command, or the values of ids, and what its replies leave to be done.
 * Resolves with the line that refused the command, and whether the connection ended first.
 * @param {ReadQueue} queue
 * @param {string[]} args
 * @param {ReplySink} sink
 * @param {boolean} [asking]
 * @returns {Promise<{ line: string | null, closed: boolean }>}
 */
const sendOne = (queue, args, sink, asking = false) =>
  new Promise((resolve) => {
    /** @type {string | null} */
    let line = null
    let begun = false
    const noting = {
      ...sink,
      open: (/** @type {number} */ count, /** @type {number} */ depth) => {
        begun = true
        sink.open(count, depth)
      },
      error: (/** @type {string} */ text) => {
        if (begun) sink.error(text)
        else line = text
      },
    }
    if (asking) queue.submit(commandJob(['ASKING'], { sink: deaf, replied() {}, closed() {} }))
    const replied = () => resolve({ line, closed: false })
    const closed = () => resolve({ line: null, closed: true })
    queue.submit(commandJob(args, { sink: noting, replied, closed }))
  })

/**
 * @param {ReadQueue} queue
 * @param {ServerReads} reads
 * @param {Pick<ValuesWanted, 'list' | 'command' | 'values' | 'sizes' | 'asking'>} wanted
 * @param {Round} round
 * @returns {Promise<void>}
 */
const readFrom = (queue, reads, wanted, round) =>
  new Promise((resolve) => {
    const onRefused = (/** @type {number} */ place, /** @type {string} */ line) =>
      round.refused([place], line, queue.address)
    const onClosed = (/** @type {Uint32Array} */ missing) => {
      round.refused(missing, null, queue.address)
      resolve()
    }
    queue.submit(valuesJob(wanted, reads, { onRefused, onClosed, onDone: () => resolve() }))
  })

/** The mean size of values so far. @param {number | null} first */
const sizesSeen = (first) => {
  // An array, since a variable with a fraction is allocated again at each change. NaN: no value yet.
  const mean = Float64Array.of(first ?? Number.NaN)
  return {
    mean: () => (Number.isNaN(mean[0]) ? null : mean[0]),
    seen: (/** @type {number} */ bytes) => {
      mean[0] = Number.isNaN(mean[0]) ? bytes : mean[0] + (bytes - mean[0]) / 16
    },
  }
}

/** @param {ReadDriverOptions} options @returns {Promise<ReadDriver>} */
export const socketReadDriver = async (options) => {
  const { plan, target, machine } = options
  const queues = readQueuesOf(options)
  const { queueAt, serverAt, isClosed, refresh, masterOf } = queues
  const retries = readRetriesOf({ machine, follows: target.follows, isClosed, refresh })
  const sizes = sizesSeen(plan.knowsBytes ? plan.valueBytes : null)
  const slotFor = (/** @type {string} */ key) => (plan.cluster ? slotOf(key) : 0)

  /** @param {string[]} args @param {string} key @param {ReplySink} sink @param {(slot: number) => ReadQueue} queueFor */
  const askUntil = (args, key, sink, queueFor) => {
    const slot = slotFor(key)
    return retries.untilAnswered(async (before, attempts) => {
      const asking = before?.action === 'asking'
      // A replica that has lost the slot names the new master, whose replicas are known after a refresh.
      const isNamed = asking || (attempts > 2 && before?.action === 'there')
      const queue = isNamed && before.address ? queueAt(before.address, false) : queueFor(slot)
      const { line, closed } = await sendOne(queue, args, sink, asking)
      if (line === null && !closed) return null
      const from = queue.address
      // A part of the lost reply may have been passed on: the caller must start again.
      if (closed) throw new ReadError('CLOSED', `${from} closed the connection`)
      return {
        line,
        from,
        words: `${from} refuses ${args[0]} ${key}: ${line}`,
        loadScript: () => target.loadScripts(from, [fetchScript]),
      }
    })
  }

  /** @type {ReadDriver['values']} */
  const values = (list, places, command, sink, consumer) =>
    retries.untilRead(places, async (wanted, round) => {
      const isFirst = round.attempts === 1
      const isTwice = round.attempts > 2
      /** @param {string} address @param {ServerReads} reads @param {boolean} asking */
      const readAt = (address, reads, asking) =>
        readFrom(
          queueAt(address, !asking && !isTwice),
          reads,
          { list, command, values: sink, sizes, asking },
          round,
        )
      const byServer = readsByServer({
        list,
        places: wanted,
        cluster: plan.cluster,
        many: plan.fetch === 'mget' && command.many && isFirst,
        // A read that was redirected twice goes to the slot's master.
        serverOf: isTwice ? masterOf : (slot) => serverAt(slot, consumer),
      })
      await Promise.all([...byServer].map(([address, reads]) => readAt(address, reads, false)))
      const asked = [...round.asking]
      round.asking.clear()
      await Promise.all(
        asked.map(([address, there]) =>
          readAt(address, { places: Uint32Array.from(there), cuts: null }, true),
        ),
      )
    })

  await queues.connectAll()
  return {
    ask: (args, key, sink, consumer) =>
      askUntil(args, key, sink, (slot) => queueAt(serverAt(slot, consumer), true)),
    askMaster: (args, key, sink) => askUntil(args, key, sink, (slot) => queueAt(masterOf(slot), false)),
    values,
    serverOf: (key, consumer) => serverAt(slotFor(key), consumer),
    servers: queues.servers,
    bare: queues.bare,
    figures: queues.figures,
    watch: queues.watch,
    close: queues.close,
  }
}
