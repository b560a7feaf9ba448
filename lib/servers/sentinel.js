// The primary as the sentinels see it.
import { Redis } from 'ioredis'
import { errorOf, TargetError } from '../base/errors.js'
import { addressOf, endpointOf, isDialable } from './address.js'
import { clientOptions, retryAfter } from './client-options.js'
import { isLinkLocal } from './link-local.js'
import { listIn } from './lists.js'
import { asker } from './topology-source.js'

/**
 * @import { ConnectionOptions } from 'node:tls'
 * @import { Endpoint } from './address.js'
 *
 * @typedef {object} SentinelAccess
 * @property {string} name of the primary
 * @property {Endpoint} endpoint of one sentinel; it knows the others
 * @property {string} [password] of the sentinels
 * @property {ConnectionOptions | null} [tls]
 *
 * @typedef {ReturnType<typeof sentinelsOf>} Sentinels
 */

/** A flat list of names and values. @param {unknown} reply @returns {Record<string, string>} */
const fieldsIn = (reply) => {
  if (!Array.isArray(reply)) return Object(reply)
  return Object.fromEntries(
    Array.from({ length: reply.length >> 1 }, (_, i) => [reply[2 * i], reply[2 * i + 1]]),
  )
}

/** @param {SentinelAccess} access */
export const sentinelsOf = ({ name, endpoint, password, tls }) => {
  /** @type {Map<string, Redis>} */
  const clients = new Map()
  /** @type {Map<string, Error>} why a connection could not be made, which the library reports only once */
  const faults = new Map()
  const clientAt = (/** @type {string} */ address) => {
    const known = clients.get(address)
    if (known) return known
    const client = new Redis({
      ...endpointOf(address),
      ...clientOptions({ password, tls }, 'millrace-sentinel'),
      connectTimeout: 2000,
      maxRetriesPerRequest: 1,
      retryStrategy: retryAfter(2000),
    })
    client.on('error', (error) => faults.set(address, error))
    clients.set(address, client)
    return client
  }
  clientAt(addressOf(endpoint))

  const ask = asker(async (address) => {
    const client = clientAt(address)
    const master = await client.call('SENTINEL', 'MASTER', name).catch((error) => {
      throw error.name === 'MaxRetriesPerRequestError' ? (faults.get(address) ?? error) : error
    })
    const fields = fieldsIn(master)
    const others = await client.call('SENTINEL', 'SENTINELS', name)
    return { fields, others: listIn('SENTINEL SENTINELS', others).map(fieldsIn) }
  })

  return {
    /** What ioredis needs to find the primary for itself. */
    clientOptions: () => ({
      sentinels: [...clients.keys()].map(endpointOf),
      name,
      sentinelPassword: password,
      sentinelTLS: tls ?? undefined,
      enableTLSForSentinelMode: Boolean(tls),
    }),
    /**
     * The primary by the newest configuration that a sentinel knows.
     * @returns {Promise<{ primary: Endpoint, epoch: number }>}
     */
    async primary() {
      const answers = await ask([...clients.keys()]).catch((/** @type {Error} */ error) => {
        const cause = error.cause === undefined ? error : errorOf(error.cause)
        const reason = /No such master/i.test(cause.message)
          ? `it watches no primary named ${name}; correct --sentinel`
          : `no sentinel answers (${cause.message}); correct the address of a sentinel (--url, or --host and --port)`
        throw new TargetError(`${addressOf(endpoint)}: ${reason}`, { code: 'SENTINEL', cause })
      })
      for (const { others } of answers)
        for (const { ip, port } of others) {
          const other = { host: String(ip), port: Number(port) }
          if (isDialable(other) && (!isLinkLocal(other.host) || isLinkLocal(endpoint.host)))
            clientAt(addressOf(other))
        }
      const epochOf = (/** @type {Record<string, string>} */ fields) => Number(fields['config-epoch'] ?? 0)
      const [{ fields }] = answers.sort((a, b) => epochOf(b.fields) - epochOf(a.fields))
      return { primary: { host: fields.ip, port: Number(fields.port) }, epoch: epochOf(fields) }
    },
    close() {
      for (const client of clients.values()) client.disconnect()
      clients.clear()
    },
  }
}
