import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { staffingChart } from '../../charts/staffing.js'
import { measuredLoads } from '../../lib/answers/load-files.js'
import {
  afterFailure,
  anyOverflow,
  capacityOf,
  leastRho,
  sameRiskMargin,
  shardCountProblem,
  shardCounts,
  simulated,
  slotsOver,
  splitOver,
  sumOf,
} from '../../lib/answers/staffing.js'
import { staffingAnswer } from '../../lib/answers/staffing-answer.js'
import { measuredOverflow, typedLoadOf } from '../../lib/answers/staffing-series.js'
import { staffingText } from '../../lib/answers/staffing-text.js'
import { normalQuantile, normalTail, studentQuantile, studentTail } from '../../lib/base/distributions.js'
import { normals } from '../../lib/base/random.js'
import { staffOptions, staffRequest } from '../../lib/cli/staff-options.js'
import { typedLine } from '../../lib/options/command-line.js'
import { settingsOf } from '../../lib/options/read-settings.js'
import { svgOf } from '../../lib/report/draw.js'
import { ownFolder, startProgram } from '../helpers/programs.js'
import { sampleRecord } from '../helpers/sample-record.js'

/** @param {number} found @param {number} expected @param {number} within @param {string} [what] */
const near = (found, expected, within, what) =>
  assert.ok(Math.abs(found - expected) <= within, `${what ?? ''} ${found}, expected ${expected}`)

test('the distributions are those of the tables', () => {
  for (const [z, tail] of [
    [0, 0.5],
    [1, 0.158655253931457],
    [2, 0.0227501319481792],
    [3, 0.00134989803163009],
    [4, 3.16712418331199e-5],
    [8, 6.22096057427178e-16],
  ]) {
    near(normalTail(z) / tail, 1, 1e-9, `tail of ${z}`)
    near(normalTail(-z), 1 - tail, 1e-12, `tail of ${-z}`)
    near(normalQuantile(tail), z, 1e-8, `quantile of ${tail}`)
  }
  for (const [freedom, t] of [
    [1, 12.7062047361747],
    [2, 4.30265272974946],
    [5, 2.57058183563631],
    [11, 2.20098516009164],
    [30, 2.0422724563012],
  ]) {
    near(studentQuantile(0.025, freedom), t, 1e-7, `t of ${freedom}`)
    near(studentTail(-t, freedom), 0.975, 1e-9)
  }
})

// The article on the threading model; it cuts 232.6 to 232, and so finds 93 % where it is 94.
const published = [
  { load: { nodes: 9, mean: 12, sd: 2, rho: 0 }, separate: 144, single: 120, saving: 17 },
  { load: { nodes: 108, mean: 1, sd: 0.577, rho: 0 }, separate: 232, single: 120, saving: 48 },
]

test('the published examples: 144 against 120, and 232 against 120', () => {
  for (const { load, separate, single, saving } of published) {
    const found = capacityOf(load, 2)
    assert.equal(Math.floor(found.separate), separate)
    assert.equal(Math.round(found.single), single)
    assert.equal(Math.round((1 - found.single / found.separate) * 100), saving)
  }
})

test('the formulas agree with a simulation, also of correlated loads', () => {
  const draws = 20_000
  for (const rho of [0, 0.3, 0.9]) {
    const load = { nodes: 9, mean: 12, sd: 2, rho }
    const found = simulated(load, 2, { draws, seed: 7 })
    const error = (/** @type {number} */ p) => 4 * Math.sqrt((p * (1 - p)) / draws)
    near(found.node, normalTail(2), error(normalTail(2)), `a node at ${rho}`)
    near(found.any, anyOverflow(load, 2), error(anyOverflow(load, 2)), `any node at ${rho}`)
    near(found.single, normalTail(2), error(normalTail(2)), `the single node at ${rho}`)
    near(found.sumSd / sumOf(load).sd, 1, 4 / Math.sqrt(2 * draws), `the sum at ${rho}`)
  }
  assert.deepEqual(
    simulated({ nodes: 3, mean: 1, sd: 1, rho: 0 }, 1, { draws: 1000, seed: 1 }),
    simulated({ nodes: 3, mean: 1, sd: 1, rho: 0 }, 1, { draws: 1000, seed: 1 }),
  )
})

test('loads that always rise together save nothing, those that cancel each other need no margin', () => {
  const together = { nodes: 4, mean: 10, sd: 2, rho: 1 }
  assert.deepEqual(capacityOf(together, 2), { separate: 56, single: 56 })
  near(anyOverflow(together, 2), normalTail(2), 1e-12)
  near(sameRiskMargin(together, 2), 2, 1e-9)
  near(capacityOf({ ...together, rho: leastRho(4) }, 2).single, 40, 1e-9)
})

