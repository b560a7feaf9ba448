import assert from 'node:assert/strict'
import { test } from 'node:test'
import { demandOf } from '../../lib/answers/plan/answer.js'
import { memoryOf } from '../../lib/answers/plan/memory.js'
import { candidateOf, serverlessOf, usedOf } from '../../lib/answers/plan/nodes.js'
import { wireOf } from '../../lib/answers/plan/wire.js'
import { bulkPrices, oldPrices, pricesOf, typesLike } from '../../lib/base/prices.js'
import { plannedRun } from '../../lib/cli/calibration.js'

const variances = [0.1, 1e-8, 0.001]
const covariance = variances.map((variance, i) => variances.map((_, j) => (i === j ? variance : 0)))
const values = Object.entries({ command: 0.3, byte: 0.0003, log2_items: 0.08 })
const terms = values.map(([name, value]) => ({ name, value }))
const model = { cpu: { master: { terms, spread: 0.05, freedom: 9, covariance } }, memory: null }
const wishes = /** @type {const} */ ({
  ...{ headroom: 0.4, replicas: 1, forkS: 30, speed: 1, growth: 0.05 },
  survive: 'node',
})
// Rates of hundreds of thousands would need batches of as many.
const slow = { ...wishes, speed: 0.1 }
const slowest = { ...wishes, speed: 0.01 }
const { nodes, serverless } = pricesOf('us-east-1')

/** @param {{ strategy?: string, rate?: number, ttlS?: number, valueBytes?: number, sets?: number }} load */
const demand = async ({ strategy = 'sorted-set', rate = 2000, ttlS = 2, valueBytes = 100, sets = 1 }) => {
  const items = rate * ttlS
  const maxMembers = Math.min(1000, Math.ceil(rate / 10))
  const spread = sets > 1 && { sets, placement: 'spread' }
  const run = { strategy, quantity: 1, valueSize: String(valueBytes), ttl: '600s', maxMembers, ...spread }
  const offered = { quantity: items, periodMs: ttlS * 1000, chunks: Math.min(items, ttlS * 100) }
  const plan = plannedRun(run, null, offered)
  const planned = {
    model: /** @type {any} */ (model),
    plan,
    wire: await wireOf(plan),
    memory: memoryOf(plan, 'jemalloc-8'),
  }
  return demandOf(planned, /** @type {any} */ ({ ...wishes, rate, items, ttlS }))
}

/** Nothing: no number of nodes does it. @param {{ monthly: number | null }} found */
const costOf = ({ monthly }) => monthly ?? Number.POSITIVE_INFINITY
const [valkey] = serverless?.engines ?? []

test('cost never falls with rate, lifetime or size, on nodes and serverless', async () => {
  for (const strategy of ['sorted-set', 'stream'])
    for (const [name, values] of Object.entries({
      ...{ rate: [100, 4000, 9000], ttlS: [1, 3, 4000], valueBytes: [3, 50, 50_000] },
    })) {
      const before = { nodes: 0, serverless: 0 }
      for (const value of values) {
        const needs = await demand({ strategy, [name]: value })
        const cheapest = Math.min(...nodes.types.map((type) => costOf(candidateOf(needs, type, slowest))))
        const paid = costOf(serverlessOf(needs, valkey))
        const where = `${strategy} at ${name} ${value}`
        assert.ok(cheapest >= before.nodes, `${where}: ${cheapest}, ${before.nodes} before`)
        // A stream of a longer lifetime takes 0.5 % fewer ECPU.
        assert.ok(paid >= 0.99 * before.serverless, `${where}: serverless`)
        Object.assign(before, { nodes: cheapest, serverless: paid })
      }
    }
})

test('a plan holds its own limits, with one shard fewer it would not, and the same input gives the same plan', async () => {
  assert.deepEqual(await demand({ rate: 1000, sets: 40 }), await demand({ rate: 1000, sets: 40 }))
  const needs = await demand({ rate: 25_000, ttlS: 600, sets: 40 })
  for (const type of nodes.types) {
    const found = candidateOf(needs, type, slow)
    assert.deepEqual(candidateOf(needs, type, slow), found)
    const shards = Number(found.shards)
    assert.equal(found.nodes, 2 * shards)
    const holds = (/** @type {number} */ n) =>
      Object.entries(usedOf(needs, type, n, slow)).every(
        ([limit, part]) => part <= (['main thread', 'replica', 'network'].includes(limit) ? 0.6 : 1),
      )
    assert.ok(holds(shards), type.name)
    assert.ok(shards === 1 || !holds(shards - 1), type.name)
  }
})

test('one sorted set is on one shard: more shards do not help, more sets do', async () => {
  const [type] = typesLike(nodes.types, 'cache.r7g.16xlarge')
  const hot = await demand({ rate: 20_000, ttlS: 1 })
  const even = await demand({ rate: 20_000, ttlS: 1, sets: 20 })
  const one = candidateOf(hot, type, slowest)
  assert.equal(one.shards, null)
  const why = /the key that holds all items is on one shard, and its main thread is not enough/
  assert.match(String(one.why), why)
  assert.ok(Number(candidateOf(even, type, slowest).shards) > 1)
  const [used, spread] = [hot, even].map((needs) => Number(usedOf(needs, type, 10, slow)['main thread']))
  assert.ok(used > 1.5 * spread)
})

