import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { staffingChart } from '../../charts/staffing.js'
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
  staffing,
  staffingAnswer,
  sumOf,
} from '../../lib/answers/staff.js'
import { measuredOverflow, typedLoadOf } from '../../lib/answers/staffing-series.js'
import { normalQuantile, normalTail, studentQuantile, studentTail } from '../../lib/base/distributions.js'
import { faultIn } from '../../lib/base/json-schema.js'
import { normals } from '../../lib/base/random.js'
import { measuredLoads, staffOptions, staffRequest } from '../../lib/cli/commands/staff.js'
import { typedLine } from '../../lib/options/command-line.js'
import { settingsOf } from '../../lib/options/read-settings.js'
import { svgOf } from '../../lib/report/draw.js'
import { runCommand } from '../helpers/command-here.js'
import { ownFolder } from '../helpers/programs.js'
import { sampleRecord } from '../helpers/sample-record.js'
import { rowsOf } from '../helpers/table.js'

/** @import { Load } from '../../lib/answers/staff.js' */

/** @param {number} found @param {number} expected @param {number} within @param {string} [what] */
const near = (found, expected, within, what) =>
  assert.ok(Math.abs(found - expected) <= within, `${what ?? ''} ${found}, expected ${expected}`)

test('the distributions are those of the tables', () => {
  const tails = { 0: 0.5, 1: 0.158655253931457, 2: 0.0227501319481792, 3: 0.00134989803163009 }
  for (const [text, tail] of Object.entries({ ...tails, 4: 3.16712418331199e-5, 8: 6.22096057427178e-16 })) {
    const z = Number(text)
    near(normalTail(z) / tail, 1, 1e-9, `tail of ${z}`)
    near(normalTail(-z), 1 - tail, 1e-12, `tail of ${-z}`)
    near(normalQuantile(tail), z, 1e-8, `quantile of ${tail}`)
  }
  const quantiles = { 1: 12.7062047361747, 2: 4.30265272974946, 5: 2.57058183563631 }
  for (const [freedom, t] of Object.entries({ ...quantiles, 11: 2.20098516009164, 30: 2.0422724563012 })) {
    near(studentQuantile(0.025, Number(freedom)), t, 1e-7, `t of ${freedom}`)
    near(studentTail(-t, Number(freedom)), 0.975, 1e-9)
  }
})

