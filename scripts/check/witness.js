// Figures of a run from outside, by other means than its own: the scheduler's count for CPU, a connection of its own for
// the servers' counters, a process of its own for what another application gets.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'

const pinger = fileURLToPath(new URL('./pinger.py', import.meta.url))
const cpuEveryMs = 20
const countersEveryMs = 50
const countedMs = 1200
const mostWaits = 200
const clientBytes = 20_000 // of one that was just opened

/** @typedef {{ atMs: number, value: number }} Point epoch */

const ticksASecond = 100 // of /proc, on every Linux

/** Seconds of CPU of all threads of a process, of those that have ended too. @param {number} pid */
const cpuSeconds = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksASecond
}

/**
 * What a counter rose by from a little before a moment to a little after another: between bursts both are quiet.
 * @param {readonly Point[]} points
 * @param {number} fromMs
 * @param {number} toMs
 */
export const rise = (points, fromMs, toMs) => {
  const first = points.findLast(({ atMs }) => atMs <= fromMs)
  const last = points.find(({ atMs }) => atMs >= toMs) ?? points.at(-1)
  return first && last ? last.value - first.value : null
}

/** CPU of a process, read as often as its files can be, until it is gone. @param {number} pid */
export const watchCpu = (pid) => {
  /** @type {Point[]} */
  const points = []
  const timer = setInterval(() => {
    try {
      points.push({ atMs: Date.now(), value: cpuSeconds(pid) })
    } catch {
      clearInterval(timer)
    }
  }, cpuEveryMs)
  return { points, stop: () => clearInterval(timer) }
}

/** @param {string} text @param {string} name */
const field = (text, name) => Number(new RegExp(`^${name}:?(\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN)

// INFO counts a histogram of each command nowhere; see lib/probes/node-figures.js.
const histogramBytes = 24_688

/** Bytes of keys, values and their tables as MEMORY STATS has them. @param {Redis} redis */
const dataBytes = async (redis) => {
  const reply = /** @type {any[]} */ (await redis.call('MEMORY', 'STATS'))
  const stats = new Map(reply.flatMap((name, at) => (at % 2 === 0 ? [[String(name), reply[at + 1]]] : [])))
  const tables = /** @type {any[]} */ (stats.get('db.0') ?? [])
  const overhead = tables.reduce((sum, bytes, at) => (at % 2 === 1 ? sum + Number(bytes) : sum), 0)
  const histograms = String(await redis.info('latencystats')).match(/^latency_percentiles/gm)?.length ?? 0
  return Number(stats.get('dataset.bytes')) + overhead - histograms * histogramBytes
}

/** Whether a server counts all its clients as clients, and none of them as data. @param {Redis} redis */
const areClientsCounted = async (redis) => {
  const list = String(await redis.call('CLIENT', 'LIST'))
  const listed = [...list.matchAll(/ tot-mem=(\d+)/g)].reduce((sum, [, bytes]) => sum + Number(bytes), 0)
  const counted = /^mem_clients_normal:(\d+)/m.exec(String(await redis.info('memory')))?.[1]
  return Math.abs(listed - Number(counted)) < clientBytes / 10
}

/** @param {{ host: string, port: number, password?: string }} server @param {string} [itemCommand] runs once an item */
export const watchServer = ({ host, port, password }, itemCommand = 'setex') => {
  const redis = new Redis({ host, port, password, connectionName: 'witness' })
  redis.on('error', () => {})
  /** @type {Record<'net' | 'items', Point[]>} */
  const points = { net: [], items: [] }
  let stopped = false
  const every = async (/** @type {number} */ ms, /** @type {() => Promise<void>} */ read) => {
    while (!stopped) {
      await read().catch(() => {})
      await sleep(ms)
    }
  }
  void every(countersEveryMs, async () => {
    const text = String(await redis.info('stats', 'commandstats'))
    const atMs = Date.now()
    points.net.push({
      atMs,
      value: field(text, 'total_net_input_bytes') + field(text, 'total_net_output_bytes'),
    })
    points.items.push({ atMs, value: field(text, `cmdstat_${itemCommand}:calls=`) || 0 })
  })
  return {
    points,
    /** Bytes of data between writes: for up to a second, a server counts a new connection as data, not as a client. */
    async data() {
      await dataBytes(redis) // a command takes a histogram when it is run for the first time
      let bytes = Number.NaN
      let sameMs = 0
      // A machine that is busy takes longer.
      for (let waits = 0; waits < mostWaits && sameMs < countedMs; waits++) {
        await sleep(countersEveryMs)
        const isCounted = await areClientsCounted(redis)
        const now = await dataBytes(redis)
        sameMs = isCounted && Math.abs(now - bytes) < clientBytes / 10 ? sameMs + countersEveryMs : 0
        bytes = now
      }
      return bytes
    },
    /** Ends the loop without waiting for its question, which a server that has ended may never answer. */
    stop() {
      stopped = true
      redis.disconnect()
    },
  }
}

/** @param {{ host: string, port: number, password?: string }} server @param {{ hz: number, bytes: number }} [even] writes in the place of PINGs */
export const startPinger = async ({ host, port, password }, even) => {
  const rhythm = even ? [even.hz, even.bytes] : []
  const child = spawn('python3', [pinger, host, ...[port, ...rhythm].map(String)], {
    env: { PATH: process.env.PATH, REDISCLI_AUTH: password },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  return {
    kill: () => child.kill('SIGKILL'),
    /** @returns {Promise<{ dueMs: number[], latencies: number[], lateness: number[] }>} */
    async end() {
      const closed = once(child, 'close')
      child.stdin.write('end\n')
      const { value } = await lines.next()
      await closed
      return JSON.parse(value)
    },
  }
}
