#!/usr/bin/env node
// BullMQ beside our queues: the same jobs, work and concurrency, in turn on servers of their own. What the server paid is read
// from outside in the same way for all: its CPU and commandstats before and after.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ExitCode, OptionError } from '../lib/base/errors.js'
import { alignedTable } from '../lib/base/layout.js'
import { count, micros, rate } from '../lib/base/units.js'
import { repositoryScript } from '../lib/cli/script.js'
import { hardware } from '../lib/experiments/summary.js'
import { controlConnections } from '../lib/servers/control.js'
import { startEmbedded } from '../lib/servers/embedded.js'
import { parseInfo } from '../lib/wire/info.js'
import { bullmqSide } from './bench/queue-bullmq.js'
import { ourSides } from './bench/queue-ours.js'
import { median } from './bench/room.js'

/**
 * @import { Redis } from 'ioredis'
 *
 * @typedef {{ host: string, port: number, password: string }} At
 * @typedef {{ jobs: number, seconds: number, workers: number, workMs: number, jobBytes: number, rate: number }} Load
 * @typedef {{ done: number, again: number, left: number, overS: number }} Drained left: still in the queue
 * @typedef {object} Side
 * @property {string} name
 * @property {(at: At, load: Load) => Promise<void>} put as many jobs as the load has
 * @property {(at: At, load: Load) => Promise<Drained>} drain for so many seconds
 * @property {(at: At, load: Load) => Promise<{ done: number, p50Us: number, p99Us: number }>} pace jobs at a rate, and workers
 *   beside them; latencies from when a job is due to when it is done
 *
 * @typedef {Record<'rate' | 'p50_us' | 'p99_us' | 'put_cpu_us' | 'done_cpu_us' | 'client_cpu_us' | 'put_commands' | 'done_commands' | 'lost' | 'again', number>} Figures
 * @typedef {Figures & { name: string, commands: Record<string, number> }} Row commands of the server a job done, of the main ones
 * @typedef {Load & { hardware: string, server: string, node: string, recorded: string, rounds: number, rows: Row[] }} Peers
 */

const usage = `Usage: node scripts/queue-peers.js [options]

  --jobs N      in the queue before workers begin: more than they can do (20000)
  --seconds N   that the workers have (4)
  --workers N   or, of BullMQ, its concurrency (8)
  --work MS     that each job waits, as for another service (2)
  --rounds N    of each; prints the medians (3)
  --rate N      at which jobs come where the latency is measured: less than the workers can do (1000)
  --record      writes them to docs/data/queue-peers.json
  -h, --help    this text`

const file = fileURLToPath(new URL('../docs/data/queue-peers.json', import.meta.url))
const jobBytes = 128
// Commands from outside of a queue, which are not for a job.
const beside =
  /^(info|ping|hello|auth|select|client|config|command|cluster|acl|memory|time|script|role|readonly)\b/
const leastShare = 0.05

/** @param {Redis} client */
const usedBy = async (client) => {
  const { fields, commands } = parseInfo(await client.info('everything'))
  return { us: (Number(fields.used_cpu_user) + Number(fields.used_cpu_sys)) * 1e6, commands }
}

/**
 * What the server and this process paid for the work.
 * @template T
 * @param {Redis} client
 * @param {() => Promise<T>} work
 */
const paid = async (client, work) => {
  const before = await usedBy(client)
  const own = process.cpuUsage()
  const result = await work()
  const { user, system } = process.cpuUsage(own)
  const after = await usedBy(client)
  const calls = Object.fromEntries(
    Object.entries(after.commands)
      .filter(([name]) => !beside.test(name))
      .map(([name, { calls }]) => [name, calls - (before.commands[name]?.calls ?? 0)]),
  )
  return { result, serverUs: after.us - before.us, clientUs: user + system, calls }
}

/** @param {Record<string, number>} calls @param {number} jobs */
const commandsAJob = (calls, jobs) => Object.values(calls).reduce((sum, n) => sum + n, 0) / jobs

/** On a server of its own. @template T @param {(at: At, client: Redis) => Promise<T>} work */
const onServer = async (work) => {
  const server = await startEmbedded({ cluster: false, stateDir: null, log: () => {} })
  const control = controlConnections(server.access)
  try {
    const [endpoint] = server.endpoints
    return await work({ ...endpoint, password: String(server.access.password) }, control.clientOf(endpoint))
  } finally {
    control.close()
    await server.close()
  }
}

