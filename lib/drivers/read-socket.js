// The read driver on plain sockets: one connection a server for all consumers of the process; what is redirected,
// refused for now, or lost with a connection is asked again.
import { MillraceError } from '../errors.js'
import { slotOf } from '../wire/slot.js'
import { valuesJob } from './read-jobs.js'
import { commandJob, readLaneOf } from './read-lane.js'
import { readMapOf } from './read-map.js'
import { sharesOf } from './read-order.js'
import { verdictOf } from './verdict.js'

/**
 * @typedef {import('../plan/read-plan.js').ReadPlan} ReadPlan
 * @typedef {import('../wire/values.js').ReplySink} ReplySink
 * @typedef {import('../wire/id-list.js').IdList} IdList
 * @typedef {import('../readers/declare.js').ValueCommand} ValueCommand
 * @typedef {import('../readers/shapes.js').ValueSink} ValueSink
 * @typedef {import('./read-lane.js').ReadLane} ReadLane
 *
 * @typedef {object} ReadDriverOptions
 * @property {ReadPlan} plan
 * @property {ReadTarget} target
 * @property {() => number} clock
 * @property {() => number} random
 * @property {(kind: string, text: string) => void} onEvent
 *
 * @typedef {object} ReadTarget what a read driver needs of a target
 * @property {import('../target/dial.js').Access} access
 * @property {() => readonly import('../target/topology.js').TargetNode[]} nodes
 * @property {{ masters: readonly string[], owners: Uint16Array | null }} topology
 * @property {(address: string, events: { onBytes: (chunk: Buffer) => void, onClose: (error?: Error) => void }) => Promise<import('node:net').Socket>} dial
 * @property {() => Promise<unknown>} refresh
 *
 * @typedef {object} ReadDriver
 * @property {(args: string[], key: string, sink: ReplySink, consumer: number) => Promise<void>} ask one command
 * @property {(list: IdList, places: Uint32Array, command: ValueCommand, values: ValueSink, consumer: number) => Promise<Record<string, number>>} values
 *   of ids; resolves with what was refused for good, by cause
 * @property {(args: string[], key: string, sink: ReplySink) => Promise<void>} askMaster
 * @property {(key: string, consumer: number) => string} serverOf a key, as an address
 * @property {() => readonly string[]} servers
 * @property {() => readonly number[]} bare shards that have no replica
 * @property {() => Record<string, { commands: number, bytes_in: number | null }>} figures by server
 * @property {() => void} watch
 * @property {() => void} close
 */

const againMs = 40
const giveUpMs = 5000
const silentLimitMs = 10_000

/** A read that was given up; `cause` is what it is counted by. */
export class ReadError extends MillraceError {
  /** @param {string} cause @param {string} message */
  constructor(cause, message) {
    super('READ', message)
    this.causeName = cause
  }
}

/**
 * How large values are, as a mean that follows them.
 * @param {number | null} first
 */
const sizesSeen = (first) => {
  let mean = first
  return {
    mean: () => mean,
    seen: (/** @type {number} */ bytes) => {
      mean = mean === null ? bytes : mean + (bytes - mean) / 16
    },
  }
}

/**
 * @param {ReadDriverOptions} options
 * @returns {Promise<ReadDriver>}
 */
