// What all clients of ioredis have in common: how a server lets them in, and when a lost connection is tried again.

import { addressOf } from './address.js'
import { loginTimer } from './login-again.js'

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
 * Each connection has the password of its moment, and logs in again before that is too old.
 * @param {Redis} client
 * @param {Access} access
 */
const keepLoggedIn = (client, access) => {
  const { loginAgainMs, username = 'default' } = access
  if (loginAgainMs === undefined) return
  Object.defineProperty(client.options, 'password', { enumerable: true, get: () => access.password })
  const { start, stop } = loginTimer(loginAgainMs, () => client.auth(username, access.password ?? ''))
  client.on('connect', start)
  client.on('close', stop)
}

/**
 * The library's error for commands that outlive their connection names no server: it gets `server`, and `wasThere`.
 * @param {Redis} client
 */
const nameLostServer = (client) => {
  const { host, port } = client.options
  if (!host || !port) return
  const server = addressOf({ host, port })
  let wasThere = false
  client.once('connect', () => {
    wasThere = true
  })
  // All commands are rejected here with one error.
  const internal = /** @type {{ flushQueue: (error: Error, options?: object) => void }} */ (
    /** @type {unknown} */ (client)
  )
  const flush = internal.flushQueue.bind(client)
  internal.flushQueue = (error, options) =>
    flush(
      error.name === 'MaxRetriesPerRequestError' ? Object.assign(error, { server, wasThere }) : error,
      options,
    )
}

/**
 * A client whose passwords may be tokens, and whose errors name the server that is gone. A cluster's connection for
 * subscriptions has the password of one to a node.
 * @template {Redis | Cluster} C
 * @param {C} client
 * @param {Access} access
 */
export const withLivePassword = (client, access) => {
  if (!('refreshSlotsCache' in client)) {
    keepLoggedIn(client, access)
    nameLostServer(client)
  } else {
    const { redisOptions } = client.options
    if (redisOptions && access.loginAgainMs !== undefined)
      Object.defineProperty(redisOptions, 'password', { enumerable: true, get: () => access.password })
    client.on('+node', (node) => {
      keepLoggedIn(node, access)
      nameLostServer(node)
    })
  }
  return client
}