test('the margin of the same risk has the risk of one node', () => {
  for (const rho of [0, 0.5]) {
    const load = { nodes: 24, rho }
    const margin = sameRiskMargin(load, 2)
    assert.ok(margin > 2)
    near(anyOverflow(load, margin) / normalTail(2), 1, 1e-6)
  }
})

test('a split over other numbers of nodes keeps the total and its spread', () => {
  for (const rho of [0, 0.4, -0.1]) {
    const load = { nodes: 9, mean: 12, sd: 2, rho }
    for (const nodes of [1, 2, 30, 500]) {
      const split = splitOver(load, nodes)
      near(sumOf(split).mean, sumOf(load).mean, 1e-9)
      if (split.rho > leastRho(nodes)) near(sumOf(split).sd, sumOf(load).sd, 1e-9)
    }
  }
})

test("after a failure each node has its share of the lost one's load", () => {
  assert.deepEqual(afterFailure({ nodes: 1, mean: 10, sd: 1, rho: 0 }, 2), { each: 12, all: 24 })
  near(afterFailure({ nodes: 5, mean: 12, sd: 0, rho: 0 }, 2).each, 15, 1e-12)
  const load = { nodes: 3, mean: 12, sd: 2, rho: 0 }
  const next = normals(3)
  const draws = 20_000
  const { each } = afterFailure(load, 2)
  let over = 0
  for (let draw = 0; draw < draws; draw++) if (12 + 2 * next() + (12 + 2 * next()) / 2 > each) over++
  near(over / draws, normalTail(2), 0.004)
})

test('slots are all given, and shard counts are those that a cluster can have', () => {
  for (const shards of [1, 3, 9, 108, 128, 500]) {
    const { fewest, most, withMost } = slotsOver(shards)
    assert.equal(withMost * most + (shards - withMost) * fewest, 16_384)
    assert.ok(most - fewest <= 1)
  }
  assert.equal(slotsOver(128).factor, 1)
  near(slotsOver(108).factor, (152 * 108) / 16_384, 1e-12)
  assert.equal(shardCountProblem(90, 0), null)
  assert.match(String(shardCountProblem(46, 1)), /more than 90 nodes, counting replicas.*500/)
  assert.match(String(shardCountProblem(251, 1)), /more than ElastiCache allows/)
  assert.match(String(shardCountProblem(2, 0)), /needs 3 masters/)
  assert.equal(shardCounts(9, 5).at(-1), 83)
  assert.ok(shardCounts(10, 1).includes(10))
})

const waves = [
  { name: 'a', values: [10, 20, 10, 20, 10, 20, 10, 20, 10, 40] },
  { name: 'b', values: [20, 10, 20, 10, 20, 10, 20, 10, 20, 10] },
]

test('a measured load has the spread of its sum, and what really overflowed', () => {
  const { load, each } = typedLoadOf(waves)
  near(load.mean, (17 + 15) / 2, 1e-9)
  assert.equal(each[0].max, 40)
  assert.ok(load.rho < 0)
  near(measuredOverflow(waves, 2).sameSize, 2 * (each[0].mean + 2 * each[0].sd), 1e-9)
  // The sum of two that mirror each other does not move at all.
  const equal = [waves[1], { name: 'c', values: [...waves[1].values].reverse() }]
  near(sumOf(typedLoadOf(equal).load).sd, 0, 1e-9)
  assert.deepEqual(measuredOverflow(waves, 2), {
    ...measuredOverflow(waves, 2),
    node: 1 / 20,
    any: 1 / 10,
    singleOver: 1 / 10,
    peaks: 60,
    peak: 50,
  })
})

const moments = Array.from({ length: 12 }, (_, at) => new Date(1_700_000_000_000 + at * 60_000).toISOString())

