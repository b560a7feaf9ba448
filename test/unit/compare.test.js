import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { rangeWords } from '../../lib/chart/parts.js'
import { comparisonOf } from '../../lib/compare/comparison.js'
import { compareDocument } from '../../lib/compare/document.js'
import { gateExitCode } from '../../lib/compare/gates.js'
import { comparisonOfFinished } from '../../lib/compare/many.js'
import { compare } from '../../lib/compare/report.js'
import { separateOf } from '../../lib/compare/separate.js'
import { sideNames, sideOf, sidesOf } from '../../lib/compare/sides.js'
import { resultDocument } from '../../lib/result/document.js'
import { METRICS, measureNamed } from '../../lib/result/metrics.js'
import { absoluteThreshold, judgedBy, keeps, thresholdOf } from '../../lib/result/thresholds.js'
import { ownFolder } from '../helpers/programs.js'
import { seeded } from '../helpers/random.js'
import { sampleExperiment } from '../helpers/sample-record.js'
import { sampleParts } from '../helpers/sample-run.js'
import { rowsOf, valuesOf } from '../helpers/table.js'

const folder = ownFolder({ after }, 'compare')

/** Writes the document of a side, and returns its folder. @param {string} name @param {object} document */
const saved = async (name, document, file = 'run.json') => {
  await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, name, file), JSON.stringify(document))
  return join(folder, name)
}
/** A run whose server CPU is this. @param {string} name @param {number} cpuUs @param {object} [plan] */
const runOf = (name, cpuUs, plan) => {
  const parts = sampleParts()
  const intended = { ...parts.latency_us.intended, p99: 30_000 }
  return resultDocument({
    ...{ ...parts, run: name, plan: { ...parts.plan, ...plan } },
    server: { ...parts.server, cpu_us_per_item: cpuUs },
    latency_us: { ...parts.latency_us, intended },
  })
}
const store = (/** @type {string} */ name, /** @type {number} */ cpuUs) => saved(name, runOf(name, cpuUs))
/** Runs of these CPUs. @param {string} name @param {number[]} cpus @param {(at: number) => object} [planOf] */
const storeAll = (name, cpus, planOf = () => ({})) =>
  Promise.all(cpus.map((cpuUs, at) => saved(`${name}-${at}`, runOf(`${name}-${at}`, cpuUs, planOf(at)))))
/** An experiment as a side. @param {string} name @param {object} experiment */
const experimentSide = async (name, experiment) => sideOf([await saved(name, experiment, 'experiment.json')])
/** @param {Parameters<typeof compareDocument>[0]} comparison @param {Parameters<typeof compare.text>[1]} [layout] */
const textOf = (comparison, layout) => compare.text(compareDocument(comparison), layout)

test('identical series do not differ; two of one wide spread cannot be told apart', () => {
  const same = separateOf([5, 5, 5], [5, 5, 5])
  assert.deepEqual([same.change, same.low, same.high, same.verdict], [0, 0, 0, 'same'])
  assert.equal(separateOf([5.01, 4.99, 5.0, 5.01], [5.0, 4.99, 5.01, 5.0]).verdict, 'same')
  const wide = separateOf([5.1, 4.9, 5.0, 5.05], [5.05, 4.95, 5.1, 4.9], { effect: 0.001 })
  assert.deepEqual([wide.verdict, separateOf([4, 5, 6], [6, 4, 5]).verdict], ['unclear', 'unclear'])
})

test('a known difference lies in the interval, and its sign is right', () => {
  const b = [8, 8.1, 7.9, 8.05]
  const a = b.map((value) => value + 2)
  const { change, low, high, verdict } = separateOf(a, b)
  assert.deepEqual([verdict, separateOf(a, b, { better: 'more' }).verdict], ['better', 'worse'])
  assert.ok(Math.abs(change + 0.2) < 0.01 && low !== null && high !== null)
  assert.ok(low < -0.2 && high > -0.2 && high < 0)
})

