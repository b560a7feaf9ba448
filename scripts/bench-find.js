// Searches in real time against a server of a known limit: in how many the true rate is inside the interval.
// node scripts/bench-find.js [searches] [at the same time] [seconds of load] [the first seed]
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { limitedServer, limitsOf } from '../test/helpers/limited-server.js'
import { startServer } from '../test/helpers/servers.js'
import { sustainedIn } from '../test/simulation/play-find.js'

const [searches = 50, together = 4, seconds = 60, first = 1] = process.argv.slice(2).map(Number)
const program = fileURLToPath(new URL('../lib/cli/millrace.js', import.meta.url))
const limitMs = 250

/** @type {(() => unknown)[]} */
const ends = []
const t = /** @type {any} */ ({ after: (/** @type {() => unknown} */ end) => ends.unshift(end) })
const out = mkdtempSync(join(tmpdir(), 'find-'))

/** @param {number} seed @param {number} behind */
const played = async (seed, behind) => {
  const limit = { seed, hz: 1000, sd: 0.01 }
  const { port, startEpochMs } = await limitedServer(t, { ...limit, behind })
  const own = join(out, String(seed))
  const options = `lookup-get --items 100 --connections 8 --pipeline 8 --slo latency.p99<${limitMs}ms --time ${seconds}s --host 127.0.0.1 --port ${port} --seed ${seed} --prefix ${seed}: --quiet --out ${own}`
  const child = spawn(process.execPath, [program, 'find', ...options.split(' ')], { stdio: 'ignore' })
  await new Promise((resolve) => child.once('close', resolve))
  const [run] = readdirSync(own)
  const answer = JSON.parse(readFileSync(join(own, run, 'find.json'), 'utf8'))
  const calm = answer.seconds.filter((/** @type {any} */ { phase }) => phase === 'confirm')
  const p99s = calm
    .map((/** @type {any} */ { latency_us: { intended } }) => intended.p99 / 1000)
    .sort((/** @type {number} */ a, /** @type {number} */ b) => a - b)
  const since = (/** @type {number} */ atMs) => (Date.parse(answer.started) + atMs - startEpochMs) / 1000
  const [first, last] = [answer.seconds[0].at_ms, answer.seconds.at(-1).at_ms]
  const of = limitsOf(limit).subarray(Math.floor(since(first)), Math.ceil(since(last)) + 1)
  const truth = sustainedIn(of, limitMs - (p99s[Math.floor(p99s.length / 4)] ?? 0))
  const { low, middle, high } = answer.find
  const isInside = low !== null && truth >= low && truth <= high
  console.log(
    `${seed}: ${answer.state}, ${[low, middle, high].map((rate) => rate?.toFixed()).join(' ')}, true ${truth.toFixed()}${isInside ? '' : ' OUTSIDE'}`,
  )
  return { isInside, state: answer.state, width: (high - low) / middle }
}

const real = await startServer(t)
await real.redis.config('SET', 'requirepass', '')
/** @type {Awaited<ReturnType<typeof played>>[]} */
const all = []
let next = first
const work = async () => {
  while (next < first + searches) all.push(await played(next++, real.port))
}
await Promise.all(Array.from({ length: together }, work))
const widths = all.map(({ width }) => width).sort((a, b) => a - b)
const inside = all.filter(({ isInside }) => isInside).length
const found = all.filter(({ state }) => state === 'found').length
console.log(
  `${inside} of ${searches} intervals have the true rate; ${found} found; the median is ${(widths[Math.floor(widths.length / 2)] * 100).toFixed(1)} % wide`,
)
for (const end of ends) await end()
rmSync(out, { recursive: true })
process.exit(inside >= 0.92 * searches ? 0 : 1)
