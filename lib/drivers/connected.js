// Connects a client of the library. Where that fails, a plain connection is tried once: the library sees the end of a
// connection before the words with which a server refused it (maxclients).
import { TargetError } from '../errors.js'
import { endpointOf } from '../target/address.js'
import { dial } from '../target/dial.js'
import { disconnect } from '../target/disconnect.js'
import { reasonFor } from '../target/reason.js'

/**
 * @param {import('ioredis').Redis | import('ioredis').Cluster} client
 * @param {string} address of the server that is asked for the reason
 * @param {import('../target/dial.js').Access} access
 */
export const connected = async (client, address, access) => {
  try {
    await client.connect()
  } catch (cause) {
    disconnect(client)
    const socket = await dial(endpointOf(address), access, { onBytes: () => {}, onClose: () => {} })
    socket.destroy()
    throw new TargetError(reasonFor(address, cause, access), { code: 'CONNECT', cause })
  }
}
