// The miss ratio curve: exact LRU as another program in another language plays it, samples beside all requests, and policies.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { drawsOfPart, seedOfPart } from '../../lib/loads/parts.js'
import { curveOf } from '../../lib/run/cache-curve.js'
import { simulated, usualEviction } from '../../lib/traffic/cache-models.js'
import { drawsOf } from '../../lib/traffic/items.js'
import { fillingOf, keysInUse, toppingOf } from '../../lib/traffic/keys-in-use.js'
import { leftOf } from '../../lib/traffic/lifetimes.js'
import { anchored, missCurve, sampled } from '../../lib/traffic/miss-curve.js'
import { allocated, sizeOf, storedBytes } from '../../lib/traffic/sizes.js'

const overhead = 80
const all = { keys: 1e9, requests: 1e9 }

/** @param {Record<string, any>} items @param {Record<string, any>} [more] */
const requestsOf = (items, more = {}) => {
  const { count = 100_000, ttlS = 0, ...rest } = more
  return /** @type {import('../../lib/traffic/miss-curve.js').Requests} */ ({
    items: { order: 'zipf:0.99', count: 20_000, quantity: 20_000, seed: 7, valueBytes: 200, ttlS, ...items },
    ...{ expires: ttlS > 0, ratio: [0, 1], batch: 1, clients: 10, filled: null },
    ...{ dueMs: (/** @type {number} */ i) => i / 10, count, from: Math.floor(count / 2), ...rest },
  })
}

for (const order of ['zipf:0.99', 'uniform', 'hot:10%:90%'])
  for (const valueSizes of [null, 'lognormal:p50=200B,p99=4kB'])
    test(`exact LRU is what another program plays: ${order}${valueSizes ? ', sizes of their own' : ''}`, () => {
      const items = { order, valueSizes, count: 2000, quantity: 2000 }
      const requests = requestsOf(items, { count: 16_000 })
      const { lruAt, footprint_bytes: footprint } = missCurve(sampled(requests, { overhead, ...all }), null)
      const draw = drawsOf(requests.items)
      const size = sizeOf(requests.items)
      const lines = Array.from({ length: 16_000 }, () => {
        const n = draw(0)
        return `${n} ${allocated(size(n) + 6) + overhead}`
      })
      const memories = [0.05, 0.2, 0.6, 1.1].map((part) => footprint * part)
      const { stdout, stderr } = spawnSync('python3', ['test/helpers/lru.py'], {
        input: [memories.join(' '), ...lines].join('\n'),
        encoding: 'utf8',
      })
      const hits = stdout.trim().split('\n').map(Number)
      assert.equal(hits.length, memories.length, stderr)
      for (const [i, memory] of memories.entries()) {
        const theirs = (hits[i] / 8000) * 100
        // By distance, the last key that leaves makes room that is not always used.
        const ours = lruAt(memory)
        assert.ok(Math.abs(ours - theirs) < 0.5, `${memory / footprint}: ${ours} %, ${theirs} %`)
      }
    })

test('a sample says what all requests say', () => {
  for (const items of [{}, { order: 'zipf:0.7' }, { order: 'uniform' }, { churn: '50%/m' }]) {
    // The error is that of the sample, whatever it is taken of.
    const requests = requestsOf({ count: 30_000, quantity: 30_000, ...items }, { count: 150_000 })
    const some = sampled(requests, { overhead, keys: 12_000, requests: 75_000 })
    const [{ keys, count }] = some.masters
    assert.ok(keys <= 12_000 && count <= 75_000)
    const [part, whole] = [missCurve(some, null), missCurve(sampled(requests, { overhead, ...all }), null)]
    // Of less than that a sample has a few dozen keys.
    for (const { data_bytes: at, lru_pct: pct } of whole.points.slice(4)) {
      const said = `${JSON.stringify(items)}, ${at}: ${part.lruAt(at)} %, ${pct} %`
      assert.ok(Math.abs(part.lruAt(at) - pct) < 1.5, said)
    }
  }
})

const sum = (/** @type {Float64Array} */ all) => all.reduce((one, n) => one + n, 0)
const policies = ['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-ttl']

