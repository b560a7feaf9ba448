// Small writes of one turn as one: what a stream of Node does to hold several back and to write them together costs more than
// to copy a few kilobytes.

/** @import { Socket } from 'node:net' */

const mostBytes = 8192

/** One for all connections, as one of them writes at a time. @type {Buffer | null} */
let spare = null

const taken = () => {
  const bytes = spare ?? Buffer.allocUnsafeSlow(mostBytes)
  spare = null
  return bytes
}

/** @param {() => Socket | null} current */
export const togetherOf = (current) => {
  let isCorked = false
  let isHeldBack = false // by the socket, since it is too much to be copied
  /** @type {Buffer | null} */
  let bytes = null
  let filled = 0

  const flush = () => {
    if (bytes === null) return
    const socket = current()
    socket?.write(bytes.subarray(0, filled))
    // The socket keeps what the system did not take.
    if (!socket || socket.writableLength === 0) spare = bytes
    bytes = null
    filled = 0
  }
  return {
    cork() {
      isCorked = true
    },
    uncork() {
      isCorked = false
      flush()
      if (isHeldBack) current()?.uncork()
      isHeldBack = false
    },
    /** @param {Buffer} more @param {() => void} [release] they are not needed any more */
    write(more, release) {
      const socket = current()
      if (!socket) return
      if (isCorked && !isHeldBack) {
        if (filled + more.length <= mostBytes) {
          bytes ??= taken()
          filled += more.copy(bytes, filled)
          return release?.()
        }
        isHeldBack = true
        socket.cork()
        flush()
      }
      socket.write(more, release)
    },
  }
}
