// A server of a known limit, in a process of its own: GETs, or other commands, are answered one after the other, each after the service time of
// its moment, on the clock and without using the CPU; all else is passed to a real server behind it.
import { fork } from 'node:child_process'
import { connect, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { commandsIn } from './commands.js'
import { normal, seeded } from './random.js'

/** @import { Socket } from 'node:net' */
/** @typedef {{ seed: number, hz: number, sd?: number, stepAt?: number, stepTo?: number }} Limit hz: GETs a second; sd: its spread from second to second; stepAt: a second since the start from which it is times stepTo */

const horizon = 4000

/** Of each second since the start. @param {Limit} limit */
export const limitsOf = ({ seed, hz, sd = 0.01, stepAt = horizon, stepTo = 1 }) => {
  const { next } = seeded(seed * 31 + 5)
  const lengths = { length: horizon }
  return Float64Array.from(lengths, (_, t) => hz * (t < stepAt ? 1 : stepTo) * Math.exp(sd * normal(next)))
}

/** @param {Limit & { behind: number, command?: string }} limit behind: the port of the real server; command: that is limited, answered with OK unless it is GET */
const serve = async ({ behind, command = 'GET', ...limit }) => {
  const limits = limitsOf(limit)
  const startMs = performance.now()
  const startEpochMs = Date.now()
  let freeMs = 0
  const replies = /** @type {{ atMs: number, socket: Socket, reply: string }[]} */ ([])
  let isTimed = false
  const wake = (/** @type {number} */ ms) => {
    isTimed = true
    setTimeout(flush, Math.max(1, ms))
  }
  const flush = () => {
    isTimed = false
    const nowMs = performance.now()
    const due = /** @type {Map<Socket, string>} */ (new Map())
    let n = 0
    for (; n < replies.length && replies[n].atMs <= nowMs; n++)
      due.set(replies[n].socket, (due.get(replies[n].socket) ?? '') + replies[n].reply)
    replies.splice(0, n)
    for (const [socket, text] of due) socket.write(text)
    if (replies.length > 0) wake(replies[0].atMs - nowMs)
  }
  const answer = (/** @type {Socket} */ socket, /** @type {string} */ name) => {
    const nowMs = performance.now()
    const isOne = name === command
    const hz = limits[Math.min(horizon - 1, Math.floor((nowMs - startMs) / 1000))]
    freeMs = Math.max(freeMs, nowMs) + (isOne ? 1000 / hz : 0)
    replies.push({ atMs: freeMs, socket, reply: name === 'GET' ? '$1\r\nv\r\n' : '+OK\r\n' })
    if (!isTimed) wake(1)
  }
  const server = createServer({ noDelay: true }, (socket) => {
    const real = connect({ port: behind, host: '127.0.0.1', noDelay: true })
    let isLimited = false
    let input = Buffer.alloc(0)
    socket.on('data', (bytes) => {
      input = input.length === 0 ? bytes : Buffer.concat([input, bytes])
      let from = 0
      for (const { args, end } of commandsIn(input)) {
        const name = args[0].toUpperCase()
        isLimited ||= name === command
        if (isLimited) answer(socket, name)
        else real.write(input.subarray(from, end))
        from = end
      }
      input = input.subarray(from)
    })
    real.on('data', (bytes) => socket.write(bytes))
    for (const event of ['close', 'error']) {
      socket.on(event, () => real.destroy())
      real.on(event, () => socket.destroy())
    }
  })
  server.listen(0, '127.0.0.1', () =>
    process.send?.({ port: /** @type {any} */ (server.address()).port, startEpochMs }),
  )
  process.on('disconnect', () => process.exit())
}

if (process.argv[1] === fileURLToPath(import.meta.url)) serve(JSON.parse(process.argv[2]))

/**
 * @param {{ after: (end: () => void) => void }} t
 * @param {Limit & { behind: number, command?: string }} limit
 * @returns {Promise<{ port: number, startEpochMs: number }>}
 */
export const limitedServer = async (t, limit) => {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(limit)], { env: {}, execArgv: [] })
  t.after(() => child.kill('SIGKILL'))
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(/** @type {any} */ (message)))
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the limited server ended with ${code}`)))
  })
}
