// A server that answers writes without doing them, so that what a client costs is seen at rates that no server takes: what a
// connection sends before its first SETEX goes to a server, and from there on each command is counted by its lengths and answered.
// Arguments: host and port of the server. Prints its own port.
import { once } from 'node:events'
import net from 'node:net'
import { commandCounter } from './command-counter.js'

const [host, port] = process.argv.slice(2)
const first = Buffer.from('*4\r\n$5\r\nSETEX\r\n')

const most = 10_000
const oks = Buffer.from('+OK\r\n'.repeat(most))
const okBytes = oks.length / most

/** @param {net.Socket} client */
const answer = (client) => {
  const upstream = net.connect({ host, port: Number(port), noDelay: true })
  upstream.pipe(client)
  /** @type {ReturnType<typeof commandCounter> | null} */
  let count = null
  client.on('data', (bytes) => {
    if (count === null && bytes.subarray(0, first.length).equals(first)) count = commandCounter()
    if (count === null) return void upstream.write(bytes)
    for (let left = count(bytes); left > 0; left -= most)
      client.write(oks.subarray(0, Math.min(left, most) * okBytes))
  })
  for (const [socket, other] of [
    [client, upstream],
    [upstream, client],
  ])
    socket.on('error', () => {}).on('close', () => other.destroy())
}

const server = net.createServer({ noDelay: true }, answer)
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.stdout.write(`${/** @type {net.AddressInfo} */ (server.address()).port}\n`)
