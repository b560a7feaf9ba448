#!/usr/bin/env node
// Compares what a run reports with the same figures from outside: the CPU of the server and of the client, the network,
// the memory of an item, the bystander, the share. Prints a table and fails nothing: a deviation beyond its limit is
// marked unless the run itself warns.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ExitCode } from '../lib/base/errors.js'
import { alignedTable } from '../lib/base/layout.js'
import { repositoryScript } from '../lib/cli/script.js'
import { grainMs } from '../lib/probes/bystander.js'
import { bystanderThread } from '../lib/probes/bystander-thread.js'
import { startEmbedded } from '../lib/servers/embedded.js'
import { digits, start } from './bench/room.js'
import { rise, startPinger, watchCpu, watchServer } from './check/witness.js'

const usage = `Usage: node scripts/check-figures.js [options]

  --short      one strategy, two rates, socket driver and ioredis; about a minute
  --seconds N  measured of each run (8)
  --json       the rows as JSON
  -h, --help   this text

The full form takes nine minutes: three strategies, both drivers, 1,000 to 100,000 items/s, calm and beside a process
that burns a core, and two boxes that share the load.`

const warmUpS = 2
/** @type {Record<string, string>} which command runs once an item */
const itemCommands = { 'sorted-set': 'setex', list: 'setex', hash: 'hset' }
const procTickS = 0.01
const limits = { bystander: 0.25, other: 0.05 }
// What a run says by itself of figures that are not to be trusted.
const excuses = ['client-contended', 'client-stopped', 'client-saturated', 'io-threads', 'gaps', 'rate']

/**
 * @typedef {{ strategy: string, driver: string, rate: number, burner: boolean, boxes: number }} Case
 * @typedef {{ case: Case, figure: string, reported: number | null, outside: number | null, deviation: number | null, limit: number, warnings: string[], beyond: boolean }} Row
 */

/** @param {boolean} short @returns {Case[]} */
const casesOf = (short) => {
  const strategies = short ? ['sorted-set'] : ['sorted-set', 'list', 'hash']
  const rates = short ? [1000, 10_000] : [1000, 10_000, 100_000]
  const steady = strategies.flatMap((strategy) =>
    ['socket', 'ioredis'].flatMap((driver) =>
      rates.flatMap((rate) =>
        (short ? [false] : [false, true]).map((burner) => ({ strategy, driver, rate, burner, boxes: 1 })),
      ),
    ),
  )
  const shared = { strategy: 'sorted-set', driver: 'socket', rate: 10_000, burner: false, boxes: 2 }
  return short ? steady : [...steady, shared]
}

/** A process that uses all of a core for as long as the run takes. */
const startBurner = () => {
  const child = spawn(
    process.execPath,
    ['-e', 'for (const end = Date.now() + 60_000; Date.now() < end; );'],
    {
      stdio: 'ignore',
    },
  )
  return () => child.kill('SIGKILL')
}

const p90 = (/** @type {number[]} */ values) =>
  values.length === 0 ? null : values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.9)]

/**
 * Between which of its values the p90 of as many others of the same server lies in 95 of 100 cases: two samples of 400
 * PINGs that differ by chance, where a burst takes up about a tenth of the time, have p90 of 0.5 and of 0.9 ms.
 * @param {number[]} values
 */
const p90Range = (values) => {
  const sorted = values.toSorted((a, b) => a - b)
  const n = sorted.length
  const apart = 1.96 * Math.sqrt(2 * n * 0.9 * 0.1)
  const at = (/** @type {number} */ rank) => sorted[Math.max(0, Math.min(n - 1, Math.round(rank)))]
  return [at(n * 0.9 - apart), at(n * 0.9 + apart)]
}

/**
 * The grain of its timer is the witness's own, as the bystander has one of its own; what is later than that had to wait
 * for a core, in both.
 * @param {any} pings
 * @param {number} [fromMs]
 * @param {number} [toMs]
 */