test('the interval holds the truth in about 95 of 100 comparisons of three repeats', () => {
  const { next: random } = seeded(7)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const samples = (/** @type {number} */ middle) =>
    Array.from({ length: 3 }, () => middle * Math.exp(0.05 * normal()))
  let held = 0
  for (let at = 0; at < 2000; at++) {
    const { low, high } = separateOf(samples(10), samples(12))
    if (low !== null && high !== null && low <= 0.2 && high >= 0.2) held++
  }
  assert.ok(held / 2000 > 0.94 && held / 2000 < 0.985, `${held / 2000}`)
})

test('with one repeat there is no interval, and with a zero no ratio', () => {
  const { low, high, verdict } = separateOf([10], [11])
  assert.deepEqual([low, high, verdict], [null, null, 'unclear'])
  const { change, relative } = separateOf([0, 0, 0], [2, 4, 6])
  assert.deepEqual([change, relative], [4, false])
})

const thresholds = /** @type {[string, string, string, number, boolean][]} */ ([
  ['latency.intended.p99<20ms', 'latency.intended.p99', '<', 20_000, false],
  ['latency_us.intended.p99 <= 20000us', 'latency.intended.p99', '<=', 20_000, false],
  ['latency.p99<20ms', 'latency.intended.p99', '<', 20_000, false],
  ['latency_us.max<1s', 'latency.intended.max', '<', 1_000_000, false],
  ['latency.intended.p99<0', 'latency.intended.p99', '<', 0, false],
  ['bystander.p99<500µs', 'bystander.p99', '<', 500, false],
  ['bystander_us.max<0.5s', 'bystander.max', '<', 500_000, false],
  ['server.cpu_us_per_item<+5%', 'server.cpu_us_per_item', '<', 0.05, true],
  ['rate.achieved>=-1%', 'rate.achieved', '>=', -0.01, true],
  ['rate.achieved>299k', 'rate.achieved', '>', 299_000, false],
  ['master.cpu_pct<80%', 'master.cpu_pct', '<', 80, false],
  ['server.memory_bytes_per_item<1kB', 'server.memory_bytes_per_item', '<', 1000, false],
  ['client.rss_mb_max<256MB', 'client.rss_mb_max', '<', 256, false],
  ['fetches.duration.p50<1s', 'fetches.duration_ms.p50', '<', 1000, false],
  ['freshness_ms.p99<0.5s', 'freshness_ms.p99', '<', 500, false],
  ['items.failed<=0', 'items.failed', '<=', 0, false],
  ['server.share>95%', 'server.share', '>', 0.95, false],
])
for (const [text, words] of /** @type {[string, string][]} */ ([
  ['hit_rate>195%', 'cache.hit_pct is between 0 and 100 %, so this never holds'],
  ['hit_rate>100%', 'cache.hit_pct is between 0 and 100 %, so this never holds'],
  ['hit_rate<=195%', 'cache.hit_pct is between 0 and 100 %, so this always holds'],
  ['stale_reads.pct<0', 'stale_reads.pct is between 0 and 100 %, so this never holds'],
  ['server.share>=1.5', 'server.share is between 0 and 100 %, so this never holds'],
  ['server.share>-1', 'server.share is between 0 and 100 %, so this always holds'],
]))
  test(`threshold ${text}: refused`, () => {
    assert.throws(() => thresholdOf(text), { code: 'OPTION', message: `--threshold ${text}: ${words}` })
  })

test('limits at the ends of a share, of its change, and of CPU, which may be that of several cores', () => {
  for (const text of ['hit_rate>=100%', 'hit_rate>=0%', 'hit_rate<+195%', 'master.cpu_pct<195%'])
    assert.equal(thresholdOf(text).text, text)
})

