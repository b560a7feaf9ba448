// A mix in calibrations and plans: its cells, and what servers must do for it by what was measured.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planAnswer } from '../../lib/answers/plan/answer.js'
import { calibration as calibrationKit } from '../../lib/answers/plan/calibration.js'
import * as mixes from '../../lib/answers/plan/mix.js'
import { modelOf } from '../../lib/answers/plan/model.js'
import { candidateOf, usedOf } from '../../lib/answers/plan/nodes.js'
import { plan as planKit } from '../../lib/answers/plan/report.js'
import { faultIn } from '../../lib/base/json-schema.js'
import { pricesOf } from '../../lib/base/prices.js'
import { loadModel } from '../../lib/workloads/own/load.js'
import { valuesOf } from '../helpers/table.js'

/** @import { MixFacts } from '../../lib/answers/plan/mix.js' */

const { cellsOfMix, demandOfMix, keysAt, mixFactsOf, mixFeatures, mixTerms } = mixes
const shop = /** @type {MixFacts} */ (mixFactsOf(loadModel('docs/examples/shop.yaml')))
const facts = { ...shop, rate: 1000 }
const costAt = (/** @type {number} */ rate) => 10 + 5000 / rate
const rates = [500, 1000, 2000, 4000, 8000]
const commandUs = { get: 1, setex: 1, hgetall: 2, hset: 1, zrevrange: 11, zincrby: 1 }
const cells = rates.map((rate) => ({
  ...{ items: 6001, valueBytes: 1, members: 1, connections: 50, rate },
  amounts: { commands: 1, members: 0, bytesIn: 60, bytesOut: 140, computed_bytes: 300 },
  measured: {
    ...{ rate, cpu_us: { master: costAt(rate) }, half_pct: 2, memory_bytes: 330, net_bytes: 200, runs: 2 },
    ...{ bytes_in: 60, bytes_out: 140, command_us: commandUs },
  },
}))
const features = rates.map((rate) => mixFeatures({ rate }))
const cpu = modelOf(features, rates.map(costAt), mixTerms)
const predicted = { cpu_us: { master: { value: 15, low: 14, high: 16 } }, memory_bytes: null, net_bytes: 200 }
const model = {
  ...{ strategy: 'shop', variant: null, mix: facts, cells, cpu: { master: cpu }, memory: null },
  proof: [{ ...cells[1], predicted }],
}
const demandAt = (/** @type {number} */ rate) => demandOfMix({ model }, { rate }, 'value')
/** @param {number} value @param {number} expected */
const assertNear = (value, expected, by = 1e-9) =>
  assert.ok(Math.abs(value - expected) < by, `${value}, not ${expected}`)

test('what a calibration keeps of a mix', () => {
  assert.deepEqual([shop.rate, shop.connections, shop.pipeline], [null, 50, 1])
  const keys = valuesOf(shop.keys, 'pattern', 'keys', 'expires').join(' ')
  assert.equal(keys, 'session:{id} 5000 true cart:{id}:items 1000 true bestsellers 1 false')
  assert.deepEqual(shop.commands[6], { name: 'ZINCRBY', share: 3, pattern: 'bestsellers', reads: false })
  assert.equal(mixFactsOf('list'), null)
  assert.equal(mixFactsOf(loadModel('docs/examples/session-store.yaml')), null)
})

test('cells of a mix: rates around what the server can do, by seed, and others are held out', () => {
  const needs = { seed: 1, cells: 8, proofs: 3, windowS: 3, isCluster: false }
  const at = (/** @type {number} */ us, seed = 1) =>
    cellsOfMix(facts, { ...needs, seed }).cells(/** @type {any} */ ({ cpu_us: { master: us } }))
  const { designed, held } = at(20)
  const all = designed.map(({ rate }) => rate).sort((a, b) => a - b)
  assert.deepEqual([all.length, all[0], all.at(-1)], [8, 1250, 20_000])
  assert.ok(held.every(({ rate }) => rate >= 1250 && rate <= 20_000))
  assert.deepEqual(at(20), at(20))
  assert.notDeepEqual(at(20, 2).held, held)
  // A millisecond each, and next to nothing.
  assert.ok(at(1000).designed.every(({ rate }) => rate <= 1000))
  assert.ok(at(0.1).designed.every(({ rate }) => rate <= 50_000))
})

