#!/usr/bin/env node
// Searches beside the truth: how many of their intervals contain the rate that the target really sustained. In simulation,
// through the real engine in virtual time, and in real time against a server of a known limit.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shareWithInterval } from '../lib/answers/profile/profile.js'
import { ExitCode, OptionError } from '../lib/base/errors.js'
import { alignedTable } from '../lib/base/layout.js'
import { repositoryScript } from '../lib/cli/script.js'
import { limitedServer, limitsOf } from '../test/helpers/limited-server.js'
import { startServer } from '../test/helpers/servers.js'
import { scenarios } from '../test/simulation/capacity.js'
import { playFind, sustainedIn } from '../test/simulation/play-find.js'
import { searches } from '../test/simulation/searches.js'

const usual = ['steep', 'shallow', 'drift 2/10', 'bad 1', 'bad 5']
const usage = `Usage: npm run bench:find -- simulated [SEARCHES [TARGET]]
       npm run bench:find -- virtual [SEARCHES [SECONDS [LIMIT_MS]]]
       npm run bench:find -- real [SEARCHES [TOGETHER [SECONDS [FIRST_SEED]]]]

  simulated   searches of a simulated target, 180 s each (100): ${usual.join(', ')}; or one of
              ${Object.keys(scenarios)
                .filter((name) => !usual.includes(name))
                .join(', ')}
  virtual     searches through the real engine in virtual time, over a server in memory (25 60 20)
  real        the same in real time, against a server of its own process (50 4 60 1)
  -h, --help  this text

Exit code 99: fewer than 92 % of the intervals contain the true rate.`

const least = 0.92
const percent = (/** @type {number | null} */ part, digits = 1) =>
  part === null || !Number.isFinite(part)
    ? ''
    : `${(part * 100).toFixed(digits).replace(/^-(?=0\.?0*$)/, '')} %`
