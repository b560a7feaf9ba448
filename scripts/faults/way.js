// A way to a server, on loopback, that can forget its connections or hold up all bytes for a time.
import { connect, createServer } from 'node:net'

/** @import { AddressInfo, Socket } from 'node:net' */

/** @param {{ host: string, port: number }} to */
export const wayTo = async (to) => {
  /** @type {Set<Socket>} */
  const live = new Set()
  /** @type {Set<Socket>} */
  const all = new Set()
  let isPaused = false
  // Packets are short: with Nagle's algorithm each would wait up to 40 ms for the confirmation of the one before.
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: to.port, host: to.host, noDelay: true })
    for (const [from, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      all.add(from)
      live.add(from)
      if (isPaused) from.pause()
      from.on('error', () => {})
      from.on('data', (bytes) => {
        if (live.has(from) && !other.write(bytes)) from.pause()
      })
      other.on('drain', () => {
        if (!isPaused) from.resume()
      })
      from.on('close', () => {
        all.delete(from)
        if (live.has(from)) other.destroy()
      })
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  return {
    host: '127.0.0.1',
    port: /** @type {AddressInfo} */ (server.address()).port,
    /** All connections stay open and silent; new ones work. */
    forget: () => live.clear(),
    pause: () => {
      isPaused = true
      for (const socket of all) socket.pause()
    },
    resume: () => {
      isPaused = false
      for (const socket of all) socket.resume()
    },
    close: async () => {
      for (const socket of all) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
