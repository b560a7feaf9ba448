// What all clients of ioredis have in common: how a server lets them in, and when a lost connection is tried again.

/**
 * @import { Cluster, Redis } from 'ioredis'
 * @import { Access } from './dial.js'
 */

/** How long a server may take to accept a connection, and to authenticate it. */
export const connectLimitMs = 5000

/**
 * Without the database, which a client of a cluster must not have.
 * @param {Access} access
 * @param {string} connectionName as the server lists it
 */
export const clientOptions = ({ username, password, tls }, connectionName) => ({
  username,
  password,
  tls: tls ?? undefined,
  connectionName,
  connectTimeout: connectLimitMs,
})

/** Waits that double, each shortened at random by up to half. @param {number} mostMs */
export const retryAfter = (mostMs) => (/** @type {number} */ times) =>
  Math.min(mostMs, 50 * 2 ** Math.min(6, times)) * (0.5 + Math.random() / 2)

/**
 * A client whose later connections have the password of their moment.
 * @template {Redis | Cluster} C
 * @param {C} client
 * @param {Access} access
 */
export const withLivePassword = (client, access) => {
  const { options } = client
  const own = 'redisOptions' in options ? options.redisOptions : options
  if (access.iam && own)
    Object.defineProperty(own, 'password', { enumerable: true, get: () => access.password })
  return client
}