// The article on the threading model; it cuts 232.6 to 232, and so finds 93 % where it is 94.
test('the published examples: 144 against 120, and 232 against 120', () => {
  for (const [nodes, mean, sd, ...published] of [
    [9, 12, 2, 144, 120, 17],
    [108, 1, 0.577, 232, 120, 48],
  ]) {
    const { separate, single } = capacityOf({ nodes, mean, sd, rho: 0 }, 2)
    const savingPct = Math.round((1 - single / separate) * 100)
    assert.deepEqual([Math.floor(separate), Math.round(single), savingPct], published)
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
  const again = () => simulated({ nodes: 3, mean: 1, sd: 1, rho: 0 }, 1, { draws: 1000, seed: 1 })
  assert.deepEqual(again(), again())
})

test('loads that always rise together save nothing, those that cancel each other need no margin', () => {
  const together = { nodes: 4, mean: 10, sd: 2, rho: 1 }
  assert.deepEqual(capacityOf(together, 2), { separate: 56, single: 56 })
  near(anyOverflow(together, 2), normalTail(2), 1e-12)
  near(sameRiskMargin(together, 2), 2, 1e-9)
  near(capacityOf({ ...together, rho: leastRho(4) }, 2).single, 40, 1e-9)
})

test('the margin of the same risk has the risk of one node', () => {
  for (const load of [0, 0.5].map((rho) => ({ nodes: 24, rho }))) {
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
  assert.match(shardCountProblem(46, 1) ?? '', /more than 90 nodes, counting replicas.*500/)
  assert.match(shardCountProblem(251, 1) ?? '', /more than ElastiCache allows/)
  assert.match(shardCountProblem(2, 0) ?? '', /needs 3 masters/)
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
  const { node, any, singleOver, peaks, peak } = measuredOverflow(waves, 2)
  assert.deepEqual([node, any, singleOver, peaks, peak], [1 / 20, 1 / 10, 1 / 10, 60, 50])
})

const moments = Array.from({ length: 12 }, (_, at) => new Date(1_700_000_000_000 + at * 60_000).toISOString())

test('an export of CloudWatch is read in both forms, and its pages are joined', async (t) => {
  const root = ownFolder(t, 'staffing')
  const write = (/** @type {string} */ name, /** @type {unknown} */ content) => {
    writeFileSync(join(root, name), JSON.stringify(content))
    return join(root, name)
  }
  const part = (/** @type {string} */ id, /** @type {number} */ from, /** @type {number} */ to) => ({
    ...{ Id: id, Label: `${id} EngineCPUUtilization`, StatusCode: 'Complete' },
    Timestamps: moments.slice(from, to),
    Values: moments.slice(from, to).map((_, at) => at + from),
  })
  const data = write('data.json', {
    MetricDataResults: [part('n1', 0, 6), part('n2', 1, 12), part('n1', 6, 12)],
  })
  const loadsOf = (/** @type {string[]} */ ...files) =>
    measuredLoads(files, { measure: 'cpu', role: 'master' })
  const found = await loadsOf(data)
  assert.deepEqual(found.unit, 'pct')
  // The first moment has no value of n2.
  const shown = found.nodes.flatMap(({ name, values }) => [name, values.length, values[0]])
  assert.deepEqual(shown, ['n1 EngineCPUUtilization', 11, 1, 'n2 EngineCPUUtilization', 11, 1])
  const Datapoints = moments
    .map((Timestamp, at) => ({ Timestamp, Average: at * 1e6, Unit: 'Bytes' }))
    .reverse()
  const statistics = (/** @type {string} */ name) => write(name, { Label: 'BytesUsedForCache', Datapoints })
  const bytes = await loadsOf(statistics('n1.json'), statistics('n2.json'))
  assert.deepEqual([bytes.unit, bytes.nodes.map(({ name }) => name)], ['bytes', ['n1', 'n2']])
  assert.equal(bytes.nodes[0].values[11], 11e6)
  const short = write('short.json', { MetricDataResults: [part('n1', 0, 3)] })
  await assert.rejects(loadsOf(data, statistics('n3.json')), /not in the same unit/)
  await assert.rejects(loadsOf(write('x.json', {})), /neither the folder of a run/)
  await assert.rejects(loadsOf(join(root, 'none')), /none cannot be read \(ENOENT\)/)
  await assert.rejects(loadsOf(short), /3 moments have a value of all 1 nodes; a spread needs 10/)
})

const storedRun = (/** @type {string} */ root) => {
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

/** @param {Partial<Parameters<typeof staffingAnswer>[0]> & { load: Load }} asked */
const answered = (asked, columns = 2000) => {
  const unit = /** @type {const} */ ('pct')
  const answer = staffingAnswer({ margin: 2, replicas: 0, unit, measured: null, simulation: null, ...asked })
  return { answer, text: staffing.text(answer, { columns }) }
}
const nine = { nodes: 9, mean: 12e9, sd: 2e9, rho: 0 }
const { answer, text } = answered({ load: nine, replicas: 1, unit: 'bytes' }, 110)

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
  const flat = text.replace(/\s+/g, ' ')
  assert.match(flat, /9 separate nodes need 144 GB, one node for the sum needs 120 GB: 16.7 % less/)
  assert.match(flat, /one of the 9 nodes overflows with a probability of 18.7 %, the single node with 2.28 %/)
  assert.match(flat, /With 1 replica a shard, which take over what fails: 288 GB/)
  assert.match(flat, /4 of 9 shards have 1,821 slots and the others 1,820/)
  for (const line of text.split('\n')) assert.ok(line.length <= 110, line)
})

test('loads without a unit keep their fractions', () => {
  const load = { nodes: 9, mean: 1.5, sd: 0.4, rho: 0 }
  const { text } = answered({ load, unit: 'number' }, 110)
  assert.match(text, /a load of 1\.5, standard deviation 0\.4, independent/)
  assert.match(text, /9 separate nodes need 20\.7, one node for the sum needs 15\.9: 23\.2 % less/)
})

test('millrace plan staff answers as JSON, as a chart, and of a run', async (t) => {
  const root = ownFolder(t, 'staffing')
  const chart = join(root, 'staffing-dark.svg')
  const line = 'plan staff --nodes 9 --load mean=12GB,sd=2GB,margin=2 --simulate 1k --json'
  const words = `${line} --draw ${chart}`
  const { code, stdout, stderr } = await runCommand(t, words, { out: false })
  assert.equal(code, 0, stderr)
  const found = JSON.parse(stdout)
  assert.deepEqual([found.separate, found.single, found.simulated.draws], [144e9, 120e9, 1000])
  assert.equal(faultIn(found, staffing.schema), null)
  assert.match(faultIn({ ...found, unit: 'GB' }, staffing.schema) ?? '', /'unit' must be/)
  // Dark, by its name.
  assert.match(readFileSync(chart, 'utf8'), /<svg[\s\S]*#171c21/)
  const ofRun = await runCommand(t, `plan staff --from ${storedRun(root)}`, { out: false })
  assert.equal(ofRun.code, 0, ofRun.stderr)
  assert.match(ofRun.stdout, /2 nodes with a load of .* %, .*engine CPU measured at 51 moments/)
  const measured = await runCommand(t, `plan staff --from ${join(root, 'run')} --json`, { out: false })
  assert.equal(faultIn(JSON.parse(measured.stdout), staffing.schema), null)
})

test('wrong options of millrace plan staff are refused by name', async () => {
  for (const [line, begin] of rowsOf(`
--nodes 9 --load mean=12GB -> --load sd= is missing
--nodes 9 --mean 12GB -> unknown option --mean: type --load mean=LOAD
--nodes 9 --load mean=12GB,sd=2 -> --load sd=2: must have the unit of mean=12GB
--nodes 0 -> --nodes must be a whole number from 1 to 10000, not '0'
--nodes 9 --load mean=12GB,sd=2GB,rho=-0.2 -> --load rho=-0.2: 9 loads cannot all be correlated below -0.125
--nodes 9 --load mean=12GB,sd=2GB,rho=-0.1 --simulate 1k -> --simulate draws loads that share a factor
--nodes 9 --load mean=12GB,sd=2GB --replicas 6 -> --replicas must be a whole number from 0 to 5
--nodes 9 --load mean=12GB,sd=2GB,margin=many -> --load margin=many: must be a number from 0 to 10
--nodes 9 --load mean=12GB,sdd=2GB -> --load sdd: must be NAME=VALUE of mean, sd, margin, rho
--nodes 9 --load mean=12GB,sd=2GB --draw x.gif -> --draw x.gif: must end in .svg or .png
--from nowhere --load rho=0.5 -> --load rho= does not go with --from
--from . --measure disk -> --measure must be
--nodes -> --nodes needs a value
`))
    await assert.rejects(
      async () =>
        staffRequest(settingsOf(typedLine(line.split(' '), staffOptions), staffOptions, { env: {} })),
      ({ code, message }) => code === 'OPTION' && message.startsWith(begin),
      line,
    )
})

test('a load above 100 % of a node is a warning, with the fewest nodes that have room', () => {
  const load = { nodes: 9, mean: 60, sd: 5, rho: 0 }
  const { answer, text } = answered({ load })
  assert.ok(answer.single > 500)
  const fewest = answer.beyondNode?.fewest ?? 0
  assert.match(text, /Warning: One node for the sum needs 57\d.* a node has 100 %.*main thread/)
  assert.match(text, new RegExp(`main thread.*at least ${fewest} nodes`))
  const each = (/** @type {number} */ nodes) => {
    const { mean, sd } = splitOver(load, nodes)
    return mean + 2 * sd
  }
  assert.ok(each(fewest) <= 100 && each(fewest - 1) > 100)
  for (const { nodes, problem } of answer.counts)
    assert.equal(problem === 'a node would need more than it has', each(nodes) > 100, String(nodes))
  const of = (/** @type {number} */ nodes, /** @type {number} */ mean, /** @type {number} */ sd) =>
    answered({ load: { nodes, mean, sd, rho: 0 } })
  assert.match(of(3, 90, 10).text, /Warning: Each node needs 110 %/)
  assert.match(of(2, 40_000, 0).text, /no number of shards that a cluster can have is enough/)
  for (const fits of [of(3, 20, 2), answered({ load, unit: 'bytes' })]) {
    assert.equal(fits.answer.beyondNode, null)
    assert.doesNotMatch(fits.text, /Warning|more than it has/)
  }
})

test('a spread as large as the mean is a warning: a normal distribution has loads below 0', () => {
  const of = (/** @type {number} */ sd) =>
    answered({ load: { nodes: 9, mean: 10, sd, rho: 0 }, unit: 'number' })
  const { answer, text } = of(10)
  near(answer.belowZero, 0.158655, 1e-6)
  assert.match(text, /Warning: .* is 100 % of the mean\..*below 0 for 15\.9 % of the time.*--from/)
  for (const sd of [0, 4]) assert.doesNotMatch(of(sd).text, /Warning/)
})