const witnessed = ({ latencies, lateness, dueMs }, fromMs = 0, toMs = Number.POSITIVE_INFINITY) =>
  /** @type {number[]} */ (latencies)
    .map((ms, i) => ms - Math.min(grainMs, lateness[i]))
    .filter((_, i) => dueMs[i] >= fromMs && dueMs[i] < toMs)

/** How far bystander and witness are apart on a server without load, at p90. @param {number} seconds */
const idleDifferenceUs = async (seconds) => {
  const server = await startEmbedded({ cluster: false, stateDir: null, log: () => {} })
  const { access } = server
  const [{ host, port }] = server.nodes
  /** @type {number[]} */
  const own = []
  const thread = bystanderThread({
    masters: () => [{ host, port }],
    access,
    record: (_, us) => own.push(us),
  })
  try {
    await thread.start()
    const pinger = await startPinger({ host, port, password: access.password })
    await sleep(seconds * 1000)
    await thread.stop()
    return Math.abs(Number(p90(own)) - 1000 * Number(p90(witnessed(await pinger.end()))))
  } finally {
    await server.close()
  }
}

/**
 * One run, or one of two boxes, and what was seen of it from outside.
 * @param {Case} of
 * @param {number} seconds
 * @param {number} idleUs
 * @returns {Promise<Row[]>}
 */
const check = async (of, seconds, idleUs) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-check-'))
  const server = await startEmbedded({ cluster: false, stateDir: null, log: () => {} })
  const [{ host, port, pid }] = server.nodes
  const at = { host, port, password: server.access.password }
  /** @type {(() => void)[]} */
  const undo = [() => rmSync(folder, { recursive: true, force: true })]
  try {
    const outside = watchServer(at, itemCommands[of.strategy])
    const dataBefore = await outside.data()
    if (of.burner) undo.unshift(startBurner())
    const serverCpu = watchCpu(pid)
    const pinger = await startPinger(at)
    undo.unshift(pinger.kill)
    const load = [
      ...['-q', String(of.rate), '-c', '4', '--strategy', of.strategy, '--driver', of.driver],
      ...['--warm-up', `${warmUpS}s`, '--duration', `${warmUpS + seconds}s`, '--idle-cost', 'never'],
    ]
    const room = { folder, seconds: (/** @type {number} */ n) => n, env: environment(at) }
    const programs = Array.from({ length: of.boxes }, (_, box) =>
      start(room, 'producer.js', [
        ...load,
        ...(of.boxes > 1 ? ['-t', String(of.boxes), '-a', String(box + 1)] : []),
      ]),
    )
    const clientCpu = watchCpu(Number(programs[0].child.pid))
    const [run] = await Promise.all(programs.map(({ ended }) => ended))
    const pings = await pinger.end()
    serverCpu.stop()
    clientCpu.stop()
    const dataBytes = (await outside.data()) - dataBefore
    await outside.stop()
    return rowsOf(of, run, {
      dataBytes,
      outside: outside.points,
      serverCpu: serverCpu.points,
      clientCpu: clientCpu.points,
      pings,
      idleUs,
    })
  } finally {
    for (const step of undo) step()
    await server.close()
  }
}

/** @param {{ host: string, port: number, password?: string }} server */
const environment = ({ host, port, password }) => ({
  REDIS_HOST: host,
  REDIS_PORT: String(port),
  REDIS_PASSWORD: password,
  MILLRACE_REPORT: 'false',
})