test('an export of CloudWatch is read in both forms, and its pages are joined', async (t) => {
  const root = ownFolder(t, 'staffing')
  const write = (/** @type {string} */ name, /** @type {unknown} */ content) => {
    writeFileSync(join(root, name), JSON.stringify(content))
    return join(root, name)
  }
  const part = (/** @type {string} */ id, /** @type {number} */ from, /** @type {number} */ to) => ({
    Id: id,
    Label: `${id} EngineCPUUtilization`,
    Timestamps: moments.slice(from, to),
    Values: moments.slice(from, to).map((_, at) => at + from),
    StatusCode: 'Complete',
  })
  const data = write('data.json', {
    MetricDataResults: [part('n1', 0, 6), part('n2', 1, 12), part('n1', 6, 12)],
  })
  const options = /** @type {const} */ ({ measure: 'cpu', role: 'master' })
  const found = await measuredLoads([data], options)
  assert.deepEqual(found.unit, 'pct')
  // The first moment has no value of n2.
  assert.deepEqual(
    found.nodes.flatMap(({ name, values }) => [name, values.length, values[0]]),
    ['n1 EngineCPUUtilization', 11, 1, 'n2 EngineCPUUtilization', 11, 1],
  )
  const statistics = (/** @type {string} */ name, /** @type {string} */ unit) =>
    write(name, {
      Label: 'BytesUsedForCache',
      Datapoints: moments.map((Timestamp, at) => ({ Timestamp, Average: at * 1e6, Unit: unit })).reverse(),
    })
  const bytes = await measuredLoads([statistics('n1.json', 'Bytes'), statistics('n2.json', 'Bytes')], options)
  assert.deepEqual([bytes.unit, bytes.nodes.map(({ name }) => name)], ['bytes', ['n1', 'n2']])
  assert.equal(bytes.nodes[0].values[11], 11e6)
  await assert.rejects(measuredLoads([data, statistics('n3.json', 'Bytes')], options), /not in the same unit/)
  await assert.rejects(measuredLoads([write('x.json', {})], options), /neither the folder of a run/)
  await assert.rejects(measuredLoads([join(root, 'none')], options), /none cannot be read \(ENOENT\)/)
  const short = write('short.json', { MetricDataResults: [part('n1', 0, 3)] })
  await assert.rejects(measuredLoads([short], options), /3 moments have a value of all 1 nodes; 10/)
})

/** @param {string} root */
const storedRun = (root) => {
  const { run, seconds } = sampleRecord()
  const folder = join(root, 'run')
  mkdirSync(folder)
  writeFileSync(join(folder, 'run.json'), JSON.stringify(run))
  // Two minutes: the sample's seconds again and again, but for its warm-up.
  const lines = Array.from({ length: 60 }, (_, at) => ({ ...seconds[1 + (at % 7)], at_ms: 1000 * (at + 1) }))
  writeFileSync(join(folder, 'intervals.ndjson'), lines.map((line) => JSON.stringify(line)).join('\n'))
  return folder
}

test("a run's own series is an input, by node and second", async (t) => {
  const folder = storedRun(ownFolder(t, 'staffing'))
  const found = await measuredLoads([folder], { measure: 'cpu', role: 'master' })
  assert.equal(found.unit, 'pct')
  assert.equal(found.nodes.length, 2)
  // A second in which a node was silent has no sum.
  assert.equal(found.moments, 60 - Math.ceil((60 - 2) / 7))
  const all = await measuredLoads([join(folder, 'intervals.ndjson')], { measure: 'memory', role: 'all' })
  assert.deepEqual([all.unit, all.nodes.length], ['bytes', 4])
})

const answer = staffingAnswer({
  load: { nodes: 9, mean: 12e9, sd: 2e9, rho: 0 },
  margin: 2,
  replicas: 1,
  unit: 'bytes',
  measured: null,
  simulation: null,
})

test('the chart shows capacity over the number of nodes, with the asked one among them', () => {
  const option = staffingChart.option(answer)
  assert.ok(option)
  const at9 = option.series.map(
    (/** @type {any} */ { data }) => data.find((/** @type {number[]} */ [n]) => n === 9)[1],
  )
  assert.deepEqual(at9.slice(2), [144e9, 120e9])
  near(at9[1], answer.sameRisk.separate, 1)
  near(at9[0], answer.afterFailure.all, 1)
  assert.match(svgOf({ ...staffingChart, option }), /<svg[\s\S]*separate nodes, margin 2/)
})

test('the text says both numbers, the saving, the risk, and fits its columns', () => {
  const text = staffingText(answer, { columns: 110 })
  const flat = text.replace(/\s+/g, ' ')
  assert.match(flat, /9 separate nodes need 144 GB, one node for the sum needs 120 GB: 16.7 % less/)
  assert.match(flat, /one of the 9 nodes overflows with a probability of 18.7 %, the single node with 2.28 %/)
  assert.match(flat, /With 1 replica a shard, which take over what fails: 288 GB/)
  assert.match(flat, /4 of 9 shards have 1,821 slots and the others 1,820/)
  for (const line of text.split('\n')) assert.ok(line.length <= 110, line)
})

test('loads without a unit keep their fractions', () => {
  const load = { nodes: 9, mean: 1.5, sd: 0.4, rho: 0 }
  const given = { load, margin: 2, replicas: 0, measured: null, simulation: null }
  const text = staffingText(staffingAnswer({ ...given, unit: 'number' }), { columns: 110 })
  assert.match(text, /a load of 1\.5, standard deviation 0\.4, independent/)
  assert.match(text, /9 separate nodes need 20\.7, one node for the sum needs 15\.9: 23\.2 % less/)
})

/** @param {import('node:test').TestContext} t @param {string} line */
const millrace = (t, line) => startProgram(t, 'lib/cli/millrace.js', line, { out: false }).ended

