// How ioredis connects for writers and readers: how long nodes have to name the owners of slots, and what a refusal said.
import { Cluster } from 'ioredis'
import { TargetError } from '../errors.js'
import { endpointOf } from '../target/address.js'
import { dial } from '../target/dial.js'
import { disconnect } from '../target/disconnect.js'
import { reasonFor } from '../target/reason.js'

/** A busy server has as long for the first map as for a connection; later another node is asked soon. */
export const slotsLimits = Object.freeze({ firstMs: 5000, laterMs: 1000 })

/**
 * Connects a client of the library. Where that fails, a plain connection is tried once: the library sees the end of a
 * connection before the words with which a server refused it (maxclients).
 * @param {import('ioredis').Redis | Cluster} client
 * @param {string} address of the server that is asked for the reason
 * @param {import('../target/dial.js').Access} access
 */
export const connectClient = async (client, address, access) => {
  try {
    await client.connect()
  } catch (cause) {
    disconnect(client)
    const socket = await dial(endpointOf(address), access, { onBytes: () => {}, onClose: () => {} })
    socket.destroy()
    throw new TargetError(reasonFor(address, cause, access), { code: 'CONNECT', cause })
  }
  if (client instanceof Cluster) client.options.slotsRefreshTimeout = slotsLimits.laterMs
}
