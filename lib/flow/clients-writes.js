// The bytes of operations on their way to the sockets: one write for each connection and call, in one buffer for all.

/**
 * @import { TickValues } from '../wire/encode.js'
 * @import { Stencilled } from '../workloads/client-command.js'
 * @import { ClientConnection } from './client-connection.js'
 */

const writeBytes = 65_536

/** @param {number} most bytes that one operation takes */
export const writesOf = (most) => {
  const size = Math.max(writeBytes, 2 * most)
  let bytes = Buffer.allocUnsafeSlow(size)
  let at = 0
  let from = 0
  /** @type {ClientConnection | null} */
  let to = null

  const flush = () => {
    if (to && at > from && !to.write(bytes.subarray(from, at))) {
      // The socket keeps these bytes.
      bytes = Buffer.allocUnsafeSlow(size)
      at = 0
    }
    from = at
    to = null
  }

  return {
    /** @param {ClientConnection} connection @param {Stencilled} stencil @param {number} n @param {TickValues} values */
    put(connection, stencil, n, values) {
      if (to !== connection || at + most > size) {
        flush()
        if (at + most > size) at = from = 0
        to = connection
      }
      at = stencil.put(n, bytes, at, values)
    },
    /** Bytes that are no operation's. @param {ClientConnection} connection @param {Buffer} text */
    plain(connection, text) {
      flush()
      connection.write(text)
    },
    /** All of it is with the sockets. */
    end() {
      flush()
      at = from = 0
    },
  }
}