for (const [text, name, relation, limit, relative] of thresholds)
  test(`threshold ${text}`, () => {
    const read = thresholdOf(text)
    assert.deepEqual([read.figure.name, read.relation, read.relative], [name, relation, relative])
    assert.ok(Math.abs(read.limit - limit) < 1e-9, String(read.limit))
  })

const refused = /** @type {[string, RegExp][]} */ ([
  ['', /must be a metric and its limit/],
  ['latency.intended.p99=20ms', /must be a metric and its limit/],
  ['latency.intended.p98<20ms', /no metric is called '.*p98'; did you mean latency.intended.p9/],
  ['server.memory_bytes_per_item<500', /write server.memory_bytes_per_item<500B$/],
  ['master.cpu_pct<80', /write master.cpu_pct<80%$/],
  ['client.rss_mb_max<256', /write client.rss_mb_max<256MB$/],
  ['constructor<1', /no metric is called 'constructor'/],
  ['latency.intended.p99<20MB', /latency.intended.p99 is not measured in MB; use us, µs, ms, s, m/],
  ['items.failed<1constructor', /not measured in constructor/],
])
for (const [text, pattern] of refused)
  test(`no threshold: ${text}`, () =>
    assert.throws(() => thresholdOf(text), { code: 'OPTION', message: pattern }))

test('a limit itself is kept by <= and >=, and by no other', () => {
  const kept = ['<', '<=', '>', '>='].map((relation) =>
    [4, 5, 6].map((value) => keeps(thresholdOf(`items.failed${relation}5`), value)),
  )
  const wanted = 'true,false,false | true,true,false | false,false,true | false,true,true'
  assert.equal(kept.join(' | '), wanted)
})

test('a single run keeps no relative limit, and what was not measured keeps none', () => {
  const relative = () => absoluteThreshold('server.cpu_us_per_item<+5%')
  assert.throws(relative, /only millrace diff and compare have two sides/)
  assert.equal(keeps(thresholdOf('bystander.p99<1s'), null), false)
  const limits = ['latency.intended.p99<20ms', 'latency.intended.p99<40ms', 'freshness_ms.p50<1s']
  const judged = judgedBy(limits, resultDocument(sampleParts()))
  assert.deepEqual(valuesOf(judged, 'value', 'passed'), [31_890, false, 31_890, true, null, false])
})

test('every figure has a name of its own and is found in a run by it', () => {
  assert.equal(new Set(METRICS.map(({ name }) => name)).size, METRICS.length)
  const run = resultDocument(sampleParts())
  const value = (/** @type {string} */ name) => measureNamed(name).value(run)
  assert.equal(value('latency.service.p999'), run.latency_us.service?.p999)
  assert.equal(value('ticks.lateness.p99'), 4110)
  assert.equal(value('hottest_master.cpu_pct'), 51.2 * 1.25)
  assert.ok(Math.abs((value('replica.engine_cpu_pct') ?? 0) - 23.6) < 1e-9)
  assert.equal(value('fetches.count'), null)
})

test('runs, patterns and folders of runs are sides', async () => {
  const [first] = await storeAll('a', [4.8, 4.9, 4.7])
  await storeAll('b', [3.1, 3.2, 3])
  const places = [first, join(folder, 'a-*'), join(folder, 'b-?'), folder]
  const sides = await Promise.all(places.map((side) => sideOf([side])))
  const repeats = sides.map(({ series }) => series[0].repeats)
  assert.deepEqual(repeats, [1, 3, 3, 6])
  const unread = { 'c-*': /contains no run and no experiment/, none: /cannot be read \(ENOENT\)/ }
  for (const [name, message] of Object.entries(unread))
    await assert.rejects(sideOf([join(folder, name)]), { code: 'OPTION', message })

  const limits = ['server.cpu_us_per_item<+5%', 'latency.intended.p99<20ms'].map(thresholdOf)
  const comparison = comparisonOf(sides[1], sides[2], limits)
  const { rulings } = comparison
  assert.deepEqual(valuesOf(rulings, 'outcome'), ['passed', 'failed'])
  assert.deepEqual([gateExitCode(rulings, 'strict'), gateExitCode(rulings.slice(0, 1), 'strict')], [99, 0])
  const text = textOf(comparison, { columns: 200, verbose: true })
  for (const line of [
    /server\.cpu_us_per_item +4\.8 µs +3\.1 µs +−35 % +−40 % to −31 % +[\d.]+ % +better/,
    /latency\.intended\.p99 +30 ms +30 ms +0.0 %/,
    /^b-\? is better than a-\*: server CPU per item, idle included −35 % \(95 % interval −40 % to −31 %\)\./m,
    /threshold FAILED: latency\.intended\.p99<20ms, measured 30 ms/,
  ])
    assert.match(text, line)
  const [{ name, verdict, primary }] = JSON.parse(JSON.stringify(compareDocument(comparison))).metrics
  assert.deepEqual([name, verdict, primary], ['server.cpu_us_per_item', 'better', true])
})