/** One side once. @param {Side} side @param {Load} load */
const roundOf = async (side, load) => {
  const paced = await onServer((at) => side.pace(at, load))
  if (paced.done !== load.rate * load.seconds)
    throw new Error(
      `${side.name}: ${paced.done} of ${load.rate * load.seconds} jobs at ${load.rate}/s were done`,
    )
  return onServer(async (at, client) => {
    const put = await paid(client, () => side.put(at, load))
    const { result, serverUs, clientUs, calls } = await paid(client, () => side.drain(at, load))
    const { done, again, left, overS } = result
    const figures = {
      rate: done / overS,
      ...{ p50_us: paced.p50Us, p99_us: paced.p99Us },
      put_cpu_us: put.serverUs / load.jobs,
      done_cpu_us: serverUs / done,
      client_cpu_us: clientUs / done,
      put_commands: commandsAJob(put.calls, load.jobs),
      done_commands: commandsAJob(calls, done),
      ...{ lost: load.jobs - done - left, again },
    }
    const commands = Object.fromEntries(
      Object.entries(calls)
        .map(([name, n]) => /** @type {[string, number]} */ ([name, Number((n / done).toFixed(2))]))
        .filter(([, n]) => n >= leastShare)
        .sort((a, b) => b[1] - a[1]),
    )
    const { redis_version: version } = parseInfo(await client.info('server')).fields
    return { figures, commands, version }
  })
}

/** @param {Record<string, any>} options @param {string} name @param {number} otherwise */
const wholeOf = (options, name, otherwise) => {
  const n = Number(options[name] ?? otherwise)
  if (!Number.isInteger(n) || n < 1)
    throw new OptionError(`--${name} ${options[name]}: a whole number from 1 on`)
  return n
}

/** @param {Record<string, any>} options */
const work = async (options) => {
  const load = {
    jobs: wholeOf(options, 'jobs', 20_000),
    seconds: wholeOf(options, 'seconds', 4),
    workers: wholeOf(options, 'workers', 8),
    workMs: wholeOf(options, 'work', 2),
    jobBytes,
    rate: wholeOf(options, 'rate', 1000),
  }
  const rounds = wholeOf(options, 'rounds', 3)
  const sides = [...ourSides, await bullmqSide()]
  const measured = sides.map((side) => ({
    side,
    rounds: /** @type {Awaited<ReturnType<typeof roundOf>>[]} */ ([]),
  }))
  for (let round = 0; round < rounds; round++)
    for (const one of measured) one.rounds.push(await roundOf(one.side, load))
  /** @type {Row[]} */
  const rows = measured.map(({ side, rounds: own }) => ({
    name: side.name,
    .../** @type {Figures} */ (
      Object.fromEntries(
        Object.keys(own[0].figures).map((name) => [
          name,
          Number(
            median(own.map(({ figures }) => figures[/** @type {keyof Figures} */ (name)])).toPrecision(4),
          ),
        ]),
      )
    ),
    commands: own[0].commands,
  }))
  process.stdout.write(`${tableText(rows)}\n`)
  /** @type {Peers} */
  const peers = {
    ...load,
    hardware: hardware(),
    server: measured[0].rounds[0].version,
    node: process.versions.node,
    recorded: new Date().toISOString().slice(0, 10),
    rounds,
    rows,
  }
  if (options.record) writeFileSync(file, `${JSON.stringify(peers, null, 2)}\n`)
  return rows.some(({ lost }) => lost !== 0) ? ExitCode.invalid : ExitCode.done
}

/** @param {readonly Row[]} rows */
const tableText = (rows) =>
  alignedTable(
    [
      { title: '', left: true, cell: ({ name }) => name },
      { title: 'jobs/s', cell: (row) => rate(row.rate) },
      { title: 'p50', cell: (row) => micros(row.p50_us) },
      { title: 'p99', cell: (row) => micros(row.p99_us) },
      { title: 'server CPU, put', cell: (row) => micros(row.put_cpu_us) },
      { title: 'done', cell: (row) => micros(row.done_cpu_us) },
      { title: 'client CPU', cell: (row) => micros(row.client_cpu_us) },
      { title: 'commands', cell: (row) => row.done_commands.toFixed(2) },
      { title: 'lost', cell: ({ lost }) => count(lost) },
      { title: 'again', cell: ({ again }) => count(again) },
    ],
    [...rows],
    130,
  ).join('\n')

repositoryScript({
  usage,
  options: {
    ...Object.fromEntries(
      ['jobs', 'seconds', 'workers', 'work', 'rounds', 'rate'].map((name) => [
        name,
        { type: /** @type {const} */ ('string') },
      ]),
    ),
    record: { type: 'boolean' },
  },
  work,
})
