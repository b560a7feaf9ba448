// Holds the miss ratio curve against real servers: cells of a server, a policy, a popularity, with and without sizes and lifetimes.
// Seeded and resumable: a cell whose line is in the file is not played again. One whose load the machine disturbed is played up to
// three times, and has its warnings if none was valid. node scripts/cache-cells.js --seed 1 --out FILE
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { run } from '../lib/index.js'
import { startEmbedded } from '../lib/servers/embedded.js'
import { peerPath, peers } from '../lib/servers/peers.js'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    cells: { type: 'string', default: '40' },
    out: { type: 'string', default: 'docs/data/cache-cells.ndjson' },
  },
})
const servers = ['redis-server', 'redis-8.2', 'valkey-9.1']
const policies = ['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-lru', 'volatile-ttl']
const popularities = ['zipf:0.99', 'zipf:0.7', 'hot:10%:90%']

/** @param {number} seed */
const cellsOf = (seed) => {
  const bits = xoroshiro128plus(seed)
  const below = (/** @type {number} */ n) => (bits.next() >>> 0) % n
  return Array.from({ length: Number(values.cells) }, (_, i) => {
    const policy = policies[i % policies.length]
    const server = servers[Math.floor(i / 2) % servers.length]
    const ttl = policy.startsWith('volatile') || i % 4 === 1 ? ['6s-30s', '4s-8s', '1h'][below(3)] : undefined
    return {
      ...{ id: `${seed}-${i}`, server, policy, popularity: popularities[Math.floor(i / 3) % 3], ttl },
      valueSize: i % 2 ? 'lognormal:p50=200B,p99=4kB' : '300B',
      keys: 8000 + below(24_000),
      part: 0.1 + below(600) / 1000,
      seed: 1 + below(1e6),
    }
  })
}
/** @typedef {ReturnType<typeof cellsOf>[number]} Cell */

const eachBytes = { '300B': 400 }
const baseBytes = 2.2e6

/** @param {Cell} cell */
const played = async ({ server, policy, popularity, ttl, valueSize, keys, part, seed }) => {
  const peer = peers.find(({ name }) => name === server)
  const limit = Math.round(baseBytes + part * keys * (eachBytes[/** @type {'300B'} */ (valueSize)] ?? 560))
  const started = await startEmbedded({
    ...{ cluster: false, shards: 1, replicas: 0, stateDir: null, log: () => {} },
    serverBin: peer ? peerPath(peer, process.env) : undefined,
    config: [
      ['maxmemory', String(limit)],
      ['maxmemory-policy', policy],
    ],
  })
  try {
    const [host, port] = started.address.split(':')
    const { cache, miss_curve, warnings, versions } = /** @type {any} */ (
      await run({
        ...{ strategy: 'cache-aside', host, port: Number(port), password: started.access.password },
        ...{ items: keys, popularity, valueSize, seed, ...(ttl && { ttl }) },
        ...{ rate: 6000, connections: 20, pipeline: 20, fill: 'keys', idleCost: 'never' },
        ...{ duration: '13s', warmUp: '7s' },
      })
    )
    return {
      ...{ version: versions.servers[0], limit, measured_pct: cache.hit_pct, info_pct: cache.info_hit_pct },
      ...{ low_pct: cache.hit_pct_low, high_pct: cache.hit_pct_high, evicted_per_s: cache.evicted_per_s },
      predicted_pct: miss_curve?.predicted_pct,
      warnings: warnings
        .filter((/** @type {any} */ one) => one.invalidates)
        .map((/** @type {any} */ { code }) => code),
    }
  } finally {
    await started.close()
  }
}

const there = existsSync(values.out)
  ? readFileSync(values.out, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  : []
/** A run whose hits move has the load that the curve is of. @param {{ warnings: string[] }} found */
const isDisturbed = ({ warnings }) => warnings.some((code) => code !== 'cache-moving')

/** @param {Cell} cell */
const playedWell = async (cell) => {
  let found = await played(cell)
  for (let again = 0; again < 2 && isDisturbed(found); again++) found = await played(cell)
  return found
}

for (const cell of cellsOf(Number(values.seed))) {
  if (there.some(({ id }) => id === cell.id)) continue
  const line = { ...cell, ...(await playedWell(cell)) }
  there.push(line)
  appendFileSync(values.out, `${JSON.stringify(line)}\n`)
}
const quantile = (/** @type {number[]} */ all, /** @type {number} */ q) =>
  all.sort((a, b) => a - b)[Math.min(all.length - 1, Math.ceil(q * all.length) - 1)]
const ofSeed = there.filter(
  ({ id, predicted_pct }) => id.startsWith(`${values.seed}-`) && predicted_pct != null,
)
const wellPlayed = ofSeed.filter((one) => !isDisturbed(one))
const isLfu = (/** @type {Cell} */ { policy }) => policy.endsWith('lfu')
/** @type {[string, any[]][]} */
const groups = [
  ['LFU', ofSeed.filter(isLfu)],
  ['others', ofSeed.filter((one) => !isLfu(one))],
  ['all', ofSeed],
  ['LFU, well played', wellPlayed.filter(isLfu)],
  ['others, well played', wellPlayed.filter((one) => !isLfu(one))],
]
for (const [name, cells] of groups) {
  const errors = cells.map((one) => Math.abs(one.predicted_pct - one.measured_pct))
  const [median, most95, most] = [0.5, 0.95, 1].map((q) => quantile(errors, q)?.toFixed(2))
  process.stdout.write(
    `${name}: ${errors.length} cells, median ${median}, 95th percentile ${most95}, most ${most} points\n`,
  )
}
const beside = ofSeed.map((one) => Math.abs(one.info_pct - one.measured_pct))
process.stdout.write(`INFO: at most ${quantile(beside, 1)?.toFixed(3)} points beside\n`)