test('a percentile with too few samples beyond it is not compared, as a run does not show it', async () => {
  const samplesOf = async (/** @type {number} */ count) => {
    const run = runOf(`others-${count}`, 5)
    const bystander_us = { p50: 210, p99: 4310, max: 9120, count }
    const { series } = await sideOf([await saved(run.run, { ...run, bystander_us })])
    const { samples } = series[0]
    return ['p50', 'p99', 'max'].map((name) => samples[measureNamed(`bystander.${name}`).name])
  }
  assert.deepEqual(await samplesOf(200), [[210], undefined, [9120]])
  assert.deepEqual(await samplesOf(1000), [[210], [4310], [9120]])
})

test('settings that differ have the names and units of their options', async () => {
  const plans = [
    { durationMs: 10_000, endMs: 10_000, ttlS: 3, valueBytes: 128 },
    { durationMs: 20_000, endMs: 20_000, ttlS: 60, valueBytes: 1000 },
  ]
  const [a, b] = await Promise.all(
    plans.map(async (plan, i) => sideOf(await storeAll(`units-${i}`, [3.01, 3.02], () => plan))),
  )
  const between = textOf(comparisonOf(a, b, []))
  assert.match(
    between.replace(/\n +/g, ' '),
    /^differs in +ttl: 3 s → 60 s; value-size: 128 B → 1\.00 kB; duration: 10 s → 20 s$/m,
  )
})

test('settings that differ are named, between the sides and among the repeats of one', async () => {
  const list = await storeAll('list', [3.01, 3.02], () => ({ strategy: 'list' }))
  const set = await storeAll('set', [5.01, 5.02], (at) => ({ seed: at + 1 }))
  const [a, b, same, mixed] = await Promise.all([set, list, set.toReversed(), [set[0], list[0]]].map(sideOf))
  const between = textOf(comparisonOf(a, b, []))
  assert.match(between, /^differs in +strategy: sorted-set → list$/m)
  assert.doesNotMatch(between, /not repeats/)
  assert.match(textOf(comparisonOf(a, same, [])), /^differs in +nothing: all settings are the same$/m)
  const both = textOf(comparisonOf(a, mixed, []))
  assert.match(both, /^differs in +strategy: sorted-set → sorted-set, list$/m)
  assert.match(both, /^! not repeats of one thing: a side has runs of more than one strategy$/m)
  const [setting, ...none] = compareDocument(comparisonOf(a, b, [])).settings
  assert.deepEqual([setting, none], [{ name: 'strategy', baseline: ['sorted-set'], other: ['list'] }, []])
})

test('run.json stands for its folder', async () => {
  const path = await store('one', 4)
  const [byFolder, byFile] = await Promise.all([sideOf([path]), sideOf([join(path, 'run.json')])])
  assert.deepEqual(byFile, byFolder)
})

