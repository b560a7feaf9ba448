// The lanes of clients: one for each client and server, made when it is first asked for.
import { laneOf } from './lane.js'
import { renewalsOf } from './reconnecting-socket.js'

/**
 * @import { Timers } from '../base/timers.js'
 * @import { Decoder, Lane, LaneEvents } from './lane.js'
 * @import { DriverTarget } from './socket.js'
 */

// Not more at once than the queue of new connections of a server takes.
const mostAtOnce = 100

/**
 * @template R
 * @param {object} needs
 * @param {number} needs.clients
 * @param {DriverTarget['dial']} needs.dial
 * @param {Decoder} needs.decoder
 * @param {LaneEvents<R>} needs.events
 * @param {() => number} needs.clock
 * @param {() => number} needs.random
 * @param {Timers} needs.timers
 */
export const lanesOf = ({ clients, dial, decoder, events, clock, random, timers }) => {
  /** @type {Map<string, Lane<R>>[]} by client, by address */
  const lanes = Array.from({ length: clients }, () => new Map())
  /** @type {(Lane<R> | null)[]} by client: the one that was asked for last */
  const recent = Array.from({ length: clients }, () => null)
  let opened = false
  const all = () => lanes.flatMap((each) => [...each.values()])

  /** @param {number} client @param {string} address */
  const made = (client, address) => {
    const open = (/** @type {Parameters<typeof dial>[1]} */ handlers) => dial(address, handlers)
    /** @type {Lane<R>} */
    const lane = laneOf({ client, address, decoder, open, events, clock, random, timers })
    lanes[client].set(address, lane)
    if (opened) lane.connect()
    return lane
  }
  /** @param {number} client @param {string} address */
  const at = (client, address) => {
    const last = recent[client]
    if (last !== null && last.address === address) return last
    const lane = lanes[client].get(address) ?? made(client, address)
    recent[client] = lane
    return lane
  }

  return {
    all,
    at,
    isOpened: () => opened,
    /** Connects every client to every server; false: one failed. @param {readonly string[]} addresses */
    async open(addresses) {
      for (const client of lanes.keys()) for (const address of addresses) at(client, address)
      const first = all()
      for (let i = 0; i < first.length; i += mostAtOnce) {
        const some = first.slice(i, i + mostAtOnce)
        await Promise.all(some.map((lane) => lane.connect()))
        if (!some.every((lane) => lane.isUp())) return false
      }
      opened = true
      return true
    },
    /** @param {Lane<R>} lane */
    drop(lane) {
      lane.close()
      lanes[lane.client].delete(lane.address)
      recent[lane.client] = null
    },
    renew: renewalsOf(clients, (client) => [...lanes[client].values()]),
    waitingBytes: () => all().reduce((sum, lane) => sum + lane.waitingBytes(), 0),
    close() {
      for (const lane of all()) lane.close()
    },
  }
}
