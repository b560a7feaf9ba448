// The lanes of clients: one for each client and server, made when it is first asked for.
import { TargetError } from '../base/errors.js'
import { laneOf } from './lane.js'
import { renewalsOf } from './reconnecting-socket.js'
import { closed as closedReason } from './topology-events.js'

/**
 * @import { Machine } from '../base/timers.js'
 * @import { Decoder, Lane, LaneEvents } from './lane.js'
 * @import { DriverTarget } from './socket-writer.js'
 */

// Not more at once than the queue of new connections of a server takes.
const mostAtOnce = 100

/**
 * @template R
 * @param {object} needs
 * @param {number} needs.clients
 * @param {DriverTarget['dial']} needs.dial
 * @param {Decoder} needs.decoder
 * @param {Omit<LaneEvents<R>, 'onDown'> & { onDown: (lane: Lane<R>, error: Error) => void }} needs.events
 * @param {Machine} needs.machine
 */
export const lanesOf = ({ clients, dial, decoder, machine, ...needs }) => {
  /** @type {Map<string, Lane<R>>[]} by client, by address */
  const lanes = Array.from({ length: clients }, () => new Map())
  /** @type {(Lane<R> | null)[]} by client: the one that was asked for last */
  const recent = Array.from({ length: clients }, () => null)
  let opened = false
  /** @type {Error | null} the last */
  let fault = null
  const events = {
    ...needs.events,
    onDown(/** @type {Lane<R>} */ lane, /** @type {Error | undefined} */ error) {
      fault = error ?? new TargetError(`${lane.address}: ${closedReason}`, { code: 'CONNECT' })
      needs.events.onDown(lane, fault)
    },
  }
  const all = () => lanes.flatMap((each) => [...each.values()])

  const close = () => {
    for (const lane of all()) lane.close()
  }

  /** @param {number} client @param {string} address */
  const made = (client, address) => {
    const open = (/** @type {Parameters<typeof dial>[1]} */ handlers) => dial(address, handlers)
    /** @type {Lane<R>} */
    const lane = laneOf({ client, address, decoder, open, events, machine })
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
    /** Connects every client to every server. @param {readonly string[]} addresses */
    async open(addresses) {
      for (const client of lanes.keys()) for (const address of addresses) at(client, address)
      const first = all()
      for (let i = 0; i < first.length; i += mostAtOnce) {
        const some = first.slice(i, i + mostAtOnce)
        await Promise.all(some.map((lane) => lane.connect()))
        if (some.every((lane) => lane.isUp())) continue
        close()
        throw fault instanceof TargetError ? fault : new TargetError(String(fault), { cause: fault })
      }
      opened = true
    },
    /** @param {Lane<R>} lane */
    drop(lane) {
      lane.close()
      lanes[lane.client].delete(lane.address)
      recent[lane.client] = null
    },
    renew: renewalsOf(clients, (client) => [...lanes[client].values()]),
    waitingBytes: () => all().reduce((sum, lane) => sum + lane.waitingBytes(), 0),
    close,
  }
}