test('what an operation costs at a rate, and what of it is about single keys', () => {
  const { cpuUs, keys, bytesIn, bytesOut, writes, items } = demandAt(1000)
  assertNear(cpuUs.spread + cpuUs.fixed, 15, 1e-6)
  // 1.8 µs in commands and 12.7 beside them, of the mean of all cells.
  const mean = rates.reduce((sum, rate) => sum + costAt(rate), 0) / rates.length
  const beside = mean - 1.8
  const few = (0.07 * (beside + 11) + 0.03 * (beside + 1)) / mean
  assertNear(cpuUs.fixed / 15, few)
  assert.deepEqual([keys, items], [1, 6001])
  assertNear(Number(writes), 0.11)
  assertNear(bytesIn.spread + bytesIn.fixed, 60)
  assertNear(bytesOut.fixed, 140 * few)
  // Beyond the cells an operation costs as much as at the last of them.
  assert.deepEqual(demandAt(80_000).cpuUs, demandAt(8000).cpuUs)
  assert.ok(demandAt(2000).cpuUs.spread < cpuUs.spread)
})

test('keys with a lifetime are as many more as the rate is higher, others stay', () => {
  assert.deepEqual(valuesOf(keysAt(facts, 2), 'keys'), [10_000, 2000, 1])
  const [once, twice] = [demandAt(1000), demandAt(2000)]
  assert.equal(twice.items, 12_001)
  assertNear((twice.memory.fixed * twice.items) / (once.memory.fixed * once.items), 1)
  assertNear((twice.memory.spread * twice.items) / (once.memory.spread * once.items), 2)
  // Its rate is not known: the keys of the file.
  const unknown = { ...model, mix: { ...facts, rate: null } }
  assert.equal(demandOfMix({ model: unknown }, { rate: 9000 }, 'value').items, 6001)
})

test('replicas are sent what is written, and a single key stays on one shard', () => {
  const wishes = /** @type {const} */ ({
    ...{ headroom: 0.4, replicas: 1, forkS: 30, speed: 1, growth: 0 },
    survive: 'none',
  })
  const type = { name: 'any', memoryGib: 4, networkMbit: 1000, hour: 1 }
  const { network = 0 } = usedOf(demandAt(100_000), type, 1, wishes)
  assertNear(network, (8 * 100_000 * (140 + 60 * 0.11)) / 1e9)
  const alone = candidateOf(demandAt(1e6), type, wishes)
  assert.equal(alone.shards, null)
  assert.equal(alone.why, 'the busiest of few keys is on one shard, and its main thread is not enough')
})

/** @type {any} */
const calibration = {
  ...{ schema: 1, kind: 'calibration', complete: true, started: '2026-11-26T00:00:00.000Z', millrace: '0' },
  server: { version: '7.0.15', allocator: 'jemalloc-8', masters: 1, replicas: 0, configuration: {} },
  machine: { cpu: 'cpu', cores: 2, node: '22', where: 'local' },
  ...{ seed: 1, ranges: { items: [1, 2], valueBytes: [1, 2], members: [1, 2], connections: [1, 2] } },
  ...{ idle: [{ cpu_pct: { master: 1 }, net_bytes_per_s: 100 }], references: [] },
  models: [model],
}

test('a plan of a mix: text and JSON say operations, keys, and what is not known', async () => {
  const prices = pricesOf('us-east-1')
  const asked = /** @type {const} */ ({
    ...{ rate: 20_000, part: 20, ttlS: null, items: 120_001, members: 1, replicas: 0 },
    ...{ speed: 1, headroom: 0.4, growth: 0, forkS: 30 },
    survive: 'none',
  })
  const answer = await planAnswer({
    ...{ asked, calibration, plans: [{ model, plan: null }], prices },
    ...{ types: prices.nodes.types, nowMs: Date.parse('2026-11-26') },
  })
  assert.equal(faultIn(JSON.parse(JSON.stringify(answer)), planKit.schema), null)
  assert.equal(faultIn(JSON.parse(JSON.stringify(calibration)), calibrationKit.schema), null)
  const text = planKit.text(answer, { columns: 500 })
  for (const words of [
    /20,000 operations\/s \(2,000 % of what was profiled\), 120,001 keys; 40\.0 % headroom/,
    /shop: an operation takes 10\.6 µs of a main thread \([^)]+\), 60\.0 B in and 140 B out, and a key \d+ B of memory$/m,
    /^shop on [^\n]+\n\n! shop: outside the calibrated range: 20,000 operations\/s; calibrated: 500 to 8,000, beyond which/,
    /^! a mix is planned as a whole: /m,
  ])
    assert.match(text, words)
  const perOperation =
    /CPU of a master per operation: a command 10 µs \(9\.9 to 10\.1\) \+ a second, whatever its rate, 5000 µs \(4860 to 5140\)/
  assert.match(calibrationKit.text(calibration, { columns: 500 }), perOperation)
})
