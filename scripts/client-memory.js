#!/usr/bin/env node
// The memory of each client with a million items in flight: a line of JSON for each client and round.
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ExitCode } from '../lib/base/errors.js'
import { libraryOf } from '../lib/base/libraries.js'
import { startLocalServers } from '../lib/cli/run-here.js'
import { repositoryScript } from '../lib/cli/script.js'
import { linesOf, startProgram } from '../lib/experiments/programs.js'
import { refuseNumbers } from './bench/arguments.js'

const usage = `Usage: node scripts/client-memory.js [options] [words of the clients...]

  --file PATH      results, a line for each client and round; new ones are added (clients-memory.ndjson)
  --quantity N     items that are due at one moment (1000000)
  --rounds N       (3)
  --limit N        seconds after which a client that is not done is ended (100)
  -h, --help       this text`

const free = 2_000_000
const endLimitMs = 180_000
/** @type {Record<string, string[]>} by what a row is called: what is typed */
const clients = {
  'plain sockets': [],
  'plain sockets, window of 1 GB': ['--window', '1GB'],
  ioredis: ['--driver', 'ioredis', '--driver-option', `inFlight=${free},answerLimit=0`],
  iovalkey: ['--driver', 'iovalkey', '--driver-option', `inFlight=${free},answerLimit=0`],
  'node-redis without its timer': [
    ...['--driver', 'node-redis', '--driver-option', `inFlight=${free},answerLimit=0,commandTimeout=0`],
  ],
  'valkey-glide': [
    ...['--driver', 'valkey-glide', '--driver-option'],
    `inflightRequestsLimit=${free},answerLimit=0,requestTimeout=600000`,
  ],
  'valkey-glide in batches': [
    ...['--driver', 'valkey-glide', '--driver-option'],
    `inflightRequestsLimit=${free},answerLimit=0,requestTimeout=600000,batchCommands=1000`,
  ],
}

/** @param {string} client @param {{ quantity: number, limitS: number }} terms */
const played = async (client, { quantity, limitS }) => {
  const outDir = mkdtempSync(join(tmpdir(), 'millrace-memory-'))
  const servers = await startLocalServers()
  const { password, host } = new URL(servers.options.url)
  const args = [
    ...['--url', `redis://${host}`],
    ...['--command', 'SETEX item:{n} 600 {value}', '-q', String(quantity), '-c', '1', '-p', `${limitS}s`],
    ...['--duration', `${limitS}s`, '--warm-up', '0s', '--max-behind', '10m', '--idle-cost', 'never'],
    ...['--guard', 'off', '--allow', 'memory', ...clients[client]],
  ]
  const common = { env: process.env, secrets: { REDIS_PASSWORD: password }, limitMs: null }
  const run = startProgram('producer', { args, outDir, name: 'run', ...common })
  const fromMs = performance.now()
  try {
    // All that is acknowledged ends the run; what has no answer is left when its time is over.
    const acked = async () =>
      (await linesOf(join(run.folder, 'intervals.ndjson'))).reduce(
        (sum, { items }) => sum + (items?.acked ?? 0),
        0,
      )
    while (!run.isOver() && (await acked()) < quantity) await sleep(500)
    // A million promises and more take long to end.
    run.interrupt(endLimitMs)
    const { document, lines } = await run.ended
    const { client: process, items, versions, duration_s: tookS } = document
    const stillS = Math.max(...lines.map(({ client: second }) => second?.over_s ?? 0))
    const { rss_mb_max: rssMb, gc_s: gcS, gc_ms_max: gcMs } = process
    return { client, rssMb, gcS, gcMs, stillS, tookS, items, node: versions.node, servers: versions.servers }
  } catch (error) {
    const crashed = /** @type {Error} */ (error).message
    return { client, crashed, tookS: (performance.now() - fromMs) / 1000 }
  } finally {
    await servers.close()
    rmSync(outDir, { recursive: true })
  }
}

await repositoryScript({
  usage,
  options: {
    file: { type: 'string', default: 'clients-memory.ndjson' },
    quantity: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    limit: { type: 'string', default: '100' },
  },
  work: async ({ file, ...typed }, words) => {
    refuseNumbers(typed)
    const [quantity, rounds, limitS] = [typed.quantity, typed.rounds, typed.limit].map(Number)
    const names = Object.keys(clients).filter(
      (name) => words.length === 0 || words.some((word) => name.includes(word)),
    )
    for (let round = 1; round <= rounds; round++)
      for (const client of names) {
        const driver = clients[client][0] === '--driver' ? clients[client][1] : 'socket'
        const version = libraryOf({ driver, driverOptions: [] })?.version ?? null
        const outcome = await played(client, { quantity, limitS })
        const where = { version, quantity, limitS, cores: availableParallelism() }
        appendFileSync(file, `${JSON.stringify({ ...outcome, ...where })}\n`)
        process.stderr.write(`round ${round}, ${client}: ${Math.round(outcome.rssMb ?? 0)} MB\n`)
      }
    return ExitCode.done
  },
})
