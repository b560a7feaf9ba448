// What a load knows of its servers: the owners of slots, changes of them as events, and which connections are half-open.
import { halfOpenOf } from './half-open.js'
import { refresherOf } from './refresher.js'
import { slotMapOf } from './slot-map.js'
import { topologyEventsOf } from './topology-events.js'

/**
 * @import { Machine } from '../base/timers.js'
 * @import { Listened } from './half-open.js'
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
