#!/usr/bin/env node
// What is promised of caches beside their curves (which scripts/cache-cells.js holds against servers): the ends of a memory that was
// found, the client's CPU, and the memory that a curve takes.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { settingsOfRun } from '../lib/cli/run-options.js'
import { planOf } from '../lib/loads/plan.js'
import { drawnCurve } from '../lib/run/cache-curve.js'
import { startEmbedded } from '../lib/servers/embedded.js'
import { limitOf } from '../lib/servers/open.js'
import { median } from './bench/room.js'

const usage = `Usage: node scripts/cache-bars.js ends|cpu|memory [options]

  ends         after each search, runs with 5 % less than the low end must miss the limit, and runs with the high end meet it
  cpu          CPU a request of a cache over that of lookups, in pairs: where it has all keys, and with 95 % hits
  memory       what the curve of 100 million keys takes, beside the thread that computes it
  --count N    searches, or pairs (5)
  --plays N    runs with each end of a search (2)
  --side N     searches at a time (1)
  --time TIME  of a search (90s)
  --seed N     (1)
`
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '5' },
    plays: { type: 'string', default: '2' },
    side: { type: 'string', default: '1' },
    time: { type: 'string', default: '90s' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const [count, plays, side, seed] = [values.count, values.plays, values.side, values.seed].map(Number)
const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`)

/** What a program prints as JSON, whatever its exit code. @param {string} script @param {string} line @param {NodeJS.ProcessEnv} [env] @returns {Promise<any>} */
const printed = async (script, line, env = {}) => {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [path, ...line.split(' ')], {
    env: { ...process.env, ...env },
    maxBuffer: 2 ** 26,
  }).catch((error) => error)
  if (!stdout) throw new Error(`${line}: ${stderr}`)
  return JSON.parse(stdout)
}

/** A run on a new server. @param {string} line @param {{ maxmemoryBytes?: number, policy?: string }} [limit] */
const played = async (line, limit = {}) => {
  const none = { cluster: false, shards: 1, replicas: 0, stateDir: null, log: () => {} }
  const started = await startEmbedded({ ...none, config: limitOf({ maxmemoryBytes: undefined, ...limit }) })
  const out = mkdtempSync(join(tmpdir(), 'millrace-bars-'))
  try {
    const [host, port] = started.address.split(':')
    const env = { REDIS_HOST: host, REDIS_PORT: port, REDIS_PASSWORD: started.access.password }
    return await printed('../lib/cli/millrace.js', `write ${line} --idle-cost never --json --out ${out}`, env)
  } finally {
    await started.close()
    rmSync(out, { recursive: true })
  }
}

const searches = [
  { hits: 85, load: '--keys 20k --popularity zipf:0.99 --value-size 200B' },
  { hits: 80, load: '--keys 10k --popularity zipf:0.7 --value-size 500B' },
  { hits: 90, load: '--keys 20k --popularity hot:10%:90% --value-size 300B' },
  { hits: 80, load: '--keys 10k --popularity zipf:0.99 --value-size lognormal:p50=200B,p99=4kB' },
  { hits: 85, load: '--keys 20k --popularity zipf:0.99 --value-size 200B', policy: 'allkeys-lfu' },
]
const lessThanLow = 0.95

/** @param {number} at */
const endsOf = async (at) => {
  const { hits, load, policy = 'allkeys-lru' } = searches[at % searches.length]
  const own = seed * 1000 + at * 50
  const out = mkdtempSync(join(tmpdir(), 'millrace-bars-'))
  const began = performance.now()
  const { find, trials } = await printed(
    '../lib/cli/millrace.js',
    `find cache-aside ${load} --rate 2k --policy ${policy} --over memory --slo hit_rate>${hits}% --time ${values.time} --seed ${own} --json --out ${out}`,
  )
  rmSync(out, { recursive: true })
  const took = Math.round((performance.now() - began) / 1000)
  say(`${hits} % of ${load}, ${policy}: ${Math.round(find.low)} to ${Math.round(find.high)} B, in ${took} s`)
  const ends = { low: find.low * lessThanLow, high: find.high }
  /** @type {{ end: string, isRight: boolean }[]} */
  const found = []
  for (let i = 0; i < plays; i++)
    for (const [end, memory] of Object.entries(ends)) {
      const { seconds } = trials[0]
      const { cache } = await played(
        `--strategy cache-aside ${load} --rate 2k --fill --warm-up 4s --duration ${4 + seconds}s --seed ${own + 20 + i}`,
        { maxmemoryBytes: Math.round(memory), policy },
      )
      const isRight = end === 'low' ? cache.hit_pct < hits : cache.hit_pct >= hits
      say(`  ${end}: ${cache.hit_pct.toFixed(2)} %${isRight ? '' : ', wrong'}`)
      found.push({ end, isRight })
    }
  return found
}

const parts = {
  async ends() {
    const waiting = Array.from({ length: count }, (_, at) => at)
    /** @type {Awaited<ReturnType<typeof endsOf>>} */
    const all = []
    const next = async () => {
      for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) all.push(...(await endsOf(at)))
    }
    await Promise.all(Array.from({ length: side }, next))
    for (const [end, words] of [
      ['low', '5 % less than the low end misses the limit'],
      ['high', 'the high end meets it'],
    ]) {
      const of = all.filter((one) => one.end === end)
      say(`${words}: ${of.filter(({ isRight }) => isRight).length} of ${of.length}`)
    }
  },

  async cpu() {
    const common =
      '--keys 20k --popularity zipf:0.99 --value-size 200B --rate 20k --duration 10s --warm-up 3s --fill'
    const full = { maxmemoryBytes: 6e6 }
    /** @type {Record<string, number[]>} */
    const ratios = { 'all keys': [], 'some keys': [] }
    for (let i = 0; i < count; i++) {
      const line = `${common} --seed ${seed + i}`
      const lookups = await played(`--strategy lookup-get ${line}`)
      for (const [name, limit] of [
        ['all keys', {}],
        ['some keys', full],
      ]) {
        const { client, cache } = await played(`--strategy cache-aside ${line}`, /** @type {{}} */ (limit))
        const ratio = client.cpu_us_per_item / lookups.client.cpu_us_per_item
        ratios[String(name)].push(ratio)
        say(
          `${name}, ${cache.hit_pct.toFixed(1)} % hits: ${client.cpu_us_per_item.toFixed(2)} of ${lookups.client.cpu_us_per_item.toFixed(2)} us a request, ${ratio.toFixed(2)}`,
        )
      }
    }
    for (const [name, all] of Object.entries(ratios)) say(`${name}: median ${median(all).toFixed(2)}`)
  },

  async memory() {
    const [few, many] = [
      await printed('cache-bars.js', 'curve 100'),
      await printed('cache-bars.js', 'curve 100000000'),
    ]
    for (const one of [few, many])
      say(
        `${one.keys} keys: ${one.mb.toFixed(1)} MB, ${one.sampled_keys} of them sampled, in ${one.seconds.toFixed(1)} s`,
      )
    say(`beside the thread: ${(many.mb - few.mb).toFixed(1)} MB`)
  },

  /** The most resident memory of this process while a thread computes a curve, over that before. */
  async curve() {
    const keys = Number(positionals[1])
    const options = {
      strategy: 'cache-aside',
      items: keys,
      popularity: 'zipf:0.99',
      rate: 50_000,
      duration: '60s',
      host: 'localhost',
    }
    const { settings } = settingsOfRun(/** @type {any} */ (options))
    const plan = planOf(settings, { agents: [1], masters: 1, cluster: false, variant: null })
    const mb = (/** @type {string} */ name) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) /
      1024
    const before = mb('VmRSS')
    writeFileSync('/proc/self/clear_refs', '5')
    const began = performance.now()
    const curve = await drawnCurve(plan, { policy: 'allkeys-lru', stopNow: new AbortController().signal })
    const seconds = (performance.now() - began) / 1000
    say(JSON.stringify({ keys, mb: mb('VmHWM') - before, seconds, sampled_keys: curve?.sampled_keys }))
  },
}

const [name] = positionals
if (values.help || !Object.hasOwn(parts, name)) process.stdout.write(usage)
else await parts[/** @type {keyof typeof parts} */ (name)]()
