// Control connections: one a node, for questions beside the load.
import { Redis } from 'ioredis'
import { errorOf, TargetError } from '../base/errors.js'
import { addressOf } from './address.js'
import { clientOptions, connectLimitMs, retryAfter, withLivePassword } from './client-options.js'
import { strictConnector } from './connector.js'
import { reasonFor } from './reason.js'

/**
 * @import { Endpoint } from './address.js'
 * @import { Access } from './dial.js'
 */

// A server that executes commands for longer than this is not asked.
const answerLimitMs = 10_000

/**
 * ioredis waits for ever for a server that accepts the connection and is silent.
 * @template T
 * @param {number} limitMs
 * @param {Promise<T>} promise
 */
const within = async (limitMs, promise) => {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs)
  })
  try {
    await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * An answer of a server; or, in one line that names it, why it cannot be used.
 * @template T
 * @param {string} address
 * @param {Access} access
 * @param {Promise<T>} answer
 */
export const answerOf = (address, access, answer) =>
  answer.catch((error) => {
    if (error instanceof TargetError) throw error
    throw new TargetError(reasonFor(address, error, access), { cause: error })
  })

/** Commands that were sent to each node beside the load, by name: what a node ran besides is of others, or of the load. */
export const sentCounter = () => {
  /** @type {Map<string, Record<string, number>>} */
  const byNode = new Map()
  return {
    /** @param {Redis} client @param {string} address */
    watch(client, address) {
      const counts = byNode.get(address) ?? {}
      byNode.set(address, counts)
      const send = client.sendCommand.bind(client)
      client.sendCommand = (command, stream) => {
        const name = command.name.toLowerCase()
        counts[name] = (counts[name] ?? 0) + 1
        return send(command, stream)
      }
    },
    /** @param {string} address */
    of: (address) => ({ ...byNode.get(address) }),
  }
}

/**
 * @param {Access} access
 * @param {(address: string) => boolean} [mayConnect] a connection carries the password
 * @param {Pick<ReturnType<typeof sentCounter>, 'watch'>} [sent]
 */
export const controlConnections = (access, mayConnect = () => true, sent = sentCounter()) => {
  /** @type {Map<string, Redis>} */
  const clients = new Map()
  /** @type {Map<string, Error>} */
  const faults = new Map()

  let isClosed = false
  const ownDb = access.db ?? 0
  /** @param {Endpoint} endpoint @param {number} [db] */
  const clientOf = (endpoint, db = ownDb) => {
    const address = addressOf(endpoint)
    const name = db === ownDb ? address : `${address}/${db}`
    const known = clients.get(name)
    if (known) return known
    // A question that comes at the end of a run must not open a connection that nothing closes.
    if (isClosed) throw new TargetError(`${address}: its connections are closed`, { code: 'CLOSED' })
    if (!mayConnect(address))
      throw new TargetError(`${address}: no confirmed server names it`, { code: 'UNCONFIRMED' })
    const client = new Redis({
      ...endpoint,
      ...clientOptions(access, 'millrace-control'),
      Connector: strictConnector,
      db,
      commandTimeout: answerLimitMs,
      maxRetriesPerRequest: 1,
      autoResendUnfulfilledCommands: false,
      // ioredis' ready check delays everything while a server loads, and writes to stderr where INFO is refused.
      enableReadyCheck: false,
      retryStrategy: retryAfter(2000),
      lazyConnect: true,
    })
    withLivePassword(client, access)
    client.on('error', (error) => faults.set(address, error))
    sent.watch(client, address)
    clients.set(name, client)
    return client
  }

  return {
    clientOf,
    /** Connects now; rejects with one line if that fails. @param {Endpoint} endpoint */
    async connect(endpoint) {
      const address = addressOf(endpoint)
      const client = clientOf(endpoint)
      try {
        await within(connectLimitMs, client.connect())
        // ioredis would continue in database 0.
        if (ownDb > 0) await client.select(ownDb)
        return client
      } catch (error) {
        const cause = faults.get(address) ?? errorOf(error)
        client.disconnect()
        clients.delete(address)
        throw new TargetError(reasonFor(address, cause, access), { code: 'CONNECT', cause })
      }
    },
    /** Rejects with the error of its connection where a server does not answer. @param {Endpoint} endpoint */
    answers: (endpoint) =>
      clientOf(endpoint)
        .ping()
        .catch((error) => {
          if (error.name === 'ReplyError') throw error
          throw faults.get(addressOf(endpoint)) ?? error
        }),
    /** Closes the connection to a database other than the target's. @param {Endpoint} endpoint @param {number} db */
    leave(endpoint, db) {
      const name = `${addressOf(endpoint)}/${db}`
      clients.get(name)?.disconnect()
      clients.delete(name)
    },
    /** Closes connections to all other servers. @param {string[]} addresses that stay */
    keep(addresses) {
      for (const [name, client] of clients) {
        if (addresses.includes(name.split('/', 1)[0])) continue
        client.disconnect()
        clients.delete(name)
      }
    },
    close() {
      isClosed = true
      for (const client of clients.values()) client.disconnect()
      clients.clear()
    },
  }
}
