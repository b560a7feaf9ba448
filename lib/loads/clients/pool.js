// Connections of clients: each client has one to every node. A lost connection is made again while its node owns slots; one
// that is silent while a new connection is answered is given up.
import { TargetError } from '../../base/errors.js'
import { halfOpenOf } from '../../transport/half-open.js'
import { renewalsOf } from '../../transport/reconnecting-socket.js'
import { closed as closedReason } from '../../transport/topology-events.js'
import { clientConnection } from './connection.js'

/**
 * @import { ClientConnection, ClientEvents } from './connection.js'
 * @import { Retries } from './retries.js'
 * @import { FlowNeeds } from './flow.js'
 */

// Not more at once than the queue of new connections of a server takes.
const mostAtOnce = 100

/** Connects all, not too many at once; false: one failed. @param {readonly ClientConnection[]} connections */
const connectAll = async (connections) => {
  for (let i = 0; i < connections.length; i += mostAtOnce) {
    const some = connections.slice(i, i + mostAtOnce)
    await Promise.all(some.map((connection) => connection.connect()))
    if (!some.every((connection) => connection.isUp())) return false
  }
  return true
}

/**
 * @param {object} flow
 * @param {FlowNeeds} flow.needs
 * @param {Retries} flow.retries
 * @param {boolean} flow.reads operations have several steps
 * @param {Pick<ClientEvents, 'onAnswered' | 'onRefused' | 'onReply' | 'onRead'>} flow.events
 * @param {(client: number) => void} flow.onChanged a client's connection came, or will not come back
 */
export const clientsPool = ({ needs, retries, reads, events, onChanged }) => {
  const { map, topologyEvents, refresher, lost } = retries
  const { plan, target, onRenewed, tally, clock, random, timers, onEvent } = needs
  const { clients, pipeline: room } = plan
  const { addresses } = map
  const common = { room, reads, tally, clock, random, timers }
  /** @type {Map<string, ClientConnection>[]} by client, by address */
  const pools = Array.from({ length: clients }, () => new Map())
  /** @type {(ClientConnection | null)[]} by client: the one that was asked for last */
  const recent = Array.from({ length: clients }, () => null)
  /** @type {Error | null} the last */
  let fault = null
  let opened = false
  let closed = false

  const all = () => pools.flatMap((pool) => [...pool.values()])

  /** @param {ClientConnection} connection */
  const onUp = ({ address, client }) => {
    if (closed || !opened) return
    topologyEvents.up(address)
    onChanged(client)
  }
  /** @param {ClientConnection} connection @param {Error} [error] */
  const down = (connection, error) => {
    const { address, client } = connection
    lost(connection)
    fault = error ?? new TargetError(`${address}: ${closedReason}`, { code: 'CONNECT' })
    if (closed || !opened) return
    topologyEvents.down(address, fault.message)
    refresher.request()
    if (!addresses().includes(address)) {
      connection.close()
      pools[client].delete(address)
      recent[client] = null
    }
    timers.setImmediate(() => onChanged(client))
  }
  /** @param {ClientConnection} connection @param {number} tookMs */
  const renewed = ({ client }, tookMs) => {
    if (closed) return
    onRenewed?.(tookMs)
    onChanged(client)
  }

  /** @param {number} client @param {string} address @returns {ClientConnection} */
  const connectionAt = (client, address) => {
    const last = recent[client]
    if (last !== null && last.address === address) return last
    const connection = pools[client].get(address) ?? add(client, address)
    recent[client] = connection
    return connection
  }
  /** @param {number} client @param {string} address */
  const add = (client, address) => {
    const connection = clientConnection({
      ...common,
      client,
      address,
      open: (handlers) => target.dial(address, handlers),
      events: { ...events, onUp, onDown: down, onRenewed: renewed },
    })
    pools[client].set(address, connection)
    if (opened) connection.connect()
    return connection
  }

  const listen = halfOpenOf({ dial: target.dial, onEvent, timers })

  const close = () => {
    closed = true
    for (const connection of all()) connection.close()
  }

  return {
    all,
    connectionAt,
    close,
    /** The connections of every client. */
    async open() {
      for (const client of pools.keys()) for (const address of addresses()) connectionAt(client, address)
      opened = await connectAll(all())
      if (opened) return
      close()
      throw fault instanceof TargetError ? fault : new TargetError(String(fault), { cause: fault })
    },
    renew: renewalsOf(clients, (client) => [...pools[client].values()]),
    /** Gives up connections that are silent. */
    watch: () => listen(all),
  }
}