test('ten times and more is shown in times, and an unclear comparison says what it would have shown', async () => {
  const stored = { a: [1, 2, 4], b: [4, 1, 2], c: [100, 101, 102] }
  const sides = Object.entries(stored).map(([name, cpus]) => storeAll(`wild-${name}`, cpus).then(sideOf))
  const [wildA, wildB, many] = await Promise.all(sides)
  const text = textOf(comparisonOf(wildA, wildB, []), { columns: 300 })
  const unclear =
    /^Cannot tell whether wild-b.* is better or worse than wild-a.* Only changes above 720 % are detectable; more or longer runs/m
  assert.match(text, unclear)
  assert.match(textOf(comparisonOf(wildA, many, [])), /server\.cpu_us_per_item .* ×50 /)
})

const intervals = `-0.048 0.031 -> −4.8 % to +3.1 %
-0.98 8.99 -> −98 % to +899 %
-0.98 13 -> ×0.02 to ×14
-0.5 9 -> ×0.50 to ×10
0.2 13 -> ×1.20 to ×14
12 29 -> ×13 to ×30
-0.99999 2e6 -> <×0.001 to >×1,000,000`
for (const line of intervals.split('\n'))
  test(`both ends of an interval have one unit: ${line}`, () => {
    const [ends, shown] = line.split(' -> ')
    const [low, high] = ends.split(' ').map(Number)
    assert.equal(rangeWords(low, high), shown)
  })

test('experiments are compared row by row; a row of one side only is named, and a threshold on it cannot be judged', async () => {
  const ours = sampleExperiment()
  const other = sampleExperiment({ rows: [ours.rows[0], { ...ours.rows[1], label: 'set' }] })
  const [a, b] = [await experimentSide('ours', ours), await experimentSide('other', other)]
  const comparison = comparisonOf(a, b, [thresholdOf('server.cpu_us_per_item<+5%')])
  assert.deepEqual(comparison.unmatched, ['list', 'set'])
  const changes = comparison.rows.map(({ label, difference }) => `${label} ${difference.change}`)
  assert.deepEqual([...new Set(changes)], ['sorted set 0'])
  const outcomes = comparison.rulings.map(({ label, outcome }) => `${label} ${outcome}`)
  assert.deepEqual(outcomes, ['sorted set passed', 'list unclear', 'set unclear'])
  const failed =
    /threshold cannot tell: server\.cpu_us_per_item<\+5%, list: measured – \(not measured on both sides\)$/m
  assert.match(textOf(comparison, { columns: 200 }), failed)
})

test('sides without anything in common are no comparison', async () => {
  const run = await sideOf([await store('lone', 5)])
  const experiment = sampleExperiment()
  const one = await experimentSide('apart-0', experiment)
  const rows = [{ ...experiment.rows[0], label: 'other' }]
  const two = await experimentSide('apart-1', sampleExperiment({ rows }))
  const refusal = { code: 'OPTION', message: /no metric is on both sides/ }
  for (const [a, b] of [
    [one, run],
    [run, one],
    [one, two],
  ])
    assert.throws(() => comparisonOf(a, b, [thresholdOf('server.cpu_us_per_item<0.001us')]), refusal)
})

test('cells of an experiment are sides: the runs of their rounds, by the names of the cells', async () => {
  for (const [cell, cpuUs] of Object.entries({ list: 3, set: 4 }))
    for (const round of [1, 2, 3]) await store(`cells/${cell}/round-${round}/run`, cpuUs + round / 100)
  // Writers side by side: the whole counts, not its parts.
  for (const part of ['writer-1', 'writer-2']) await store(`cells/set/round-2/${part}`, 99)
  const cells = ['list', 'set'].map((cell) => join(folder, 'cells', cell))
  const sides = await sidesOf(cells.map((cell) => [cell]))
  assert.deepEqual(valuesOf(sides, 'name'), ['list', 'set'])
  const samples = sides.flatMap(({ series }) => series[0].samples['server.cpu_us_per_item'])
  assert.deepEqual(samples, [3.01, 3.02, 3.03, 4.01, 4.02, 4.03])
  const rounds = await sidesOf(cells.map((cell) => [join(cell, 'round-*')]))
  const repeats = rounds.flatMap(({ name, series }) => [name, series[0].repeats])
  assert.deepEqual(repeats, ['list', 3, 'set', 3])

  await store('cells/phased/round-1/phase-1', 3)
  await store('cells/phased/round-1/timeline', 3)
  const message = /round-1 has phases, which are not repeats of one thing/
  await assert.rejects(sideOf([join(folder, 'cells', 'phased')]), { code: 'OPTION', message })
})

