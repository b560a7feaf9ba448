// Chunks over ioredis, as an application would send them: by calls, a pipeline, calls at once that the library puts
// into pipelines by itself, or a transaction. Nothing is retried by the library.
import { Redis } from 'ioredis'
import { endpointOf } from '../../servers/address.js'
import { clientOptions } from '../../servers/client-options.js'
import { disconnect } from '../../servers/disconnect.js'
import { strictConnector } from '../../transport/connector.js'
import { connectLibrary } from '../../transport/library.js'
import { refusalIn } from '../../transport/refusals.js'

/**
 * @import { Access } from '../../servers/dial.js'
 * @import { ChunkCommands } from '../../workloads/bind/chunk.js'
 * @import { Delivery } from '../../workloads/declare.js'
 * @import { Carrier } from './socket.js'
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

/**
 * @param {object} needs
 * @param {Delivery} needs.delivery
 * @param {ChunkCommands} needs.chunk
 * @param {Access} needs.access
 * @param {(address: string) => Promise<string>} needs.placeOf the endpoint to connect to for an address
 * @param {(nowMs: number) => void} needs.onDone
 * @param {(error?: Error) => void} needs.onEnd
 * @param {() => number} needs.clock
 * @returns {Carrier}
 */
export const ioredisCarrier = ({ delivery, chunk, access, placeOf, onDone, onEnd, clock }) => {
  /** @type {Redis | null} */
  let client = null
  let preparingMs = 0
  let sentMs = 0
  let owed = 0
  /** @type {(string | null | undefined)[]} */
  let lines = []

  /** @param {Results | Error} results @param {number} count */
  const settle = (results, count) => {
    const errorOf = (/** @type {number} */ i) =>
      results instanceof Error ? results : results[chunk.isOne ? 0 : i]?.[0]
    lines = Array.from({ length: count }, (_, i) => {
      const error = errorOf(i)
      // An error of the library itself shows that the connection is lost.
      return error ? (refusalIn(error) ?? undefined) : null
    })
    owed = 0
    onDone(clock())
  }

  const end = (/** @type {Error | undefined} */ error) => {
    const was = client
    client = null
    if (was) disconnect(was)
    // Rejected calls settle their chunk.
    if (was) onEnd(error)
  }

  return {
    outcome: { acked: () => lines.filter((line) => line === null).length, lineOf: (i) => lines[i] },
    times: () => ({ preparing: preparingMs, sending: null, parsing: null }),
    isUp: () => client !== null,
    async connect(address) {
      const opened = new Redis({
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
      opened.on('error', (error) => {
        reason = error
      })
      await connectLibrary(
        { connect: () => opened.connect(), close: () => disconnect(opened) },
        address,
        access,
      )
      opened.on('close', () => {
        if (client === opened) end(reason)
      })
      client = opened
    },
    send(ns, count) {
      if (!client) return
      sentMs = clock()
      owed = count
      const commands = chunk.commands(ns, count)
      preparingMs += clock() - sentMs
      played(client, delivery, commands).then(
        (results) => settle(results, count),
        (error) => settle(error, count),
      )
    },
    silentMs: () => (owed > 0 ? clock() - sentMs : 0),
    cut: () => end(undefined),
    close() {
      if (client) disconnect(client)
      client = null
    },
    waitingBytes: () => 0,
  }
}
