// Bundles over ioredis, as an application would send them: by calls, a pipeline, calls at once that the library puts
// into pipelines by itself, or a transaction. Nothing is retried by the library.
import { Redis } from 'ioredis'
import { endpointOf } from '../../servers/address.js'
import { clientOptions, withLivePassword } from '../../servers/client-options.js'
import { strictConnector } from '../../servers/connector.js'
import { disconnect } from '../../servers/disconnect.js'
import { connectLibrary } from '../../transport/library.js'
import { refusalIn } from '../../transport/refusals.js'

/**
 * @import { Access } from '../../servers/dial.js'
 * @import { BundleCommands } from '../../workloads/bind/bundle.js'
 * @import { Delivery } from '../../workloads/declare.js'
 * @import { Decoder } from '../../transport/lane.js'
 * @import { Carrier } from './socket-carrier.js'
 *
 * @typedef {[error: Error | null, result?: unknown][]} Results
 */

/** The result of a promise, as a pipeline reports it. @param {PromiseSettledResult<unknown>} settled @returns {Results[number]} */
const resultOf = (settled) => (settled.status === 'fulfilled' ? [null, settled.value] : [settled.reason])

/** @param {Redis} client @param {Delivery} delivery @param {string[][]} commands @returns {Promise<Results>} */
const played = async (client, delivery, commands) => {
  const batch = () => commands.map(([name, ...args]) => ['call', name, args])
  if (delivery === 'pipeline') return (await client.pipeline(batch()).exec()) ?? []
  if (delivery === 'transaction') return (await client.multi(batch()).exec()) ?? []
  const calls = commands.map(([name, ...args]) => client.call(name, args))
  return (await Promise.allSettled(calls)).map(resultOf)
}

/** Results come in the place of bytes. @type {Decoder} */
const asResults = ({ value }) => /** @type {any} */ (value)

/**
 * @param {object} needs
 * @param {Delivery} needs.delivery
 * @param {BundleCommands} needs.bundle
 * @param {Access} needs.access
 * @param {(address: string) => Promise<string>} needs.placeOf the endpoint to connect to for an address
 * @param {() => number} needs.clock
 * @returns {Carrier}
 */
export const ioredisCarrier = ({ delivery, bundle: { isOne, commands }, access, placeOf, clock }) => {
  let preparingMs = 0
  /** @type {(string | null | undefined)[]} */
  let lines = []

  /** A library's client in the place of a socket: what is written are commands. @type {NonNullable<Carrier['dial']>} */
  const dial = async (address, { onBytes, onClose }) => {
    const client = new Redis({
      ...endpointOf(await placeOf(address)),
      ...clientOptions(access, 'millrace'),
      Connector: strictConnector,
      db: access.db ?? 0,
      enableAutoPipelining: delivery === 'concurrent',
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      lazyConnect: true,
    })
    /** @type {Error | undefined} */
    let reason
    client.on('error', (error) => {
      reason = error
    })
    withLivePassword(client, access)
    await connectLibrary(
      { connect: () => client.connect(), close: () => disconnect(client) },
      address,
      access,
    )
    const socket = {
      destroyed: false,
      writableLength: 0,
      write(/** @type {string[][]} */ words) {
        const settled = (/** @type {any} */ results) => {
          if (!socket.destroyed) onBytes(results)
        }
        played(client, delivery, words).then(settled, settled)
      },
      destroy() {
        if (socket.destroyed) return
        socket.destroyed = true
        disconnect(client)
        setImmediate(onClose, reason)
      },
    }
    client.on('close', socket.destroy)
    return /** @type {any} */ (socket)
  }

  return {
    dial,
    decoder: asResults,
    outcome: { acked: () => lines.filter((line) => line === null).length, lineOf: (i) => lines[i] },
    times: () => ({ preparing: preparingMs, sending: null, parsing: null }),
    send(bundle, lane, nowMs, lead) {
      lines = []
      const words = commands(bundle.ns, bundle.count)
      preparingMs += clock() - nowMs
      lane.push(bundle, 1, nowMs, lead)
      lane.write(/** @type {any} */ (words))
    },
    replied({ count }, /** @type {Results | Error} */ results) {
      const errorAt = (/** @type {number} */ i) =>
        results instanceof Error ? results : results[isOne ? 0 : i]?.[0]
      lines = Array.from({ length: count }, (_, i) => {
        const error = errorAt(i)
        // An error of the library itself shows that the connection is lost.
        return error ? (refusalIn(error) ?? undefined) : null
      })
    },
  }
}