test('what is lost counts for those that go on: data is sent again while writes wait and take memory twice', async () => {
  const needs = await demand({ rate: 20_000, valueBytes: 10_000, ttlS: 300, sets: 40 })
  const found = (/** @type {'none' | 'node'} */ survive) =>
    nodes.types.map((type) => candidateOf(needs, type, { ...slow, survive }))
  const [kept, lost] = [found('none'), found('node')]
  const more = lost.map(({ shards }, i) => Number(shards) - Number(kept[i].shards))
  assert.ok(kept.every(({ used }) => used['after a loss'] === undefined))
  assert.ok(more.every((n) => n >= 0))
  assert.ok(lost.some(({ binds }, i) => more[i] > 0 && binds === 'after a loss'))
  // Of six nodes a shard a zone has two.
  const used = (/** @type {'node' | 'zone'} */ survive) =>
    usedOf(needs, nodes.types[0], 12, { ...slow, replicas: 5, survive })['after a loss']
  assert.ok(Number(used('zone')) > Number(used('node')))
})

test('what a replica uses is a limit too, and growth says how long the shards are enough', async () => {
  const needs = await demand({ rate: 15_000, ttlS: 50, sets: 40 })
  const [type] = typesLike(nodes.types, 'cache.r7g.4xlarge')
  const heavy = { ...needs, replicaUs: { spread: 3 * needs.cpuUs.spread, fixed: 3 * needs.cpuUs.fixed } }
  const [light, busy] = [needs, heavy].map((one) => candidateOf(one, type, { ...slow, survive: 'none' }))
  assert.ok(Number(busy.shards) > Number(light.shards))
  assert.equal(busy.binds, 'replica')
  assert.equal(candidateOf(heavy, type, { ...slow, replicas: 0, survive: 'none' }).shards, light.shards)
  const { months, shards } = /** @type {{ months: number, shards: number }} */ (light.next)
  const after = (/** @type {number} */ n) => {
    const by = 1.05 ** n
    const grown = { ...needs, rate: needs.rate * by, items: needs.items * by }
    return candidateOf(grown, type, { ...slow, growth: 0, survive: 'none' }).shards
  }
  assert.deepEqual([after(months), after(months + 1)], [light.shards, shards])
  assert.ok(shards > Number(light.shards))
})

test('serverless: a sorted set meets the limit of its slot first', async () => {
  const few = serverlessOf(await demand({ rate: 20_000 }), valkey)
  assert.equal(few.why, null)
  const many = serverlessOf(await demand({ rate: 400_000, ttlS: 1 }), valkey)
  assert.match(String(many.why), /ECPU\/s in one slot, which has at most 90,000/)
  assert.ok(many.ecpu_per_s < 2e6)
  // A command of a kilobyte and less is one ECPU; 100 MB are paid at least.
  const tiny = serverlessOf(await demand({ strategy: 'stream', rate: 10, ttlS: 1 }), valkey)
  assert.ok(tiny.monthly !== null && tiny.monthly > 0.1 * 0.084 * 730 && tiny.monthly < 0.2 * 0.084 * 730)
})

test("prices: AWS's list without the second SKU of a type, old ones are said to be", () => {
  const name = 'cache.r7g.large'
  const about = { cacheEngine: 'Valkey', regionCode: 'eu-west-1', memory: '13.07 GiB', instanceType: name }
  const product = (/** @type {string} */ usagetype, more = {}) => ({
    attributes: { usagetype, ...about, ...more },
  })
  const term = (/** @type {string} */ usd) => ({
    x: { priceDimensions: { y: { unit: 'Hrs', pricePerUnit: { USD: usd } } } },
  })
  const list = {
    ...{ offerCode: 'AmazonElastiCache', publicationDate: '2026-03-01T00:00:00Z' },
    products: {
      A: product(`EUW1-SyncDurability-NodeUsage:${name}`),
      B: product(`EUW1-NodeUsage:${name}`),
      C: product(`EUW1-NodeUsage:${name}`, { cacheEngine: 'Redis' }),
      D: product(`NodeUsage:${name}`, { regionCode: 'us-east-1' }),
      E: product('EUW1-BackupUsage', { memory: undefined }),
    },
    terms: {
      OnDemand: { A: term('0.9'), B: term('0.2'), C: term('0.3'), D: term('0.1752'), E: term('0.085') },
    },
  }
  const wanted = { region: 'eu-west-1', engine: 'Valkey' }
  const prices = bulkPrices(JSON.stringify(list), 'index.json', wanted)
  assert.deepEqual(prices.nodes.types, [{ name, memoryGib: 13.07, networkMbit: 937, hour: 0.2 }])
  assert.deepEqual([prices.currency, prices.nodes.dated], ['USD', '2026-03-01'])
  assert.deepEqual(oldPrices(prices, Date.parse('2026-03-20')), [])
  assert.match(oldPrices(prices, Date.parse('2026-11-24'))[0], /prices of 2026-03-01 are 268 days old/)
  assert.throws(() => bulkPrices('{', 'index.json', wanted), /--prices index.json is not JSON/)
  assert.throws(() => bulkPrices('{}', 'index.json', wanted), /is not a price list of ElastiCache/)
  const elsewhere = () => bulkPrices(JSON.stringify(list), 'l', { ...wanted, region: 'x' })
  assert.throws(elsewhere, /no node of Valkey in x has a price/)
  assert.throws(() => pricesOf('moon-1'), /--region moon-1: prices are known for us-east-1/)
  const expected = /no node has that name; the known ones are cache.r7g.large/
  assert.throws(() => typesLike(nodes.types, 'cache.t4g.*'), expected)
  assert.equal(typesLike(nodes.types, 'cache.r8g.*').length, 7)
  const [large] = typesLike(nodes.types, name)
  assert.equal(large.hour?.toFixed(4), '0.1752')
})
