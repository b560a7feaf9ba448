// An independent witness of what another application gets from a server: a process of its own that shares no code with
// the bystander. One PING each 20 ms on one connection, timed from the moment it was due.
//   node scripts/check/pinger.js HOST PORT     password in REDISCLI_AUTH; a line on stdin ends it
// It prints { dueMs, latencies, lateness }: of each PING when it was due (epoch), its latency, and how late the timer
// woke for it; all in ms.
import { connect } from 'node:net'

const [host, port] = process.argv.slice(2)
const everyMs = 20
const socket = connect({ host, port: Number(port), noDelay: true })
const greeting = process.env.REDISCLI_AUTH ? `AUTH ${process.env.REDISCLI_AUTH}\r\n` : 'PING\r\n'

/** @type {number[]} */
const waiting = []
/** @type {number[]} */
const dueMs = []
/** @type {number[]} */
const latencies = []
/** @type {number[]} */
const lateness = []
let greeted = false
let nextMs = 0

const wake = () => {
  for (; nextMs <= performance.now(); nextMs += everyMs) {
    lateness.push(performance.now() - nextMs)
    waiting.push(nextMs)
    socket.write('PING\r\n')
  }
  setTimeout(wake, nextMs - performance.now())
}

socket.setEncoding('latin1').on('data', (text) => {
  const nowMs = performance.now()
  if (!greeted) {
    if (!/^\+(OK|PONG)\r\n$/.test(String(text))) throw new Error(`refused: ${text}`)
    greeted = true
    nextMs = nowMs
    process.stdout.write('ready\n')
    wake()
    return
  }
  for (let i = String(text).split('\n').length - 1; i > 0; i--) {
    const due = Number(waiting.shift())
    dueMs.push(performance.timeOrigin + due)
    latencies.push(nowMs - due)
  }
})
socket.once('connect', () => socket.write(greeting))
process.stdin.once('data', () => {
  process.stdout.write(`${JSON.stringify({ dueMs, latencies, lateness })}\n`, () => process.exit())
})
