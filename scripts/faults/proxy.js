// A small proxy on loopback whose connections can be cut in the middle of an answer.
import net from 'node:net'

/** @param {{ host: string, port: number }} server */
export const cuttingProxy = async (server) => {
  /** @type {Set<{ client: net.Socket, upstream: net.Socket }>} */
  const pairs = new Set()
  let cutAfter = Number.POSITIVE_INFINITY
  let cuts = 0
  // Answers are short: with Nagle's algorithm each would wait up to 40 ms for the confirmation of the one before.
  const listener = net.createServer({ noDelay: true }, (client) => {
    const upstream = net.connect({ ...server, noDelay: true })
    const pair = { client, upstream }
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    client.pipe(upstream)
    upstream.on('data', (chunk) => {
      if (cutAfter >= chunk.length) {
        cutAfter -= chunk.length
        if (!client.write(chunk)) upstream.pause()
        return
      }
      // These bytes are sent before the reset.
      client.write(chunk.subarray(0, cutAfter), () => {
        client.resetAndDestroy()
        upstream.resetAndDestroy()
      })
      cutAfter = Number.POSITIVE_INFINITY
      cuts++
      pairs.delete(pair)
    })
    client.on('drain', () => upstream.resume())
    for (const socket of [client, upstream]) socket.on('error', () => {}).on('close', end)
  })
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {net.AddressInfo} */ (listener.address())
  return {
    host: '127.0.0.1',
    port,
    cuts: () => cuts,
    /** The connection that carries the next answers is reset after so many bytes of them. @param {number} bytes */
    cut: (bytes) => {
      cutAfter = bytes
    },
    async close() {
      for (const { client, upstream } of pairs) {
        client.destroy()
        upstream.destroy()
      }
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}