test('policies: all keep everything that fits, many samples are LRU, and LFU keeps what is popular', () => {
  const slowly = { ttlS: 1000, count: 50_000, dueMs: (/** @type {number} */ i) => 2 * i }
  const sample = sampled(requestsOf({}, slowly), { overhead, ...all })
  const { lruAt, footprint_bytes: whole } = missCurve(sample, null)
  const share = (/** @type {string} */ policy, /** @type {number} */ bytes, more = {}) => {
    const { hits, asked } = simulated(sample.masters[0], bytes, { ...usualEviction, policy, ...more })
    return (sum(hits) / sum(asked)) * 100
  }
  for (const policy of policies)
    assert.ok(Math.abs(share(policy, 2 * whole) - lruAt(2 * whole)) < 1e-9, policy)
  const small = whole * 0.1
  const [lru, lfu, random] = policies.map((policy) => share(policy, small))
  assert.ok(lfu > lru && lru > random, `${lfu}, ${lru}, ${random}`)
  // Their clocks have seconds, so it is near LRU, and no more.
  assert.ok(Math.abs(share('allkeys-lru', small, { samples: 64 }) - lruAt(small)) < 2.5)
})

test('lifetimes and writes that invalidate lower the most that can be hits', () => {
  const ceilingOf = (/** @type {Record<string, any>} */ more) =>
    missCurve(sampled(requestsOf({}, { count: 50_000, ...more }), { overhead, ...all }), null).ceiling_pct
  const plain = ceilingOf({})
  assert.ok(ceilingOf({ ttlS: 1 }) < plain - 5)
  assert.ok(ceilingOf({ ratio: [1, 4] }) < plain - 5)
})

test('keys of a fill are of all ages, so that they expire from the start as they do after long use', () => {
  // 0.1 requests a second of each key, whose lifetime is 60 seconds: six of seven are there.
  const more = { ttlS: 60, filled: 'allkeys-lru', count: 75_000, from: 15_000 }
  const keys = { order: 'uniform', count: 5000, quantity: 5000 }
  const requests = requestsOf(keys, { ...more, dueMs: (/** @type {number} */ i) => i * 2 })
  const sample = sampled(requests, { overhead, ...all })
  const { ceiling_pct: ceiling, footprint_bytes: whole } = missCurve(sample, null)
  // Those that would not be there are, until they have expired once.
  assert.ok(ceiling > 85 && ceiling < 92, `${ceiling} %`)
  const eviction = { ...usualEviction, policy: 'allkeys-lru' }
  const { hits, asked } = simulated(sample.masters[0], 2 * whole, eviction)
  assert.ok(Math.abs((sum(hits) / sum(asked)) * 100 - ceiling) < 1e-9)
  const later = { ...requests, count: 225_000, from: 120_000 }
  const late = missCurve(sampled(later, { overhead, ...all }), null).ceiling_pct
  assert.ok(Math.abs(late - 600 / 7) < 0.5, `${late} %`)
})

test('seconds that are left are of any age, at least one and at most the lifetime', () => {
  const fields = { ttlS: 10, seed: 3 }
  const left = Array.from({ length: 10_000 }, (_, n) => leftOf(fields)(n))
  assert.deepEqual([Math.min(...left), Math.max(...left)], [1, 10])
  assert.ok(Math.abs(left.reduce((one, n) => one + n, 0) / 10_000 - 5.5) < 0.1)
})

test('keys in use: each once, those that stay longest last, and as many as there are', () => {
  const items = { order: 'zipf:0.99', count: 10_000, seed: 3 }
  const lru = keysInUse(items, 'allkeys-lru', 2000)
  assert.equal(new Set(lru).size, 2000)
  // The most popular of all was used a moment ago.
  assert.ok(lru.indexOf(1) > 1900, String(lru.indexOf(1)))
  assert.ok(lru.some((n) => n > 2000))
  assert.deepEqual([...keysInUse(items, 'allkeys-lfu', 3)], [3, 2, 1])
  assert.deepEqual([...keysInUse({ ...items, count: 3 }, 'allkeys-lru', 3)].sort(), [1, 2, 3])
})

test('a fill writes as many keys as there is room for, by what some of them take', () => {
  const filling = fillingOf({ items: 100_000, stored: 200, room: 3e6 })
  const { least, most, tried } = filling
  assert.ok(tried > 0 && tried < least && least < most, `${tried} of ${least} to ${most}`)
  for (const each of [260, 300, 450]) assert.equal(filling.count(each), Math.floor(2.82e6 / each))
  // Whatever is seen, it is within what keys can take.
  assert.deepEqual([filling.count(0), filling.count(9000)], [most, least])
  for (const room of [1e9, Number.POSITIVE_INFINITY]) {
    const all = fillingOf({ items: 100_000, stored: 200, room })
    assert.deepEqual([all.most, all.tried], [100_000, 0])
  }
  assert.equal(fillingOf({ items: 10, stored: 200, room: 0 }).most, 1)
})