/** @param {Case} of @param {any} run @param {any} seen @returns {Row[]} */
const rowsOf = (of, run, { dataBytes, outside, serverCpu, clientCpu, pings, idleUs }) => {
  const startMs = Date.parse(run.started)
  const fromMs = startMs + warmUpS * 1000 - 20
  const toMs = startMs + run.duration_s * 1000
  const lengthS = run.measured_s
  const all = Number(rise(outside.items, fromMs, toMs))
  const part = (/** @type {number | null} */ figure) => (figure === null ? null : figure / lengthS)
  const within = witnessed(pings, fromMs, toMs)
  const netBytes = rise(outside.net, fromMs, toMs)
  const us = (/** @type {number | null} */ ms) => (ms === null ? null : ms * 1000)
  const pct = (/** @type {number | null} */ s) => (s === null ? null : s * 100)
  const codes = run.warnings.map((/** @type {{ code: string }} */ { code }) => code)
  /** @type {[string, number | null, number | null][]} */
  const pairs = [
    ['server CPU, %', run.nodes[0].cpu_pct, pct(part(rise(serverCpu, fromMs, toMs)))],
    ['client CPU, %', run.client.cpu_pct, pct(part(rise(clientCpu, fromMs, toMs)))],
    ['network an item, B', run.server.net_bytes_per_item, netBytes === null ? null : netBytes / all],
    ['memory an item, B', run.server.memory_bytes_per_item, dataBytes / of.rate],
    ['bystander p90, us', run.bystander_us?.p90 ?? null, us(p90(within))],
    ['share', run.server.share, 1 / of.boxes],
  ]
  return pairs.map(([figure, reported, found]) => {
    const isBystander = figure.startsWith('bystander')
    const deviation = reported === null || !found ? null : reported / found - 1
    const limit = isBystander ? limits.bystander : limits.other
    const warnings = codes.filter((/** @type {string} */ code) => excuses.includes(code))
    // Two programs that wake from sleep differ by so much without any load; /proc counts CPU in ticks, cut at both ends.
    const apart = isBystander ? idleUs : figure.endsWith('CPU, %') ? (100 * 2 * procTickS) / lengthS : 0
    const [least, most] = isBystander ? p90Range(within).map((ms) => ms * 1000) : [found, found]
    const beyond =
      deviation !== null &&
      warnings.length === 0 &&
      (Number(reported) > Number(most) * (1 + limit) + apart ||
        Number(reported) < Number(least) * (1 - limit) - apart)
    return { case: of, figure, reported, outside: found, deviation, limit, warnings, beyond }
  })
}

const shown = (/** @type {number | null} */ n) => (n === null ? '–' : digits(n, n < 100 ? 2 : 0))

/** @param {Row[]} rows */
const table = (rows) =>
  alignedTable(
    [
      {
        title: 'strategy',
        left: true,
        cell: ({ case: { strategy, boxes } }) => (boxes > 1 ? `${strategy}, ${boxes} boxes` : strategy),
      },
      { title: 'driver', left: true, cell: ({ case: { driver } }) => driver },
      { title: 'items/s', cell: ({ case: { rate } }) => digits(rate) },
      { title: '', left: true, cell: ({ case: { burner } }) => (burner ? 'burner' : 'calm') },
      { title: 'figure', left: true, cell: ({ figure }) => figure },
      { title: 'reported', cell: ({ reported }) => shown(reported) },
      { title: 'from outside', cell: ({ outside }) => shown(outside) },
      {
        title: 'deviation',
        cell: ({ deviation }) => (deviation === null ? '–' : `${digits(deviation * 100, 1)} %`),
      },
      { title: '', left: true, cell: ({ beyond, warnings }) => (beyond ? 'BEYOND' : warnings.join(', ')) },
    ],
    rows,
    200,
  )

await repositoryScript({
  usage,
  options: {
    short: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '8' },
    json: { type: 'boolean', default: false },
  },
  work: async ({ short, seconds, json }) => {
    /** @type {Row[]} */
    const rows = []
    const cases = casesOf(short)
    const idleUs = await idleDifferenceUs(short ? 5 : 15)
    process.stderr.write(
      `without load the p90 of bystander and witness are ${digits(idleUs)} us apart: so much is no deviation below\n`,
    )
    for (const [i, of] of cases.entries()) {
      const { strategy, driver, rate, burner } = of
      process.stderr.write(
        `${i + 1} of ${cases.length}: ${strategy}, ${driver}, ${rate}/s${burner ? ', burner' : ''}\n`,
      )
      rows.push(...(await check(of, Number(seconds), idleUs)))
    }
    const beyond = rows.filter((row) => row.beyond).length
    if (json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`)
    else
      process.stdout.write(
        `${table(rows).join('\n')}\n\n${beyond} of ${rows.length} beyond their limit without a warning\n`,
      )
    return ExitCode.done
  },
})
