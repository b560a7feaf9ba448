// What `millrace choose` is asked and what it answers, without a server.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { choosePareto } from '../../charts/choose.js'
import { modelsFor, needsIn, simplicityOf } from '../../lib/answers/choose/candidates.js'
import { costMetrics, costOf, idleSecondsOf, weightsIn } from '../../lib/answers/choose/cost.js'
import { choose, chooseDocument } from '../../lib/answers/choose/report.js'
import { turnoversOf } from '../../lib/answers/choose/turnover.js'
import { firstFault } from '../../lib/base/json-schema.js'
import { exactly } from '../../lib/base/typed.js'
import { recordOfChoice } from '../../lib/cli/choose.js'
import { chooseOptions, chooseRequest } from '../../lib/cli/choose-options.js'
import { plannedLoad } from '../../lib/cli/commands/plan.js'
import { typedLine } from '../../lib/options/command-line.js'
import { settingsOf } from '../../lib/options/read-settings.js'
import { strategyNamed } from '../../lib/workloads/index.js'
import { rowsOf, valuesOf } from '../helpers/table.js'

/** @import { Decision, Standing } from '../../lib/answers/choose/procedure.js' */

const folder = mkdtempSync(join(tmpdir(), 'millrace-choose-'))
test.after(() => rmSync(folder, { recursive: true }))

/** @param {string} line */
const asked = (line, env = {}) => {
  const typed = typedLine(line.split(' ').filter(Boolean), chooseOptions)
  return chooseRequest(settingsOf(typed, chooseOptions, { env: {} }), env)
}

test('candidates meet the needs, and the others are named with those that they do not meet', () => {
  const { candidates, excluded } = asked('--rate 50k --need newest-n,exact-expiry')
  const meeting = ['sorted-set', 'actual-value', 'script-batch', 'script-item', 'hash']
  assert.deepEqual(valuesOf(candidates, 'name'), meeting)
  assert.deepEqual(excluded.find(({ name }) => name === 'list')?.unmet, ['exact-expiry'])
  assert.deepEqual(modelsFor({ needs: needsIn('values-included,newest-n'), names: null }).models.length, 2)
  const alone = /^OptionError: --strategy cache-aside: of a cache its policies are chosen from; name it alone/
  assert.throws(() => modelsFor({ needs: [], names: ['cache-aside'] }), alone)
})

test('simple models have few commands and keys', () => {
  const of = (/** @type {string} */ name) => simplicityOf(strategyNamed(name))
  assert.ok(of('stream') < of('list') && of('list') <= of('sorted-set') && of('sorted-set') < of('hash'))
})

test('a workload file, own models and a reader', () => {
  const workload = join(folder, 'workload.yaml')
  const lines = 'rate: 20k | ttl: 30s-90s | popularity: zipf:0.99 | fetch-rate: 10 | weigh: cpu=1,memory=0.5'
  writeFileSync(workload, `${lines.replaceAll(' | ', '\n')}\n`)
  const model = join(folder, 'feed.yaml')
  writeFileSync(model, 'meets: [newest-n]\nkeys: {"a:{n}": string}\nwrite: ["SETEX a:{n} {ttl} {value}"]\n')
  const found = asked(`--workload ${workload} --strategy list,${model} --need newest-n`)
  assert.deepEqual(valuesOf(found.candidates, 'name'), ['list', 'feed'])
  const { rate, load, reads, weigh, files } = found.asked
  assert.deepEqual([rate, load.popularity, load.ttl], [20_000, 'zipf:0.99', '30s-90s'])
  const weighed = { cpu: 1, memory: 0.5 }
  assert.deepEqual([reads, weigh, files], [{ perS: 10, limit: 1000 }, weighed, { feed: model }])
})

test('of a cache the policies are candidates, each with servers that have it', () => {
  const line = '--rate 10k --items 200k --strategy cache-aside --maxmemory 50MB'
  const found = asked(`${line} --policy allkeys-lru,allkeys-lfu --with miss-time=2ms,coalesce`)
  assert.deepEqual(valuesOf(found.candidates, 'name'), ['allkeys-lru', 'allkeys-lfu'])
  assert.deepEqual(valuesOf(found.candidates, 'model'), ['cache-aside', 'cache-aside'])
  assert.deepEqual([found.across, found.maxmemory], ['policies', '50MB'])
  const { configs = {}, load, weigh, seconds } = found.asked
  assert.deepEqual(configs['allkeys-lfu'], [
    ['maxmemory', '50000000'],
    ['maxmemory-policy', 'allkeys-lfu'],
  ])
  assert.deepEqual(load, { valueSize: '128B', missTime: '2ms', coalesce: true, fill: 'keys' })
  assert.deepEqual([weigh, seconds], [{ misses: 1 }, 5])
  assert.equal(asked(line).candidates.length, 3)
  assert.equal(asked(`${line} --ttl 60s`).candidates.length, 7)
})

