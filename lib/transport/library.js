// The interface of client libraries: they send commands and report what became of each. Retries, drops and the order per
// slot are decided here, by their final replies.
import { errorOf, OptionError, TargetError } from '../base/errors.js'
import { plainText } from '../base/units.js'
import { endpointOf } from '../servers/address.js'
import { dial } from '../servers/dial.js'
import { reasonFor } from '../servers/reason.js'

/**
 * @import { Access } from '../servers/dial.js'
 * @import { Listened } from './net.js'
 * @import { Classes } from './ioredis.js'
 * @import { DriverTarget } from './socket-writer.js'
 *
 * @typedef {object} LibraryEvents
 * @property {(address: string) => void} up
 * @property {(address: string, reason: string) => void} down
 * @property {() => void} ready the library sends again
 * @property {(line: string) => void} turnedAway a server refused a connection
 * @property {() => void} stray the topology may be out of date
 *
 * @typedef {object} LibraryNeeds
 * @property {boolean} cluster
 * @property {Pick<DriverTarget, 'topology' | 'access' | 'follows' | 'sentinels'>} target
 * @property {string} address of the one server
 * @property {'master' | 'replica' | 'any'} reads
 * @property {Record<string, boolean | number>} options of --driver-option, with what is not given
 * @property {boolean} bytes replies are bytes, in the types of RESP2
 * @property {number} mostBytes of a reply that belongs to the plan: a longer one ends its connection
 * @property {() => number} clock
 * @property {LibraryEvents} events
 *
 * @typedef {object} Fault why a command has no reply
 * @property {string | null} line the server refused it, so it was not executed
 * @property {boolean} left it may have been executed
 * @property {boolean} atOnce it may be sent again at once
 * @property {boolean} [isSilent] the library has neither answered nor rejected it
 *
 * @typedef {{ address: string, asking: boolean }} Redirect
 *
 * @typedef {object} Library a client that is connected to one server or to a cluster
 * @property {number} limit most commands in flight
 * @property {() => Promise<void>} connect
 * @property {(args: (string | Buffer)[], key: string, to: Redirect | null) => Promise<unknown>} send rejects as
 *   `faultOf` reads it
 * @property {(args: string[], address: string) => Promise<unknown>} sendTo a server, or any where it is not known
 * @property {(slot: number) => string | undefined} ownerOf as the library has it
 * @property {(error: unknown) => Fault} faultOf
 * @property {() => void} refreshSlots
 * @property {() => Iterable<Listened>} connections that may be half-open
 * @property {() => void} close
 */

/** @type {Record<string, () => Promise<(needs: LibraryNeeds) => Library>>} by the driver's name */
const libraries = {
  ioredis: async () => (await import('./ioredis.js')).ioredisLibrary,
  // A fork of ioredis, which groups scripts by their first argument: iovalkey 0.4.0.
  iovalkey: async () => {
    const [fork, { libraryLike }] = await Promise.all([import('iovalkey'), import('./ioredis.js')])
    return libraryLike(/** @type {Classes} */ (/** @type {unknown} */ (fork)), { groupsScripts: false })
  },
  'node-redis': async () => (await import('./node-redis.js')).nodeRedisLibrary,
  'valkey-glide': async () => (await import('./valkey-glide.js')).valkeyGlideLibrary,
}

/** Loads a library; its package may lack the part for this platform. @param {string} name of the driver */
export const libraryNamed = async (name) => {
  try {
    return await libraries[name]()
  } catch (cause) {
    const [line] = errorOf(cause).message.split('\n')
    throw new OptionError(
      `--driver ${name}: its package cannot be loaded on ${process.platform} ${process.arch}; install it again with its optional dependencies (${plainText(line)})`,
      { cause },
    )
  }
}

/**
 * Connects a client. Where that fails, a plain connection is tried once: a library sees the end of a connection before
 * the words with which a server refused it (maxclients).
 * @param {Pick<Library, 'connect' | 'close'>} library
 * @param {string} address of the server that is asked for the reason
 * @param {Access} access
 */
export const connectLibrary = async (library, address, access) => {
  try {
    await library.connect()
  } catch (cause) {
    library.close()
    const socket = await dial(endpointOf(address), access, { onBytes: () => {}, onClose: () => {} })
    socket.destroy()
    throw new TargetError(reasonFor(address, cause, access), { code: 'CONNECT', cause })
  }
}