test('each master gets keys for the room that it has left, the last to be evicted first, and none twice', () => {
  const keys = Float64Array.from({ length: 20 }, (_, i) => i + 1)
  const ownerOf = (/** @type {number} */ n) => n % 2
  const topping = (/** @type {readonly number[]} */ rooms) => [...toppingOf(keys, 10, rooms, 95, ownerOf)]
  assert.deepEqual(topping([320, 130]), [6, 8, 9, 10])
  assert.deepEqual(topping([101, 500]), [1, 3, 4, 5, 7])
  assert.deepEqual(topping([500, 500]), [2])
  assert.deepEqual(topping([Number.NaN, 0]), [])
})

test('a cache that was in use hits at once what an empty one finds later', () => {
  const sizes = { ...all, overhead }
  const at = (/** @type {string | null} */ filled, /** @type {number} */ from) => {
    const sample = sampled(requestsOf({}, { filled, count: from + 40_000, from }), sizes)
    const { lruAt } = missCurve(sample, null)
    return lruAt(20_000 * 300 * 0.2)
  }
  const [empty, filled, late] = [at(null, 0), at('allkeys-lru', 0), at(null, 100_000)]
  assert.ok(Math.abs(filled - late) < 1 && empty < late - 2, `${empty}, ${filled}, ${late}`)
})

test('where nothing is evicted, hits are of the keys that a fill wrote, and of those that came since', () => {
  const requests = requestsOf({}, { filled: 'allkeys-lru', count: 40_000 })
  for (const filled of [0, 3000, 12_000]) {
    const there = new Set(keysInUse(requests.items, 'allkeys-lru', Math.max(1, filled)))
    if (filled === 0) there.clear()
    const draw = drawsOf({ ...requests.items, clients: 10 })
    let hits = 0
    for (let i = 0; i < 40_000; i++) {
      const n = draw(i / 10, i % 10)
      if (i >= 20_000 && there.has(n)) hits++
      there.add(n)
    }
    const share = hits / 200
    const whole = missCurve(sampled(requests, { overhead, ...all }), null).allKept(filled)
    assert.ok(Math.abs(whole - share) < 0.01, `${filled}: ${whole} %, ${share} %`)
    const part = missCurve(sampled(requests, { overhead, keys: 8000, requests: 20_000 }), null)
    const kept = part.allKept(filled)
    assert.ok(Math.abs(kept - share) < 1.5, `${filled}: ${kept} %, ${share} %`)
  }
})

test('where it is not known how many keys a fill wrote, nothing is predicted by them', () => {
  const { items } = requestsOf({ count: 4000, quantity: 4000 }, {})
  const about = {
    plan: {
      ...{ ...items, arrivals: 'constant', nominalHz: 10_000, totalAgents: 1, cache: { batch: 1 } },
      clients: { ratio: [0, 1], connections: 10, fill: 'keys', expires: false },
    },
    ...{ offered: 4000, fromMs: 200, endMs: 400, eviction: null },
    measured: { policy: 'allkeys-lru', memory_bytes: 1e6, data_bytes: 8e5, keys: 2400, evicted_per_s: 0 },
  }
  const predicted = (/** @type {number | null} */ filled) =>
    curveOf(/** @type {any} */ ({ ...about, filled }))?.predicted_pct
  assert.equal(predicted(null), null)
  assert.ok(Number(predicted(0)) < Number(predicted(2400)))
  for (const reads of ['replica', 'any', 'nearest'])
    assert.equal(curveOf(/** @type {any} */ ({ ...about, plan: { ...about.plan, reads }, filled: 0 })), null)
  assert.ok(curveOf(/** @type {any} */ ({ ...about, plan: { ...about.plan, reads: 'master' }, filled: 0 })))
})

test('masters with less room for keys than others have hits of their own', () => {
  const requests = requestsOf({}, { masters: { count: 3, of: (/** @type {number} */ n) => n % 3 } })
  const whole = sampled(requests, { overhead, ...all })
  const parts = [0.1, 1, 1]
  const rooms = (/** @type {number} */ bytes) => parts.map((part) => (part * bytes) / 2.1)
  const bytes = 20_000 * 300 * 0.2
  // Each master by itself: the first of a map is what was used longest ago.
  const most = rooms(bytes).map((room) => Math.floor(room / (allocated(206) + overhead)))
  const masters = parts.map(() => /** @type {Map<number, true>} */ (new Map()))
  const draw = drawsOf({ ...requests.items, clients: 10 })
  let hits = 0
  for (let i = 0; i < 100_000; i++) {
    const n = draw(i / 10, i % 10)
    const there = masters[n % 3]
    if (there.delete(n) && i >= 50_000) hits++
    there.set(n, true)
    if (there.size > most[n % 3]) there.delete(Number(there.keys().next().value))
  }
  const at = missCurve(whole, null, rooms).lruAt(bytes)
  assert.ok(Math.abs(at - hits / 500) < 0.01, `${at} %, ${hits / 500} %`)
  const asOne = missCurve(sampled({ ...requests, masters: null }, { overhead, ...all }), null).lruAt(bytes)
  assert.ok(asOne > at + 1, `${asOne} %, ${at} %`)
  // Samples, and a policy that is played.
  const eviction = { ...usualEviction, policy: 'allkeys-lru', samples: 10 }
  const part = sampled(requests, { overhead, keys: 9000, requests: 60_000 })
  assert.ok(Math.abs(Number(missCurve(part, eviction, rooms).policyAt(bytes)) - at) < 2)
})