test('without --time it is what four rounds take, between 225 s and 15 minutes', () => {
  for (const [line, seconds] of Object.entries({
    '': 225,
    '--strategy list,stream,set,hash,sorted-set --items 200k': 279,
    '--items 10M': 900,
    '--time 60s --items 10M': 60,
  }))
    assert.equal(asked(`--rate 20k ${line}`).asked.budgetS, seconds, line)
})

test('values that are none are refused, with the option that has them', () => {
  assert.throws(() => asked(''), { message: /^--rate is missing/ })
  for (const [line, sentence] of rowsOf(String.raw`
fast -> ^--rate fast: must be
0 -> ^--rate 0: must be
1k --need newest -> ^--need newest: must be of newest-n, .*did you mean newest-n
1k --need expiry-by-length,exact-expiry -> ^no data model meets --need .*list does not meet exact-expiry
1k --weigh cpu=0 -> ^--weigh cpu=0: must be weights above 0
1k --weigh speed=1 -> ^--weigh speed=1: must be weights
1k --weigh cpu=1,cpu=2 -> ^--weigh
1k --weigh misses=x -> ^--weigh misses=x: must be weights above 0
1k --strategy lookup-get -> ^--strategy lookup-get: must be of sorted-set
1k --strategy lits -> ^--strategy lits: must be of
1k --across hosts -> ^--across must be
1k --servers redis-7.4 -> ^--servers belongs to --across
1k --across servers --servers redis-9 -> ^--servers redis-9: must be of installed, redis-6\.2
1k --across servers --servers redis-7.4,redis-7.4 -> ^--servers redis-7\.4: it is there twice
1k --across servers --url redis://h -> ^--url and --across servers
1k --cluster -> ^--cluster belongs to --url
1k --fetch-rate 0 -> ^--fetch-rate must be
1k --reads 5 -> ^unknown option --reads: type --fetch-rate
1k --time 1s -> ^--time must be
1k --strategy cache-aside --maxmemory 9MB -> ^--items is missing
1k --items 9k --strategy cache-aside -> ^--with policy=allkeys-lru needs --maxmemory
1k --items 9k --strategy cache-aside --maxmemory 9MB --policy lru -> policy must be
1k --items 9k --strategy cache-aside --maxmemory 9MB --policy allkeys-lru,allkeys-lru -> ^--policy allkeys-lru: it is there twice
1k --items 9k --strategy cache-aside --maxmemory 9MB --policy volatile-ttl -> ^--with policy=volatile-ttl evicts keys with a lifetime only
1k --items 9k --strategy cache-aside --maxmemory 9MB --policy noeviction -> ^--with policy=noeviction: a cache that may not evict
1k --items 9k --strategy cache-aside --maxmemory 9MB --fetch-rate 5 -> ^--fetch-rate does not go with --strategy cache-aside
1k --items 9k --strategy cache-aside --maxmemory 9MB --url redis://h -> ^--url does not go with
1k --items 9k --strategy cache-aside --maxmemory 9MB --weigh memory=1 -> ^--weigh memory: that of a cache
1k --items 9k --strategy cache-aside,list -> ^--strategy cache-aside: of a cache .* name it alone
1k --weigh misses=1 -> ^--weigh misses: only a cache
1k --policy allkeys-lru -> ^--with policy is of a cache
`))
    assert.throws(() => asked(`--rate ${line}`), { message: new RegExp(sentence) }, line)
})

test('a cost is net of the idle servers, and weighed as a geometric mean', () => {
  const run = (/** @type {number} */ rate, /** @type {number} */ cpuPct) => ({
    rate: { achieved: rate },
    nodes: [{ cpu_pct: cpuPct }],
    server: { cpu_us_per_item: (cpuPct * 1e4) / rate, memory_bytes_per_item: 400, net_bytes_per_item: 250 },
    latency_us: { intended: { p99: 900 } },
  })
  const values = costMetrics(run(10_000, 3.5), idleSecondsOf(run(2, 0.5)))
  assert.ok(Math.abs(Number(values.cpu) - 3) < 1e-9)
  assert.equal(values.memory, 400)
  const weights = weightsIn('cpu=1,memory=0.5')
  assert.deepEqual(costOf({ cpu: 8, memory: 1 }, weights), { cost: 4 })
  assert.deepEqual(costOf({ cpu: 8 }, weights), { missing: 'memory' })
  const ofCache = costMetrics({ ...run(10_000, 3.5), cache: { hit_pct: 92 } }, idleSecondsOf(run(2, 0.5)))
  assert.deepEqual([ofCache.misses, ofCache.memory], [8, undefined])
})

