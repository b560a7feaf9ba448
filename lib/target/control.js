// Control connections: one a node, for questions beside the load.
import { Redis } from 'ioredis'
import { TargetError } from '../errors.js'
import { addressOf } from './address.js'

/**
 * @typedef {import('./address.js').Endpoint} Endpoint
 * @typedef {import('./dial.js').Access} Access
 */

/** One line that says what to change. @param {string} address @param {Error} error */
const reasonFor = (address, error) => {
  const { message } = error
  const code = /** @type {NodeJS.ErrnoException} */ (error).code
  const advice = /** @type {[RegExp, string][]} */ ([
    [/ECONNREFUSED/, 'nothing listens there; correct --host and --port, or start the server'],
    [/ENOTFOUND|EAI_AGAIN/, 'the name is not known; correct --host'],
    [/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/, 'no answer; look at the network and the security group'],
    [/NOAUTH|HELLO must be called/, 'the server wants a password; set REDIS_PASSWORD'],
    [
      /WRONGPASS|invalid password|invalid username/,
      'wrong user or password; correct --username and REDIS_PASSWORD',
    ],
    [/NOPERM/, 'the user lacks rights; extend its ACL'],
    [/max number of clients/, 'the server takes no more connections; raise maxclients or close some'],
    [/wrong version number|packet length too long/i, 'the server does not speak TLS; leave out --tls'],
    [
      /self.signed|unable to (get|verify)|altname|certificate/i,
      'its certificate cannot be trusted; set --ca',
    ],
  ]).find(([pattern]) => pattern.test(`${code} ${message}`))
  const text = code && !message.includes(code) ? `${code} ${message}` : message || String(code)
  return advice ? `${address}: ${advice[1]} (${text})` : `${address}: ${text}`
}

/**
 * @param {Access} access
 */
export const controlConnections = (access) => {
  /** @type {Map<string, Redis>} */
  const clients = new Map()
  /** @type {Map<string, Error>} */
  const faults = new Map()

  const ownDb = access.db ?? 0
  /** @param {Endpoint} endpoint @param {number} [db] */
  const of = (endpoint, db = ownDb) => {
    const address = addressOf(endpoint)
    const name = db === ownDb ? address : `${address}/${db}`
    const known = clients.get(name)
    if (known) return known
    const client = new Redis({
      ...endpoint,
      username: access.username,
      password: access.password,
      db,
      tls: access.tls ?? undefined,
      connectionName: 'millrace-control',
      connectTimeout: 5000,
      maxRetriesPerRequest: 1,
      autoResendUnfulfilledCommands: false,
      retryStrategy: (times) => Math.min(2000, 50 * 2 ** Math.min(6, times)) * (0.5 + Math.random() / 2),
      lazyConnect: true,
    })
    client.on('error', (error) => faults.set(address, error))
    clients.set(name, client)
    return client
  }

  return {
    of,
    /**
     * Connects now, and says in one line why not.
     * @param {Endpoint} endpoint
     */
    async connect(endpoint) {
      const address = addressOf(endpoint)
      const client = of(endpoint)
      try {
        await client.connect()
        return client
      } catch (error) {
        const cause = faults.get(address) ?? /** @type {Error} */ (error)
        client.disconnect()
        clients.delete(address)
        throw new TargetError(reasonFor(address, cause), { code: 'CONNECT', cause })
      }
    },
    /** Servers that have left are not connected to any more. @param {string[]} addresses that stay */
    keep(addresses) {
      for (const [name, client] of clients) {
        if (addresses.includes(name.split('/', 1)[0])) continue
        client.disconnect()
        clients.delete(name)
      }
    },
    close() {
      for (const client of clients.values()) client.disconnect()
      clients.clear()
    },
  }
}
