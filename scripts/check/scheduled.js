// Runs of the program beside the scheduler's own count of what their servers used.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {{ atMs: number, value: number }} Point
 * @typedef {object} Seen of one run, in us an item
 * @property {number | null} net as it printed
 * @property {number | null} within its ±
 * @property {number | null} gross
 * @property {number | null} grossWithin
 * @property {string} why there is no net figure, or who else was at work; empty: nobody
 * @property {number | null} scheduled by the scheduler's count, without what the servers used before the first write
 * @property {boolean} valid
 */

const everyMs = 20

/** Seconds on a core of all threads of processes, by the scheduler's count. @param {readonly number[]} pids */
const secondsOf = (pids) =>
  pids.reduce(
    (sum, pid) =>
      readdirSync(`/proc/${pid}/task`).reduce(
        (all, task) =>
          all + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e9,
        sum,
      ),
    0,
  )

/** @param {readonly number[]} pids */
export const schedulerSeconds = (pids) => {
  const points = /** @type {Point[]} */ ([])
  const timer = setInterval(() => points.push({ atMs: Date.now(), value: secondsOf(pids) }), everyMs)
  return { points, stop: () => clearInterval(timer) }
}

/** At a moment, in a line between the points beside it. @param {readonly Point[]} points @param {number} atMs */
const valueAt = (points, atMs) => {
  const next = points.findIndex((point) => point.atMs >= atMs)
  if (next <= 0) return points.at(next === 0 ? 0 : -1)?.value ?? Number.NaN
  const [a, b] = [points[next - 1], points[next]]
  return a.value + ((b.value - a.value) * (atMs - a.atMs)) / (b.atMs - a.atMs)
}

/** @param {string} program @param {string} line @param {{ host: string, port: number, password?: string, cluster: boolean }} servers */
const childOf = (program, line, { host, port, password, cluster }) =>
  spawn(
    process.execPath,
    [
      fileURLToPath(new URL(`../../${program}`, import.meta.url)),
      ...`--host ${host} --port ${port} ${line}`.split(' '),
      ...(cluster ? ['--cluster'] : []),
    ],
    {
      env: { ...process.env, REDISCLI_AUTH: password, MILLRACE_REPORT: 'false' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )

/** A program at work on servers. @param {string} program @param {string} line @param {{ nodes: readonly { host: string, port: number }[], access: { password?: string }, cluster: boolean }} servers */
export const started = (program, line, { nodes: [{ host, port }], access: { password }, cluster }) => {
  const child = childOf(program, line, { host, port, password, cluster })
  let text = ''
  const closed = once(child, 'close')
  child.stderr.setEncoding('utf8').on('data', (more) => {
    text += more
  })
  return {
    child,
    ended: closed,

    /** @param {RegExp} pattern */
    async says(pattern) {
      while (!pattern.test(text)) {
        if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${text}`)
        await Promise.race([once(child.stderr, 'data'), closed])
      }
    },
  }
}

/** @param {any} document run.json @param {readonly Point[]} points @returns {Seen} */
export const ended = (
  { started: at, duration_s: durationS, measured_s: measuredS, rate, server, warnings, valid },
  points,
) => {
  const startMs = Date.parse(at)
  const toMs = startMs + durationS * 1000
  const fromMs = toMs - measuredS * 1000
  // The idle cost is measured just before the first write.
  const idleFromMs = Math.max(points[0].atMs, startMs - 2500)
  const idleToMs = startMs - 700
  const idleS = (valueAt(points, idleToMs) - valueAt(points, idleFromMs)) / (idleToMs - idleFromMs)
  const usedS = valueAt(points, toMs) - valueAt(points, fromMs) - idleS * (toMs - fromMs)
  const others = warnings.find(
    (/** @type {any} */ { code }) => code === 'foreign-load' || code === 'consumers',
  )
  return {
    net: server.cpu_us_per_item_net,
    within: server.cpu_us_per_item_net_uncertainty,
    gross: server.cpu_us_per_item,
    grossWithin: server.cpu_us_per_item_uncertainty,
    why: others?.message ?? server.idle.why ?? '',
    scheduled: rate.achieved > 0 ? (usedS * 1e6) / (rate.achieved * measuredS) : null,
    valid,
  }
}

/** What the same load cost alone, before and after. @param {readonly Seen[]} alone */
export const truthOf = (alone) => {
  const all = alone.map(({ scheduled }) => Number(scheduled))
  return {
    truth: all.reduce((sum, n) => sum + n, 0) / all.length,
    range: Math.max(...all) - Math.min(...all),
  }
}
