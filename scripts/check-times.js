#!/usr/bin/env node
// Latencies that a run reports beside those of an independent client in another language, in the same seconds:
//   even   service time of writes at an even rate beside the same writes of the client; the timer's part is a row of its own
//   busy   the bystander beside PINGs of the client, on a server that is 80 % busy
// Prints a table and fails nothing; about 50 seconds.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ExitCode } from '../lib/base/errors.js'
import { alignedTable } from '../lib/base/layout.js'
import { repositoryScript } from '../lib/cli/script.js'
import { grainMs } from '../lib/probes/bystander.js'
import { startEmbedded } from '../lib/servers/embedded.js'
import { digits, start } from './bench/room.js'
import { startPinger } from './check/witness.js'

const usage = `Usage: node scripts/check-times.js [options]

  --seconds N  measured of each run (8)
  --json       the rows as JSON
  -h, --help   this text`

const warmUpS = 2
/** In the place of its file. */
const busyModel = '(busy)'
const bytes = 128
const evenHz = [200, 1000]
const busyPct = 80
const firstHz = 2000
// About 40 us on the server.
const model = {
  keys: { 'item:{n}': 'string' },
  write: [
    'SETEX item:{n} 60 {value}',
    'EVAL "local x = 0 for i = 1, 4000 do x = x + i end return x" 1 item:{n}',
  ],
}

/**
 * @typedef {{ play: string, figure: string, reported: number | null, outside: number | null }} Row us
 * @typedef {Awaited<ReturnType<typeof startEmbedded>>} Servers
 * @typedef {Awaited<ReturnType<Awaited<ReturnType<typeof startPinger>>['end']>>} Pings
 */

const percentiles = /** @type {const} */ ([
  ['p50', 0.5],
  ['p90', 0.9],
  ['p99', 0.99],
])

/** @param {readonly number[]} values ms @param {number} rank @returns {number | null} us */
const ranked = (values, rank) =>
  values.length === 0 ? null : values.toSorted((a, b) => a - b)[Math.floor(values.length * rank)] * 1000

/**
 * What the client saw within the measured seconds of a run.
 * @param {Pings} pings
 * @param {any} run
 * @param {(ms: number, lateMs: number) => number} of a latency and how late its timer woke
 */
const within = ({ dueMs, latencies, lateness }, run, of) => {
  const fromMs = Date.parse(run.started) + warmUpS * 1000
  const toMs = Date.parse(run.started) + run.duration_s * 1000
  return latencies.flatMap((ms, i) => (dueMs[i] >= fromMs && dueMs[i] < toMs ? [of(ms, lateness[i])] : []))
}

/** One run, beside the client. @param {Servers} servers @param {string[]} load @param {number} seconds @param {{ hz: number, bytes: number }} [even] */
const besideClient = async ({ nodes: [{ host, port }], access: { password } }, load, seconds, even) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-times-'))
  const file = join(folder, 'busy.yaml')
  writeFileSync(file, JSON.stringify(model))
  const at = { host, port, password }
  const pinger = await startPinger(at, even)
  try {
    const env = {
      ...{ REDIS_HOST: host, REDIS_PORT: String(port), REDIS_PASSWORD: password },
      MILLRACE_REPORT: 'false',
    }
    const length = ['--warm-up', `${warmUpS}s`, '--duration', `${warmUpS + seconds}s`]
    const run = await start({ folder, seconds: (n) => n, env }, 'producer.js', [
      ...load.map((word) => (word === busyModel ? file : word)),
      ...length,
      ...['--idle-cost', 'never', '--allow', 'foreign-keys'],
    ]).ended
    return { run, pings: await pinger.end() }
  } finally {
    pinger.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {Servers} servers @param {number} hz @param {number} seconds @returns {Promise<Row[]>} */
const even = async (servers, hz, seconds) => {
  const load = ['--command', 'SETEX item:{n} 60 {value}', '--value-size', String(bytes), '--rate', String(hz)]
  const { run, pings } = await besideClient(servers, load, seconds, { hz: Math.min(hz, 200), bytes })
  const play = `${hz} writes/s, evenly`
  const { service, intended } = run.latency_us
  const served = within(pings, run, (ms, lateMs) => ms - lateMs)
  const late = within(pings, run, (_, lateMs) => lateMs)
  return [
    ...percentiles.slice(0, 2).map(([name, rank]) => ({
      play,
      figure: `service time ${name}`,
      reported: service[name],
      outside: ranked(served, rank),
    })),
    { play, figure: 'sent late p50', reported: run.ticks.lateness_us.p50, outside: ranked(late, 0.5) },
    { play, figure: 'from the due time p50', reported: intended.p50, outside: null },
  ]
}

/** @param {Servers} servers @param {number} seconds @returns {Promise<Row[]>} */
const busy = async (servers, seconds) => {
  const load = (/** @type {number} */ hz) => [
    ...['--model', busyModel, '--rate', String(hz), '--arrivals', 'poisson'],
  ]
  const engine = (/** @type {any} */ run) => Number(run.nodes[0].engine_cpu_pct)
  const first = await besideClient(servers, load(firstHz), 3)
  const hz = Math.round((firstHz * busyPct) / engine(first.run))
  const { run, pings } = await besideClient(servers, load(hz), seconds)
  const play = `server ${digits(engine(run), 0)} % busy`
  // A grain of the timer is each one's own.
  const seen = within(pings, run, (ms, lateMs) => ms - Math.min(grainMs, lateMs))
  return percentiles.map(([name, rank]) => ({
    play,
    figure: `other client ${name}`,
    reported: run.bystander_us[name],
    outside: ranked(seen, rank),
  }))
}

const shown = (/** @type {number | null} */ us) => (us === null ? '–' : digits(us, 0))

await repositoryScript({
  usage,
  options: { seconds: { type: 'string', default: '8' }, json: { type: 'boolean', default: false } },
  work: async ({ seconds, json }) => {
    const servers = await startEmbedded({ cluster: false, stateDir: null, log: () => {} })
    try {
      /** @type {Row[]} */
      const rows = []
      for (const hz of evenHz) rows.push(...(await even(servers, hz, Number(seconds))))
      rows.push(...(await busy(servers, Number(seconds))))
      const table = alignedTable(
        [
          { title: '', left: true, cell: ({ play }) => play },
          { title: 'us', left: true, cell: ({ figure }) => figure },
          { title: 'reported', cell: ({ reported }) => shown(reported) },
          { title: 'from outside', cell: ({ outside }) => shown(outside) },
          {
            title: 'ratio',
            cell: ({ reported, outside }) =>
              reported === null || !outside ? '–' : digits(reported / outside, 2),
          },
        ],
        rows,
        120,
      )
      process.stdout.write(json ? `${JSON.stringify(rows, null, 2)}\n` : `${table.join('\n')}\n`)
      return ExitCode.done
    } finally {
      await servers.close()
    }
  },
})