test('millrace staff answers as a program', async (t) => {
  const root = ownFolder(t, 'staffing')
  const chart = join(root, 'staffing.svg')
  const { code, stdout, stderr } = await millrace(
    t,
    `staff --nodes 9 --mean 12GB --sd 2GB --margin 2 --simulate 1k --json --chart ${chart}`,
  )
  assert.equal(code, 0, stderr)
  const found = JSON.parse(stdout)
  assert.deepEqual([found.separate, found.single, found.simulated.draws], [144e9, 120e9, 1000])
  assert.match(readFileSync(chart, 'utf8'), /<svg/)
  const ofRun = await millrace(t, `staff --from ${storedRun(root)}`)
  assert.equal(ofRun.code, 0, ofRun.stderr)
  assert.match(ofRun.stdout, /2 nodes with a load of .* %, .*engine CPU measured at 51 moments/)
})

test('wrong options of millrace staff are refused by name', async () => {
  const typed = '--nodes 9 --mean 12GB'
  for (const [line, message] of /** @type {[string, RegExp][]} */ ([
    [typed, /^--sd is missing/],
    [`${typed} --sd 2`, /^--sd 2: must have the unit of --mean 12GB/],
    ['--nodes 0', /^--nodes must be a whole number from 1 to 10000, not '0'/],
    [`${typed} --sd 2GB --rho -0.2`, /^--rho -0.2: 9 loads cannot all be correlated below -0.125/],
    [`${typed} --sd 2GB --rho=-0.1 --simulate 1k`, /^--simulate draws loads that share a factor/],
    [`${typed} --sd 2GB --replicas 6`, /^--replicas must be a whole number from 0 to 5/],
    [`${typed} --sd 2GB --margin many`, /^--margin must be a number from 0 to 10, not 'many'/],
    [`${typed} --sd 2GB --chart x.gif`, /^--chart x.gif: must end in .svg or .png/],
    ['--from nowhere --rho 0.5', /^--rho does not go with --from/],
    ['--from . --measure disk', /^--measure must be/],
    ['--nodes', /^--nodes needs a value/],
  ]))
    await assert.rejects(
      async () =>
        staffRequest(settingsOf(typedLine(line.split(' '), staffOptions), staffOptions, { env: {} })),
      { code: 'OPTION', message },
    )
})

/** @param {Partial<Parameters<typeof staffingAnswer>[0]> & { load: import('../../lib/answers/staffing.js').Load }} asked */
const answered = (asked) => {
  const answer = staffingAnswer({
    margin: 2,
    replicas: 0,
    unit: 'pct',
    measured: null,
    simulation: null,
    ...asked,
  })
  return { answer, text: staffingText(answer, { columns: 2000 }) }
}

test('a load above 100 % of a node is a warning, with the fewest nodes that have room', () => {
  const load = { nodes: 9, mean: 60, sd: 5, rho: 0 }
  const { answer, text } = answered({ load })
  assert.ok(answer.single > 500)
  const fewest = answer.beyondNode?.fewest ?? 0
  assert.match(
    text,
    new RegExp(
      `Warning: One node for the sum needs 57\\d.* ends at 100 %.*main thread.*at least ${fewest} nodes`,
    ),
  )
  const each = (/** @type {number} */ nodes) => {
    const { mean, sd } = splitOver(load, nodes)
    return mean + 2 * sd
  }
  assert.ok(each(fewest) <= 100 && each(fewest - 1) > 100)
  for (const { nodes, problem } of answer.counts)
    assert.equal(problem === 'a node would need more than it has', each(nodes) > 100, String(nodes))
  assert.match(
    answered({ load: { nodes: 3, mean: 90, sd: 10, rho: 0 } }).text,
    /Warning: Each node needs 110 %/,
  )
  const noRoom = answered({ load: { nodes: 2, mean: 40_000, sd: 0, rho: 0 } })
  assert.match(noRoom.text, /no number of shards that a cluster can have is enough/)
  for (const fits of [
    answered({ load: { nodes: 3, mean: 20, sd: 2, rho: 0 } }),
    answered({ load, unit: 'bytes' }),
  ]) {
    assert.equal(fits.answer.beyondNode, null)
    assert.doesNotMatch(fits.text, /Warning|more than it has/)
  }
})

test('a spread as large as the mean is a warning: a normal distribution has loads below 0', () => {
  const { answer, text } = answered({ load: { nodes: 9, mean: 10, sd: 10, rho: 0 }, unit: 'number' })
  near(answer.belowZero, 0.158655, 1e-6)
  assert.match(text, /Warning: .* is 100 % of the mean\..*below 0 for 15\.9 % of the time.*--from/)
  for (const sd of [0, 4])
    assert.doesNotMatch(
      answered({ load: { nodes: 9, mean: 10, sd, rho: 0 }, unit: 'number' }).text,
      /Warning/,
    )
})