test('requests of several boxes are those that each draws, in turn', () => {
  const plan = /** @type {any} */ ({ order: 'zipf:0.99', seed: 5, quantity: 20_000, connections: 4 })
  const numbers = [0, 1, 2]
  const seeds = numbers.map((number) => seedOfPart({ seed: 5, box: { number } }))
  for (const order of ['zipf:0.99', 'split', 'hot:10%:90%']) {
    const draws = numbers.map((number) =>
      drawsOfPart(
        { ...plan, order, box: { number, of: 3, clients: { first: 4 * number, of: 12 } } },
        { count: 20_000 },
      ),
    )
    const more = { seeds, clients: 4, count: 6000, from: 0 }
    const { masters } = sampled(requestsOf({ order, seed: 5 }, more), { overhead, ...all })
    /** @type {Map<number, number>} */
    const known = new Map()
    for (let i = 0; i < 6000; i++) {
      const n = draws[i % 3](i / 10, Math.floor(i / 3) % 4)
      if (!known.has(n)) known.set(n, known.size)
      assert.equal(masters[0].ids[i], known.get(n), `${order}: request ${i}`)
    }
  }
})

/** Of a key that is there, on average. @param {Pick<ReturnType<typeof simulated>, 'held'>} played */
const keyBytesOf = ({ held }) => held.bytes / held.keys

test('with sizes of their own as many keys are there as the server has, whatever the sizes of those', () => {
  const eviction = { ...usualEviction, policy: 'allkeys-lru' }
  const bytes = 2.5e6
  /** Of the server, how far the keys that are there and the hits are apart from it. @type {{ keys: number[], hits: number[] }[]} */
  const apart = [0, 1].map(() => ({ keys: [], hits: [] }))
  for (const seed of [1, 2, 3]) {
    const items = { valueSizes: 'lognormal:p50=200B,p99=4kB', seed }
    const requests = requestsOf(items, { count: 60_000 })
    // The server, whose keys take 80 bytes beside their values.
    const { hits, asked, ...server } = simulated(
      sampled(requests, { overhead, ...all }).masters[0],
      bytes,
      eviction,
    )
    const each = keyBytesOf(server)
    const guessed = each - storedBytes(requests.items)
    const sample = sampled(requests, { overhead: guessed, keys: 12_000, requests: 100_000 })
    for (const [i, one] of [sample, anchored(sample, eviction, { bytes, keys: bytes / each })].entries()) {
      const there = keyBytesOf(simulated(one.masters[0], bytes * one.rate, eviction, 9))
      apart[i].keys.push(Math.abs(there / each - 1))
      const share = Number(missCurve(one, eviction).policyAt(bytes))
      apart[i].hits.push(Math.abs(share - (100 * sum(hits)) / sum(asked)))
    }
  }
  const mean = (/** @type {number[]} */ values) => values.reduce((one, n) => one + n, 0) / values.length
  const [plain, better] = apart.map(({ keys, hits }) => [mean(keys), mean(hits)])
  assert.ok(better[0] < 0.5 * plain[0] && better[1] < 0.8 * plain[1], `${plain}; ${better}`)
})

test('expired keys take room until the server finds them', () => {
  const keys = { order: 'uniform', count: 10_000, quantity: 10_000 }
  const dueMs = (/** @type {number} */ i) => i / 5
  const requests = requestsOf(keys, { ttlS: 2, count: 100_000, dueMs })
  const [sample] = sampled(requests, { overhead, ...all }).masters
  const bytes = 3500 * 300
  const { hits, asked } = simulated(sample, bytes, { ...usualEviction, policy: 'volatile-random' })
  const { hits: plenty } = simulated(sample, 4 * bytes, { ...usualEviction, policy: 'volatile-random' })
  // Of 10,000 keys 5,000 a second are asked for: about 6,500 are alive, and some more are there.
  const [share, most] = [sum(hits) / sum(asked), sum(plenty) / sum(asked)]
  assert.ok(share < 0.34 && most > 0.4, `${share}, ${most}`)
})
