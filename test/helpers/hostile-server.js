// A server that says what it is told to say, to whom it is told to say it.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { atEnd } from './at-end.js'
import { commandsIn } from './commands.js'

/**
 * @import { Scope } from './servers.js'
 * @import { AddressInfo, Socket } from 'node:net'
 *
 * @typedef {(args: string[], who: string, socket: Socket) => string | Buffer | null | undefined} Answer
 * the bytes of the reply; null: none; undefined: as an honest server of 7.0 would. `who`: the client's name
 */

export const bulk = (/** @type {string} */ text) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`

export const infoText = (/** @type {Record<string, string | number>} */ fields = {}) => {
  const all = {
    ...{ redis_version: '7.0.15', run_id: 'a'.repeat(40), role: 'master', cluster_enabled: 0, loading: 0 },
    ...{ used_memory: 1e6, total_system_memory: 16e9, maxmemory: 0, maxmemory_policy: 'noeviction' },
    ...{ connected_clients: 1, connected_slaves: 0, ...fields },
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}:${value}\r\n`)
  return lines.join('')
}

/** @type {Record<string, (args: string[]) => string>} */
const honest = {
  HELLO: () => '-NOPROTO unsupported protocol version\r\n',
  INFO: () => bulk(infoText()),
  SCAN: () => `*2\r\n$1\r\n0\r\n*0\r\n`,
  TYPE: () => '+none\r\n',
  PTTL: () => ':-2\r\n',
  HGETALL: () => '*0\r\n',
  // A plan is announced with the phase of its run; the other scripts are of leases.
  EVAL: (args) =>
    /^(begin|renew|end)$/.test(args.at(-2) ?? '') ? `*2\r\n:${Date.now()}\r\n$0\r\n\r\n` : ':1\r\n',
  ZRANGEBYSCORE: () => '*0\r\n',
  GET: () => '$-1\r\n',
  COMMAND: () => '*0\r\n',
  TIME: () => {
    const nowMs = Date.now()
    return `*2\r\n${bulk(String(Math.floor(nowMs / 1000)))}${bulk(String((nowMs % 1000) * 1000))}`
  },
  PING: () => '+PONG\r\n',
}

export const startHostileServer = async (/** @type {Scope} */ t, /** @type {Answer} */ answer) => {
  const sockets = /** @type {Set<Socket>} */ (new Set())
  const server = createServer((socket) => {
    let rest = Buffer.alloc(0)
    let who = ''
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (bytes) => {
      rest = Buffer.concat([rest, bytes])
      const commands = commandsIn(rest, Number.POSITIVE_INFINITY, 'utf8')
      rest = rest.subarray(commands.at(-1)?.end ?? 0)
      for (const { args } of commands) {
        const name = args[0].toUpperCase()
        if (name === 'CLIENT' && args[1].toUpperCase() === 'SETNAME') who = args[2]
        const told = answer([name, ...args.slice(1)], who, socket)
        const reply = told === undefined ? (honest[name]?.(args) ?? '+OK\r\n') : told
        if (reply !== null && socket.writable) socket.write(reply)
      }
    })
  })
  atEnd(t, () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return /** @type {AddressInfo} */ (server.address()).port
}
