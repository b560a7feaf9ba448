// Connections of clients: each client has one to every node. Lost ones come back while their node owns slots, and one
// that is silent while a new connection is answered is given up.
import { TargetError } from '../errors.js'
import { silenceOf } from '../transport/silence.js'
import { clientConnection } from './client-connection.js'

/**
 * @typedef {import('./client-connection.js').ClientConnection} ClientConnection
 * @typedef {import('./client-connection.js').ClientEvents} ClientEvents
 */

const reconnectMs = [50, 100, 200, 500, 1000]
// Not more at once than a server's backlog holds.
const mostAtOnce = 100

/**
 * @param {object} needs
 * @param {number} needs.clients
 * @param {number} needs.room operations in flight of each
 * @param {Pick<import('../transport/socket.js').DriverTarget, 'dial'>} needs.target
 * @param {() => readonly string[]} needs.addresses that own slots now
 * @param {Pick<ClientEvents, 'onAnswered' | 'onRefused' | 'onRead'>} needs.events
 * @param {(connection: ClientConnection) => void} needs.onLost its operations are still in it
 * @param {(client: number) => void} needs.onChanged a client's connection came, or will not come back
 * @param {() => void} needs.onDown a node may have gone
 * @param {Pick<import('../transport/story.js').Story, 'up' | 'down'>} needs.story
 * @param {import('../wire/decode.js').Tally} needs.tally
 * @param {() => number} needs.clock
 * @param {() => number} needs.random
 * @param {import('../base/timers.js').Timers} needs.timers
 * @param {(kind: string, text: string) => void} needs.onEvent
 */
export const clientsPool = (needs) => {
  const { clients, room, target, addresses, events, onLost, onChanged, onDown } = needs
  const { story, tally, clock, random, timers, onEvent } = needs
  /** @type {Map<string, ClientConnection>[]} by client, by address */
  const pools = Array.from({ length: clients }, () => new Map())
  /** @type {(ClientConnection | null)[]} by client: the one that was asked for last */
  const recent = Array.from({ length: clients }, () => null)
  let opened = false
  let closed = false

  const all = () => pools.flatMap((pool) => [...pool.values()])

  /** @param {ClientConnection} connection @param {Error} [error] */
  const onClosed = (connection, error) => {
    onLost(connection)
    if (closed) return
    story.down(connection.address, error?.message ?? 'closed the connection')
    onDown()
    reconnect(connection, 0)
    timers.setImmediate(() => onChanged(connection.client))
  }

  /** @param {ClientConnection} connection @param {number} attempt */
  const reconnect = (connection, attempt) => {
    if (closed || connection.isUp()) return
    connection.connect().then(
      () => {
        if (closed) return
        story.up(connection.address)
        onChanged(connection.client)
      },
      (error) => {
        story.down(connection.address, error instanceof Error ? error.message : String(error))
        onDown()
        const waitMs = reconnectMs[Math.min(attempt, reconnectMs.length - 1)] * (0.5 + random())
        timers.setTimeout(() => {
          if (addresses().includes(connection.address)) return reconnect(connection, attempt + 1)
          pools[connection.client].delete(connection.address)
          recent[connection.client] = null
          onChanged(connection.client)
        }, waitMs)
      },
    )
  }

  /** @param {number} client @param {string} address @returns {ClientConnection} */
  const of = (client, address) => {
    const last = recent[client]
    if (last !== null && last.address === address) return last
    const connection = pools[client].get(address) ?? add(client, address)
    recent[client] = connection
    return connection
  }
  /** @param {number} client @param {string} address */
  const add = (client, address) => {
    const connection = clientConnection({
      client,
      address,
      room,
      tally,
      open: (handlers) => target.dial(address, handlers),
      events: { ...events, onClosed },
      clock,
    })
    pools[client].set(address, connection)
    if (opened) reconnect(connection, 0)
    return connection
  }

  const listen = silenceOf({ dial: target.dial, onEvent, timers })

  const close = () => {
    closed = true
    for (const connection of all()) connection.close()
  }

  return {
    all,
    of,
    close,
    /** The connections of every client. */
    async open() {
      for (let client = 0; client < clients; client++) for (const address of addresses()) of(client, address)
      const list = all()
      try {
        for (let i = 0; i < list.length; i += mostAtOnce)
          await Promise.all(list.slice(i, i + mostAtOnce).map((connection) => connection.connect()))
      } catch (error) {
        close()
        throw error instanceof TargetError ? error : new TargetError(String(error), { cause: error })
      }
      opened = true
    },
    /** Looks for connections that are silent. */
    watch() {
      listen(all)
    },
  }
}
