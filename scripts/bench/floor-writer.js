// The least that a Node program takes to write at a rate: the same bytes as a writer of sorted-set, encoded before, and replies that
// are only counted. Arguments: port, items a second, batches a second, seconds of warm-up, seconds, PINGs a second on a connection of
// their own. Prints CPU of its thread per item, and of the process in % of a core, as JSON.
import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { linuxThreadCpuS } from '../../lib/probes/client-health.js'
import { commandBytes } from '../../lib/wire/encode.js'

const [port, rate, batches, warmUpS, seconds, pings = 0] = process.argv.slice(2).map(Number)
const items = Math.floor(rate / batches)
const value = 'x'.repeat(128)
const okBytes = '+OK\r\n'.length

/** Batch b of an interval. @param {number} b */
const batchOf = (b) => {
  const numbers = Array.from({ length: items }, (_, i) => String(b * items + i + 1))
  const sets = numbers.map((n) => ['SETEX', `item:${n}`, '3', value])
  const members = numbers.flatMap((n) => ['1700000000000', `item:${n}`])
  const adds = []
  for (let at = 0; at < members.length; at += 2000)
    adds.push(['ZADD', 'latest-ids', ...members.slice(at, at + 2000)])
  return { bytes: commandBytes([...sets, ...adds]), replies: sets.length * okBytes }
}

const tape = Array.from({ length: batches }, (_, b) => batchOf(b))
let received = 0
const buffer = Buffer.allocUnsafeSlow(65_536)
const callback = (/** @type {number} */ count) => {
  received += count
  return true
}
const socket = net.connect({ host: '127.0.0.1', port, noDelay: true, onread: { buffer, callback } })
await once(socket, 'connect')
const ping = Buffer.from('*1\r\n$4\r\nPING\r\n')
const pinging = net.connect({
  ...{ host: '127.0.0.1', port, noDelay: true },
  onread: { buffer: Buffer.allocUnsafeSlow(64), callback: () => true },
})
await once(pinging, 'connect')
const pinger = pings > 0 ? setInterval(() => pinging.write(ping), 1000 / pings) : undefined
const startMs = performance.now()
const spacingMs = 1000 / batches
let cpuS = 0
let whole = process.cpuUsage()
let sent = 0
for (let tick = 0; tick < (warmUpS + seconds) * batches; tick++) {
  const waitMs = tick * spacingMs - (performance.now() - startMs)
  if (waitMs > 0) await sleep(Math.ceil(waitMs))
  if (tick === warmUpS * batches) {
    cpuS = linuxThreadCpuS()
    whole = process.cpuUsage()
    sent = 0
  }
  socket.write(tape[tick % batches].bytes)
  sent += items
}
await sleep(spacingMs)
cpuS = linuxThreadCpuS() - cpuS
const { user, system } = process.cpuUsage(whole)
clearInterval(pinger)
socket.destroy()
pinging.destroy()
const isWhole = received >= tape[0].replies * (warmUpS + seconds - 1) * batches
const figures = {
  cpu_us: (cpuS * 1e6) / sent,
  process_pct: (user + system) / seconds / 1e4,
  is_whole: isWhole,
}
process.stdout.write(`${JSON.stringify(figures)}\n`)