test('a policy that misses nothing has no cost, which is said', () => {
  const played = (/** @type {number} */ hit_pct) =>
    recordOfChoice(
      /** @type {any} */ ({
        ...{ asked: { rate: 1000, weigh: { misses: 1 } }, at: 0, round: 1, reader: null },
        run: { rate: { achieved: 1000 }, warnings: [], server: {}, cache: { hit_pct } },
        idle: { cpu_pct: 0, net_bytes_per_s: 0 },
      }),
    ).outcome
  assert.equal(Number(played(92).cost).toFixed(6), '8.000000')
  const why = 'missed nothing: all keys fit; give less --maxmemory'
  assert.deepEqual(played(100), { cost: null, why, final: false })
})

const runsOf = (/** @type {number} */ candidate, /** @type {number} */ cpu, /** @type {number} */ memory) =>
  [1, 2, 3].map((round) => ({
    ...{ candidate, round, counts: true, reasons: [], achieved: 1000 },
    metrics: { cpu: cpu * (1 + round / 100), memory: memory + round },
  }))
const measured = { rounds: 3, ratio: 1, low: 1, high: 1, verdict: null, why: null }
const unmeasured = { rounds: 0, ratio: null, low: null, high: null, verdict: null }
/** @type {Standing[]} */
const standings = [
  { ...measured, place: 'worse', ratio: 1.2, low: 1.1, high: 1.3, verdict: 'worse' },
  { ...measured, place: 'left' },
  { ...unmeasured, place: 'refused', why: 'it has no such command' },
]
const asks = { needs: [], rate: 1000, items: 1000, ttl: '60s', value_size: '128B', reads: null }
const turnover = { rate: 5000, items: 10_000, cheaper_above: 'stream', cheaper_below: 'list' }
/** @type {Parameters<typeof chooseDocument>[0]} */
const facts = {
  ...{ started: '2026-11-25T00:00:00Z', duration_s: 60, command_line: 'millrace choose', hardware: 'a box' },
  versions: { millrace: '0.1.0', node: '22', servers: ['7.0.15'] },
  asked: { ...asks, weigh: { cpu: 1 }, across: 'models' },
  excluded: [{ name: 'set', unmet: ['newest-n'] }],
  turnovers: { found: [{ other: 'list', ...turnover }], unknown: ['hash'] },
  warnings: ['a warning'],
}

const answer = (/** @type {Partial<Decision>} */ more = {}) =>
  chooseDocument(facts, {
    candidates: ['list', 'stream', 'hash'].map((name) => ({
      ...{ name, model: name, server: null, simplicity: 3, gives_up: [`what ${name} gives up`] },
    })),
    decision: { state: 'best', chosen: 1, alike: [1], rounds: 3, runs: 9, standings, ...more },
    runs: [...runsOf(0, 2.4, 300), ...runsOf(1, 2, 200)],
  })
const faultIn = (/** @type {object} */ document) =>
  firstFault(JSON.parse(JSON.stringify(document)), choose.schema)

test('the answer names the best, what the next costs, what is given up, and why others are none', async () => {
  const found = answer()
  assert.equal(faultIn(found), null)
  assert.equal(found.chosen, 'stream')
  assert.deepEqual(valuesOf(found.candidates, 'place'), ['chosen', 'worse', 'refused'])
  assert.ok(Math.abs(Number(found.candidates[1].against_chosen?.cpu?.ratio) - 1.2) < 1e-9)
  const text = choose.text(found, { columns: 100 })
  const best =
    /^stream is best by server CPU, idle excluded: list costs 1\.20 \(1\.10 to 1\.30\) times as much\./
  assert.match(text, best)
  for (const part of [
    'gives up what stream gives up',
    'hash cannot run here: it has no such command',
    'no candidate set does not meet newest-n',
    'turns over at about 5,000 items/s (10,000 alive): below it list is cheaper, above it stream',
    'it does not know hash',
    '! a warning',
  ])
    assert.ok(text.replace(/\s+/g, ' ').includes(part), `${part} in:\n${text}`)
  for (const line of text.split('\n')) assert.ok(line.length <= 100, line)
  const files = await choose.files(found)
  assert.ok(files['choose.html'].includes('list costs 1.20 (1.10 to 1.30) times as much'))
  assert.equal(JSON.parse(files['choose.json']).chosen, 'stream')
})