const median = (/** @type {readonly number[]} */ list) =>
  [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN

/** @param {number} inside @param {number} n */
const insideWords = (inside, n) => {
  const { low, high } = shareWithInterval(inside, n)
  return `${inside} of ${n} (${(low * 100).toFixed(0)} to ${percent(high, 0)})`
}

/** @param {readonly boolean[]} enough */
const codeOf = (enough) => (enough.every(Boolean) ? ExitCode.done : ExitCode.threshold)

/** @param {number} n @param {readonly string[]} names */
const simulated = (n, names) => {
  const rows = names.map((name) => {
    process.stderr.write(`${name}\n`)
    return { name, ...searches(name, n) }
  })
  const table = alignedTable(
    [
      { title: 'target', cell: ({ name }) => name, left: true },
      {
        title: 'contain R (95 %)',
        cell: ({ fitted, covered }) => (fitted ? insideWords(covered, fitted) : ''),
      },
      { title: 'width', cell: ({ width }) => percent(width) },
      { title: 'bias', cell: ({ bias }) => percent(bias) },
      { title: 'low end fails', cell: ({ lowFails }) => String(lowFails) },
      {
        title: 'states',
        cell: ({ states }) =>
          Object.entries(states)
            .map(([state, times]) => `${times} ${state}`)
            .join(', '),
        left: true,
      },
    ],
    rows,
    160,
  )
  process.stdout.write(`${table.join('\n')}\n`)
  return codeOf(rows.map(({ fitted, covered }) => covered >= least * fitted))
}

/** @param {{ isInside: boolean, state: string, width: number }[]} all */
const said = (all) => {
  const inside = all.filter(({ isInside }) => isInside).length
  const found = all.filter(({ state }) => state === 'found').length
  const width = median(all.map((one) => one.width).filter(Number.isFinite))
  process.stdout.write(
    `${insideWords(inside, all.length)} intervals contain the true rate; ${found} found; the median is ${percent(width)} wide\n`,
  )
  return codeOf([inside >= least * all.length])
}

/** @param {number} seed @param {string} state @param {{ low: number | null, middle: number | null, high: number | null }} rates @param {number} truth */
const judged = (seed, state, { low, middle, high }, truth) => {
  const isInside = low !== null && high !== null && truth >= low && truth <= high
  process.stdout.write(
    `${seed}: ${state}, ${[low, middle, high].map((rate) => rate?.toFixed() ?? '-').join(' ')}, true ${truth.toFixed()}${isInside ? '' : ' OUTSIDE'}\n`,
  )
  return { isInside, state, width: (Number(high) - Number(low)) / Number(middle) }
}

/** @param {number} n @param {number} seconds @param {number} limitMs */
const virtual = async (n, seconds, limitMs) => {
  const all = []
  for (let seed = 1; seed <= n; seed++) {
    const { answer, truth } = await playFind({ seed, seconds, limitMs, hz: 1000, sd: 0.01 })
    all.push(
      judged(seed, answer?.state ?? 'stopped', answer ?? { low: null, middle: null, high: null }, truth),
    )
  }
  return said(all)
}

const program = fileURLToPath(new URL('../lib/cli/millrace.js', import.meta.url))
const realLimitMs = 250

/** @param {number} searchesInAll @param {number} together @param {number} seconds @param {number} first */
const real = async (searchesInAll, together, seconds, first) => {
  /** @type {(() => unknown)[]} */
  const ends = []
  const t = /** @type {any} */ ({ after: (/** @type {() => unknown} */ end) => ends.unshift(end) })
  const out = mkdtempSync(join(tmpdir(), 'find-'))
  ends.push(() => rmSync(out, { recursive: true }))

  /** @param {number} seed @param {number} behind */
  const played = async (seed, behind) => {
    const limit = { seed, hz: 1000, sd: 0.01 }
    const { port, startEpochMs } = await limitedServer(t, { ...limit, behind })
    const own = join(out, String(seed))
    const options = `lookup-get --items 100 --fill none --connections 8 --pipeline 8 --slo latency.p99<${realLimitMs}ms --time ${seconds}s --host 127.0.0.1 --port ${port} --seed ${seed} --prefix ${seed}: --quiet --out ${own}`
    const child = spawn(process.execPath, [program, 'find', ...options.split(' ')], { stdio: 'ignore' })
    await new Promise((resolve) => child.once('close', resolve))
    const [run] = readdirSync(own)
    const answer = JSON.parse(readFileSync(join(own, run, 'find.json'), 'utf8'))
    const calm = answer.seconds.filter((/** @type {any} */ { phase }) => phase === 'confirm')
    const p99s = calm
      .map((/** @type {any} */ { latency_us: { intended } }) => intended.p99 / 1000)
      .sort((/** @type {number} */ a, /** @type {number} */ b) => a - b)
    const since = (/** @type {number} */ atMs) => (Date.parse(answer.started) + atMs - startEpochMs) / 1000
    const [from, to] = [answer.seconds[0].at_ms, answer.seconds.at(-1).at_ms]
    const of = limitsOf(limit).subarray(Math.floor(since(from)), Math.ceil(since(to)) + 1)
    const truth = sustainedIn(of, realLimitMs - (p99s[Math.floor(p99s.length / 4)] ?? 0))
    return judged(seed, answer.state, answer.find, truth)
  }

  try {
    const server = await startServer(t)
    await server.redis.config('SET', 'requirepass', '')
    /** @type {Awaited<ReturnType<typeof played>>[]} */
    const all = []
    let next = first
    const work = async () => {
      while (next < first + searchesInAll) all.push(await played(next++, server.port))
    }
    await Promise.all(Array.from({ length: together }, work))
    return said(all)
  } finally {
    for (const end of ends) await end()
  }
}

/** @param {readonly string[]} words @param {readonly { name: string, usual: number, least: number, most: number }[]} wanted */
const numbersIn = (words, wanted) => {
  if (words.length > wanted.length) throw new OptionError(`'${words[wanted.length]}' is too much (--help)`)
  return wanted.map(({ name, usual: fallback, least: from, most }, i) => {
    const number = words[i] === undefined ? fallback : Number(words[i])
    if (!(Number.isInteger(number) && number >= from && number <= most))
      throw new OptionError(`${name} ${words[i]}: must be a whole number from ${from} to ${most}`)
    return number
  })
}

const number = {
  searches: (/** @type {number} */ fallback) => ({
    name: 'SEARCHES',
    usual: fallback,
    least: 1,
    most: 10_000,
  }),
  seconds: { name: 'SECONDS', usual: 60, least: 60, most: 3600 },
  limit: { name: 'LIMIT_MS', usual: 20, least: 2, most: 1000 },
  together: { name: 'TOGETHER', usual: 4, least: 1, most: 64 },
  first: { name: 'FIRST_SEED', usual: 1, least: 1, most: 1e6 },
}

/** @param {readonly string[]} words @param {readonly string[]} otherwise */
const targetsIn = (words, otherwise) => {
  const name = words.join(' ')
  if (name !== '' && !(name in scenarios))
    throw new OptionError(`no target is called '${name}': ${Object.keys(scenarios).join(', ')}`)
  return name === '' ? otherwise : [name]
}

/** @param {readonly string[]} words */
export const benchFind = async ([kind, ...words]) => {
  if (kind === 'simulated') {
    const [n] = numbersIn(words.slice(0, 1), [number.searches(100)])
    return simulated(n, targetsIn(words.slice(1), usual))
  }
  if (kind === 'virtual') {
    const [n, seconds, limit] = numbersIn(words, [number.searches(25), number.seconds, number.limit])
    return virtual(n, seconds, limit)
  }
  if (kind === 'real') {
    const [n, together, seconds, first] = numbersIn(words, [
      ...[number.searches(50), number.together, number.seconds, number.first],
    ])
    return real(n, together, seconds, first)
  }
  throw new OptionError(
    `${kind === undefined ? 'a kind is missing' : `'${kind}'`}: simulated, virtual or real`,
  )
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  await repositoryScript({ usage, options: {}, work: (_, words) => benchFind(words) })