export const socketReadDriver = async ({ plan, target, clock, random, onEvent }) => {
  const topology = () => ({ nodes: target.nodes(), ...target.topology })
  let map = readMapOf(topology(), plan.reads)
  const sizes = sizesSeen(plan.knowsBytes ? plan.valueBytes : null)
  /** @type {Map<string, ReadLane>} */
  const lanes = new Map()
  /** @type {Map<string, number>} */
  const downSince = new Map()
  let started = false
  let closed = false
  /** @type {Promise<void> | null} */
  let refreshing = null

  const refresh = () => {
    refreshing ??= target
      .refresh()
      .then(
        () => {
          const before = map
          map = readMapOf(topology(), plan.reads)
          if (String(before.servers) !== String(map.servers))
            onEvent('servers', `reads go to ${map.servers.join(', ')} now`)
        },
        () => {},
      )
      .finally(() => {
        refreshing = null
      })
    return refreshing
  }

  const onState = (
    /** @type {string} */ address,
    /** @type {'up' | 'down'} */ state,
    /** @type {Error | undefined} */ error,
  ) => {
    if (!started || closed) return
    const was = downSince.get(address)
    if (state === 'down' && was === undefined) {
      downSince.set(address, clock())
      onEvent('disconnected', `${address}: ${error?.message ?? 'closed the connection'}`)
    }
    if (state === 'up' && was !== undefined) {
      downSince.delete(address)
      onEvent('reconnected', `${address} after ${Math.round(clock() - was)} ms`)
    }
  }

  /** @param {string} address @param {boolean} stale old values will do */
  const laneAt = (address, stale) => {
    const readOnly = plan.cluster && stale && plan.reads !== 'master'
    const name = readOnly ? address : `${address} master`
    const known = lanes.get(name)
    if (known) return known
    const lane = readLaneOf({
      address,
      readOnly,
      windowBytes: plan.windowBytes,
      open: (events) => target.dial(address, events),
      clock,
      random,
      onState,
    })
    lanes.set(name, lane)
    lane.connect()
    return lane
  }

  const slotFor = (/** @type {string} */ key) => (plan.cluster ? slotOf(key) : 0)
  const serverAt = (/** @type {number} */ slot, /** @type {number} */ consumer) =>
    map.serverOf(map.shardOf(slot), consumer)

  /** Before the same is asked again. @param {number} attempt @param {boolean} later */
  const pause = async (attempt, later) => {
    await refresh()
    if (later) {
      const waitMs = againMs * 2 ** Math.min(3, attempt) * (0.5 + random())
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }

  /**
   * One command to one lane: resolves with the line that refused it, or null.
   * @param {ReadLane} lane
   * @param {string[]} args
   * @param {ReplySink} sink
   * @param {boolean} asking
   * @returns {Promise<{ line: string | null, closed: string | null }>}
   */
  const sendOne = (lane, args, sink, asking) =>
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
      const gone = (/** @type {string} */ cause) => resolve({ line: null, closed: cause })
      if (asking) {
        const deaf = { open() {}, bulk() {}, number() {}, nil() {}, error() {} }
        lane.submit(commandJob(['ASKING'], { sink: deaf, replied() {}, closed() {} }))
      }
      lane.submit(
        commandJob(args, { sink: noting, replied: () => resolve({ line, closed: null }), closed: gone }),
      )
    })

  /**
   * @param {string[]} args
   * @param {string} key
   * @param {ReplySink} sink
   * @param {(slot: number) => ReadLane} laneFor
   */
  const askUntil = async (args, key, sink, laneFor) => {
    const slot = slotFor(key)
    const deadline = clock() + giveUpMs
    /** @type {string | null} */
    let goTo = null
    let asking = false
    for (let attempt = 0; ; attempt++) {
      const lane = goTo ? laneAt(goTo, false) : laneFor(slot)
      const { line, closed: lost } = await sendOne(lane, args, sink, asking)
      if (line === null && lost === null) return
      // Part of a lost reply may have been handed out: whoever asked must begin anew.
      if (lost !== null) throw new ReadError(lost, `${lane.address} closed the connection`)
      const verdict = verdictOf(line ?? '', lane.address)
      if (verdict.action === 'give-up' || verdict.action === 'load' || closed || clock() > deadline)
        throw new ReadError(verdict.cause, `${lane.address} refuses ${args[0]} ${key}: ${line}`)
      asking = verdict.action === 'asking'
      // A replica that has lost the slot names the new master; its own replicas are known after a refresh.
      goTo = asking || (attempt > 0 && verdict.action === 'there') ? (verdict.address ?? null) : null
      if (!asking) await pause(attempt, verdict.action === 'later')
    }
  }

  /**
   * Values of these places at one server; resolves with what must be asked again.
   * @typedef {{ there: number[], later: number[], asking: Map<string, number[]>, given: Record<string, number>, cause: string }} Leftover
   * @param {ReadLane} lane
   * @param {IdList} list
   * @param {import('./read-order.js').Share} share
   * @param {{ command: ValueCommand, values: ValueSink, asking: boolean }} how
   * @param {Leftover} over
   * @returns {Promise<void>}
   */
  const readShare = (lane, list, share, { command, values, asking }, over) =>
    new Promise((resolve) => {
      const onRefused = (/** @type {number} */ place, /** @type {string} */ line) => {
        const { action, address, cause } = verdictOf(line, lane.address)
        over.cause = cause
        if (action === 'there') over.there.push(place)
        else if (action === 'asking' && address) {
          const places = over.asking.get(address)
          if (places) places.push(place)
          else over.asking.set(address, [place])
        } else if (action === 'later') over.later.push(place)
        else over.given[cause] = (over.given[cause] ?? 0) + 1
      }
      lane.submit(
        valuesJob({
          list,
          ...share,
          command,
          values,
          asking,
          sizes,
          onRefused,
          onDone: () => resolve(),
          onClosed: (missing, cause) => {
            over.cause = cause
            for (const place of missing) over.later.push(place)
            resolve()
          },
        }),
      )
    })

  /** @type {ReadDriver['values']} */
  const values = async (list, places, command, sink, consumer) => {
    const deadline = clock() + giveUpMs
    const given = /** @type {Record<string, number>} */ ({})
    let wanted = places
    const how = { command, values: sink, asking: false }
    for (let attempt = 0; wanted.length > 0; attempt++) {
      /** @type {Leftover} */
      const over = { there: [], later: [], asking: new Map(), given, cause: '' }
      const shares = sharesOf({
        list,
        places: wanted,
        cluster: plan.cluster,
        many: plan.fetch === 'mget' && command.many && attempt === 0,
        // What was redirected twice is read where the slot's master is.
        serverOf: attempt < 2 ? (slot) => serverAt(slot, consumer) : map.masterOf,
      })
      await Promise.all(
        [...shares].map(([address, share]) =>
          readShare(laneAt(address, attempt < 2), list, share, how, over),
        ),
      )
      while (over.asking.size > 0) {
        const asked = [...over.asking]
        over.asking = new Map()
        await Promise.all(
          asked.map(([address, there]) => {
            const share = { places: Uint32Array.from(there), cuts: null }
            return readShare(laneAt(address, false), list, share, { ...how, asking: true }, over)
          }),
        )
        if (clock() > deadline) break
      }
      wanted = Uint32Array.from([...over.there, ...over.later])
      if (wanted.length === 0) break
      if (closed || clock() > deadline) {
        given[over.cause] = (given[over.cause] ?? 0) + wanted.length
        break
      }
      await pause(attempt, over.later.length > 0 || attempt > 1)
    }
    return given
  }

  const connectAll = async () => {
    for (const address of map.servers) laneAt(address, true)
    const faults = await Promise.all(
      [...lanes.values()].map(async (lane) => {
        const args = ['TIME']
        const { closed: lost } = await sendOne(
          lane,
          args,
          { open() {}, bulk() {}, number() {}, nil() {}, error() {} },
          false,
        )
        return lost ? lane.address : null
      }),
    )
    const [first] = faults.filter((fault) => fault !== null)
    if (first) {
      close()
      // Once more by itself, to say why.
      const socket = await target.dial(first, { onBytes: () => {}, onClose: () => {} })
      socket.destroy()
      throw new ReadError('CONNECT', `${first}: closed the connection`)
    }
    started = true
  }
  const close = () => {
    closed = true
    for (const lane of lanes.values()) lane.close()
  }

  await connectAll()
  return {
    ask: (args, key, sink, consumer) =>
      askUntil(args, key, sink, (slot) => laneAt(serverAt(slot, consumer), true)),
    askMaster: (args, key, sink) => askUntil(args, key, sink, (slot) => laneAt(map.masterOf(slot), false)),
    values,
    serverOf: (key, consumer) => serverAt(slotFor(key), consumer),
    servers: () => map.servers,
    bare: () => map.bare,
    figures: () => {
      /** @type {Record<string, { commands: number, bytes_in: number }>} */
      const sums = {}
      for (const lane of lanes.values()) {
        const { commands, bytes_in } = lane.figures()
        const sum = sums[lane.address] ?? { commands: 0, bytes_in: 0 }
        sums[lane.address] = { commands: sum.commands + commands, bytes_in: sum.bytes_in + bytes_in }
      }
      return sums
    },
    watch: () => {
      for (const lane of lanes.values()) if (lane.silentMs() > silentLimitMs) lane.cutOff()
    },
    close,
  }
}
