// Bytes that the load exchanges with each node on plain sockets. TLS hides how many of them the server counts.

/** @import { Socket } from 'node:net' */

/** @param {{ isPlain: boolean }} access */
export const byteCounter = ({ isPlain }) => {
  /** @type {Map<string, { closed: number, open: Set<Socket> }>} */
  const nodes = new Map()
  /** @type {(address: string) => number} */
  let elsewhere = () => 0
  const bytesOf = (/** @type {Socket} */ { bytesRead, bytesWritten }) => bytesRead + bytesWritten
  return {
    /** @param {string} address @param {Promise<Socket>} dialled */
    async watched(address, dialled) {
      const socket = await dialled
      const node = nodes.get(address) ?? { closed: 0, open: new Set() }
      nodes.set(address, node)
      node.open.add(socket)
      socket.once('close', () => {
        node.open.delete(socket)
        node.closed += bytesOf(socket)
      })
      return socket
    },
    /** Counts those of other threads too. @param {(address: string) => number} of */
    also(of) {
      elsewhere = of
    },
    /** @param {string} address */
    of(address) {
      if (!isPlain) return null
      const { closed, open } = nodes.get(address) ?? { closed: 0, open: [] }
      let bytes = closed + elsewhere(address)
      for (const socket of open) bytes += bytesOf(socket)
      return bytes
    },
  }
}
