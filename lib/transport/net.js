// What a load knows of its servers: the owners of slots, changes of them as events, and which connections are half-open.

import { systemTimers } from '../base/timers.js'
import { slotMapOf } from './slot-map.js'
import { topologyEventsOf } from './topology-events.js'

/**
 * @import { Machine, Timers } from '../base/timers.js'
 * @import { Topology } from './slot-map.js'
 *
 * @typedef {object} NetTarget
 * @property {Topology} topology
 * @property {() => Promise<Topology>} refresh
 * @property {Parameters<typeof halfOpenOf>[0]['dial']} dial
 *
 * @typedef {object} NetNeeds
 * @property {NetTarget} target
 * @property {() => Iterable<Listened>} connections that are given up when they are half-open
 * @property {(left: Map<string, number[]>) => void} [onLearned] a new map is in use; slots that changed hands, by the address they left
 * @property {number} [spacingMs] between an answer and the next question
 * @property {(kind: string, text: string) => void} onEvent
 * @property {Pick<Machine, 'clock' | 'timers'>} machine
 *
 * @typedef {ReturnType<typeof netOf>} Net
 */

// A connection that owes answers and is silent, while the server answers on a new one, is half-open. It is closed, and its
// commands are retried by their rules.

/**
 * @typedef {object} Listened a connection
 * @property {string} address
 * @property {() => number} silentMs since bytes came, while some are owed
 * @property {() => void} cut
 *
 * @typedef {ReturnType<typeof halfOpenOf>} HalfOpen
 */

/** After this time without a byte a new connection is made, which decides. */
const silentLimitMs = 5000
// Replies on the old connection may arrive a moment after the greeting of the new one.
const graceMs = 500

const isSilent = (/** @type {Listened} */ connection) => connection.silentMs() > silentLimitMs

/**
 * @param {object} needs
 * @param {(address: string, events: { onBytes: (chunk: Buffer) => void, onClose: (error?: Error) => void }) => Promise<{ destroy: () => void }>} needs.dial
 * @param {(kind: string, text: string) => void} needs.onEvent
 * @param {Timers} [needs.timers]
 */
const halfOpenOf = ({ dial, onEvent, timers = systemTimers }) => {
  /** @type {Set<string>} a probe at a time to each server */
  const probing = new Set()

  /** @param {string} address */
  const isAnswering = async (address) => {
    try {
      const fresh = await dial(address, { onBytes: () => {}, onClose: () => {} })
      fresh.destroy()
      return true
    } catch {
      return false
    }
  }

  /** @param {string} address @param {() => Iterable<Listened>} connections */
  const probe = async (address, connections) => {
    probing.add(address)
    if (await isAnswering(address)) {
      await new Promise((resolve) => timers.setTimeout(() => resolve(undefined), graceMs))
      const silent = [...connections()].filter((each) => each.address === address && isSilent(each))
      const longestMs = silent.reduce((most, each) => Math.max(most, each.silentMs()), 0)
      const counted = silent.length === 1 ? 'a connection' : `${silent.length} connections`
      if (silent.length > 0)
        onEvent(
          'half-open',
          `${address}: ${counted} silent for ${Math.round(longestMs)} ms, and a new one is answered: given up`,
        )
      for (const connection of silent) connection.cut()
    }
    probing.delete(address)
  }

  /** Once a second. @param {() => Iterable<Listened>} connections */
  return (connections) => {
    for (const each of connections())
      if (isSilent(each) && !probing.has(each.address)) probe(each.address, connections)
  }
}

// Asks for the topology: one request at a time, and not at every error.

const usualSpacingMs = 500
// Replicas that come back, and moved slots without traffic, cause no event.
const staleMs = 10_000

/**
 * @template T
 * @param {object} needs
 * @param {() => Promise<T>} needs.ask
 * @param {(topology: T) => void} needs.learn
 * @param {() => number} needs.clock
 * @param {number} [needs.spacingMs] between an answer and the next question
 * @param {Timers} [needs.timers]
 */
export const refresherOf = ({ ask, learn, clock, spacingMs = usualSpacingMs, timers = systemTimers }) => {
  /** @type {Promise<void> | null} the answer to the question that is open or to come */
  let answer = null
  let closed = false
  let answeredMs = Number.NEGATIVE_INFINITY
  /** @type {NodeJS.Timeout | undefined} */
  let timer

  const now = async () => {
    const topology = await ask().catch(() => null)
    answer = null
    answeredMs = clock()
    if (topology !== null && !closed) learn(topology)
  }
  const later = (/** @type {number} */ waitMs) =>
    new Promise((/** @type {(value: void | Promise<void>) => void} */ resolve) => {
      timer = timers.setTimeout(() => resolve(now()), waitMs)
    })

  return {
    /** A request while another is under way, or soon after its answer, gets the same answer. */
    request() {
      if (closed) return Promise.resolve()
      const waitMs = answeredMs + spacingMs - clock()
      answer ??= waitMs <= 0 ? now() : later(waitMs)
      return answer
    },
    /** Whether the last answer is too old. */
    isStale: () => clock() - answeredMs > staleMs,
    close() {
      closed = true
      timers.clearTimeout(timer)
    },
  }
}

/** @param {NetNeeds} needs */
export const netOf = (needs) => {
  const { target, connections, onLearned, spacingMs, onEvent, machine } = needs
  const map = slotMapOf(target.topology)
  const events = topologyEventsOf({ onEvent, clock: machine.clock })
  const listen = halfOpenOf({ dial: target.dial, onEvent, timers: machine.timers })
  const refresher = refresherOf({
    ask: target.refresh,
    learn(topology) {
      events.topology(topology)
      const left = map.replace(topology)
      events.left(left, map.ownerOf)
      onLearned?.(left)
    },
    spacingMs,
    ...machine,
  })
  events.topology(target.topology)

  return {
    map,
    events,
    /** Asks for the topology. */
    refresh: refresher.request,
    isOwner: (/** @type {string} */ address) => map.addresses().includes(address),
    /** A server named the new owner of a slot. Returns the one before; null: it is the same. @param {number} slot @param {string} address */
    moved(slot, address) {
      const was = map.ownerOf(slot)
      if (was === address) return null
      map.move(slot, address)
      events.moved(was, address, 1)
      return was
    },
    /** Once a second: half-open connections. */
    listen: () => listen(connections),
    /** Once a second: the age of the map, and events. */
    watch() {
      if (refresher.isStale()) refresher.request()
      events.tell()
    },
    close: refresher.close,
  }
}