for (const [sides, names] of rowsOf(`
r/a | r/b -> a | b
r/a/x | r/b/x -> a | b
r/a/x | r/b/x | r/a/y -> a/x | b/x | a/y
r/1/a/x | r/2/a/x | r/1/b/x -> 1/a | 2/a | 1/b
r/a/1 r/a/2 | r/b/1 r/b/2 -> a/1 a/2 | b/1 b/2
r/a | r/a -> a | a
`))
  test(`sides ${sides} are called ${names}`, () => {
    const found = sideNames(sides.split(' | ').map((side) => side.split(' ')))
    assert.deepEqual(found, names.split(' | '))
  })

test('three sides of repeated runs are ranked, with wider intervals than two have', async () => {
  const cpus = { many: [5, 5.05, 4.95], few: [3, 3.03, 2.97], alike: [3.01, 3.02, 2.98] }
  const stored = Object.entries(cpus).map(async ([name, of]) => {
    const side = await sideOf(await storeAll(`rank-${name}`, of))
    return { ...side, name }
  })
  const sides = await Promise.all(stored)
  const comparison = comparisonOfFinished(sides, [thresholdOf('server.cpu_us_per_item<+5%')], { effect: 0.1 })
  const cpu = comparison.ranks?.find(({ figure }) => figure.name === 'server.cpu_us_per_item')
  assert.deepEqual(valuesOf(cpu?.order ?? [], 'name'), ['few', 'alike', 'many'])
  assert.deepEqual([cpu?.best, cpu?.alike], [['few', 'alike'], true])
  const two = comparisonOf(sides[0], sides[1], [], { effect: 0.1 }).rows[0].difference
  const { difference } = comparison.rows[0]
  assert.ok(Number(difference.low) < Number(two.low))
  assert.equal(difference.change, two.change)
  assert.deepEqual(valuesOf(comparison.rulings, 'label', 'outcome'), ['few', 'passed', 'alike', 'passed'])
  const text = textOf(comparison, { columns: 80 })
  assert.match(text, /^sides +few \(3 runs\), alike \(3 runs\), each against many$/m)
  const method = "Welch's, of the logarithms, against many; those of a metric hold together for all sides"
  assert.ok(text.replace(/\s+/g, ' ').includes(method), text)
})

test('a writer is not compared with a reader, nor a run that is not valid unless asked', async () => {
  const side = await sideOf([await store('plain', 5)])
  const invalid = await sideOf([await saved('invalid', { ...runOf('invalid', 5), valid: false })])
  const settings = { ...side.series[0].settings, kind: ['consumer'] }
  const reader = { ...side, series: side.series.map((one) => ({ ...one, settings })) }
  for (const [other, message] of /** @type {const} */ ([
    [reader, 'runs of a producer and of a consumer are not compared with each other'],
    [invalid, /^not valid: invalid .*; .* --invalid compares them nevertheless$/],
  ]))
    assert.throws(() => comparisonOf(side, other, []), { code: 'OPTION', message })
  const text = textOf(comparisonOf(side, invalid, [], { allowInvalid: true }))
  assert.match(text, /^! compared although they are not valid: invalid/m)
  assert.match(text, /Each side has one run: repeat both for an\s+interval/)
})