test('a policy is best by misses, and what no candidate has is no column', () => {
  const asked = { ...facts.asked, ttl: 'none', weigh: { misses: 1 }, across: exactly('policies') }
  const misses = (/** @type {number} */ at) => (at === 0 ? 12 : 10)
  const model = { model: 'cache-aside', server: null, gives_up: [] }
  const played = (/** @type {number} */ at) => {
    const metrics = { cpu: 2, misses: misses(at) }
    return runsOf(at, 2, 300).map((run) => ({ ...run, metrics }))
  }
  const candidates = ['allkeys-lru', 'allkeys-lfu'].map((name, simplicity) => ({
    ...model,
    name,
    simplicity,
  }))
  /** @type {Decision} */
  const decision = {
    state: 'best',
    chosen: 1,
    alike: [1],
    rounds: 3,
    runs: 6,
    standings: standings.slice(0, 2),
  }
  const runs = [...played(0), ...played(1)]
  const told = { ...facts, asked: { ...asked, maxmemory: '50MB' } }
  const found = chooseDocument(told, { candidates, decision, runs })
  assert.equal(faultIn(found), null)
  assert.equal(found.candidates[0].metrics.misses?.value, 10)
  const text = choose.text(found, { columns: 120 })
  assert.match(text, /^allkeys-lfu is best by misses: allkeys-lru costs 1\.20/)
  assert.match(text, /1,000 requests\/s for 1,000 keys with values of 128B, ttl none, 50MB of memory/)
  assert.match(text, /10\.0 %/)
  assert.doesNotMatch(text, /memory +misses|p99/)
})

test('what cannot be told apart is said so, the simplest first', () => {
  for (const [state, sentence] of /** @type {const} */ ([
    ['unclear', /^Cannot tell which is best by server CPU, idle excluded: list, stream, the simplest first$/],
    ['same', /^list is chosen, the simplest of those that differ by less than 3 %/],
    ['none', /^No candidate can be chosen: .*hash it has no such command/],
  ])) {
    const more = state === 'none' ? { chosen: null, alike: [] } : { chosen: 0, alike: [0, 1] }
    const document = answer({ state, ...more })
    assert.match(document.sentence, sentence)
    assert.equal(faultIn(document), null)
  }
  const { candidates, ...rest } = answer()
  const lost = candidates.map((one) =>
    one.name === 'list' ? { ...one, place: /** @type {const} */ ('not-counted') } : one,
  )
  const sentence = choose.sentence({ ...rest, candidates: lost })
  assert.equal(sentence, 'stream is the only candidate that can be chosen.')
})

test('the picture has a point a candidate with both intervals, and dominated ones are pale', () => {
  const { candidates } = answer()
  assert.deepEqual(valuesOf(candidates, 'dominated'), [false, true, false])
  const { series } = /** @type {any} */ (choosePareto.option({ candidates }))
  const points = series.map((/** @type {any} */ { name, itemStyle, markLine }) =>
    [name, itemStyle.opacity, markLine.data.length].join(' '),
  )
  assert.deepEqual(points, ['stream 1 2', 'list 0.4 2'])
  assert.equal(choosePareto.option({ candidates: [] }), null)
})

test('by a calibration the order turns over where items begin to share commands', async () => {
  // A stream has a command an item; a list has one an item, and others that many items share at a high rate.
  const terms = (/** @type {number} */ us) => [{ name: 'command', value: us, low: us, high: us }]
  const model = (/** @type {string} */ strategy, /** @type {number} */ us) => ({
    ...{ strategy, variant: null, memory: null },
    cpu: { master: { terms: terms(us), spread: 0.01, freedom: 9, covariance: [[0.001]] } },
  })
  const models = [model('list', 1), model('stream', 1.5)]
  const { found: turnovers, unknown } = await turnoversOf({
    ...{ chosen: 'list', others: ['stream', 'hash'], rate: 500, ttlS: 2 },
    calibration: /** @type {any} */ ({ ranges: { items: [1, 400] }, server: { allocator: 'jemalloc-8' } }),
    planned: (strategy, rate) => {
      const found = models.find((one) => one.strategy === strategy)
      const counts = { items: Math.max(1, Math.round(rate * 2)), members: Math.max(1, Math.ceil(rate / 10)) }
      if (!found) return null
      const plan = plannedLoad(found, { rate, ...counts }, { valueSize: '16B', sortedSets: 1 }, {})
      return { model: /** @type {any} */ (found), plan }
    },
  })
  assert.deepEqual(unknown, ['hash'])
  assert.equal(turnovers.length, 1)
  const [{ other, rate, items, cheaper_above: above, cheaper_below: below }] = turnovers
  assert.deepEqual([other, above, below], ['stream', 'list', 'stream'])
  assert.ok(rate > 5 && rate < 500, String(rate))
  assert.equal(items, Math.round(rate * 2))
})
