// The miss ratio curve: exact LRU as another program in another language plays it, samples beside all requests, and policies.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { simulated, usualEviction } from '../../lib/traffic/cache-models.js'
import { drawsOf } from '../../lib/traffic/items.js'
import { keysInUse } from '../../lib/traffic/keys-in-use.js'
import { missCurve, sampled } from '../../lib/traffic/miss-curve.js'
import { allocated, sizeOf } from '../../lib/traffic/sizes.js'

const overhead = 80
const all = { keys: 1e9, requests: 1e9 }

/** @param {Record<string, any>} items @param {Record<string, any>} [more] */
const requestsOf = (items, more = {}) => {
  const { count = 100_000, ttlS = 0, ...rest } = more
  return /** @type {import('../../lib/traffic/miss-curve.js').Requests} */ ({
    items: { order: 'zipf:0.99', count: 20_000, quantity: 20_000, seed: 7, valueBytes: 200, ttlS, ...items },
    ...{ expires: ttlS > 0, writes: 0, reads: 1, batch: 1, clients: 10, filled: null },
    ...{ dueMs: (/** @type {number} */ i) => i / 10, count, from: Math.floor(count / 2), ...rest },
  })
}

for (const order of ['zipf:0.99', 'uniform', 'hot:10%:90%'])
  for (const valueSizes of [null, 'lognormal:p50=200B,p99=4kB'])
    test(`exact LRU is what another program plays: ${order}${valueSizes ? ', sizes of their own' : ''}`, () => {
      const items = { order, valueSizes, count: 5000, quantity: 5000 }
      const requests = requestsOf(items, { count: 40_000 })
      const { lruAt, footprint_bytes: footprint } = missCurve(sampled(requests, { overhead, ...all }), null)
      const draw = drawsOf(requests.items)
      const size = sizeOf(requests.items)
      const lines = Array.from({ length: 40_000 }, () => {
        const n = draw(0)
        return `${n} ${allocated(size(n) + 6) + overhead}`
      })
      for (const part of [0.05, 0.2, 0.6, 1.1]) {
        const memory = footprint * part
        const { stdout, stderr } = spawnSync('python3', ['test/helpers/lru.py'], {
          input: [memory, ...lines].join('\n'),
          encoding: 'utf8',
        })
        const theirs = (Number(stdout) / 20_000) * 100
        // By distance, the last key that leaves makes room that is not always used.
        assert.ok(
          Math.abs(lruAt(memory) - theirs) < 0.5,
          `${part}: ${lruAt(memory)} %, ${theirs} % ${stderr}`,
        )
      }
    })

test('a sample says what all requests say', () => {
  for (const items of [{}, { order: 'zipf:0.7' }, { order: 'uniform' }, { churn: '50%/m' }]) {
    const requests = requestsOf({ count: 60_000, quantity: 60_000, ...items }, { count: 300_000 })
    const some = sampled(requests, { overhead, keys: 12_000, requests: 100_000 })
    assert.ok(some.keys <= 12_000 && some.count <= 100_000)
    const [part, whole] = [missCurve(some, null), missCurve(sampled(requests, { overhead, ...all }), null)]
    // Of less than that a sample has a few dozen keys.
    for (const { data_bytes: at, lru_pct: pct } of whole.points.slice(4))
      assert.ok(
        Math.abs(part.lruAt(at) - pct) < 1.5,
        `${JSON.stringify(items)}, ${at}: ${part.lruAt(at)} %, ${pct} %`,
      )
  }
})

const sum = (/** @type {Float64Array} */ all) => all.reduce((one, n) => one + n, 0)
const policies = ['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-ttl']

test('policies: all keep everything that fits, many samples are LRU, and LFU keeps what is popular', () => {
  const sample = sampled(requestsOf({}, { ttlS: 1000, dueMs: (/** @type {number} */ i) => i }), {
    overhead,
    ...all,
  })
  const whole = sample.bytes.reduce((sum, n) => sum + n, 0)
  const { lruAt } = missCurve(sample, null)
  const share = (/** @type {string} */ policy, /** @type {number} */ bytes, more = {}) => {
    const { hits, asked } = simulated(sample, bytes, { ...usualEviction, policy, ...more })
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
    missCurve(sampled(requestsOf({}, more), { overhead, ...all }), null).ceiling_pct
  const plain = ceilingOf({})
  assert.ok(ceilingOf({ ttlS: 1 }) < plain - 5)
  assert.ok(ceilingOf({ writes: 1, reads: 4 }) < plain - 5)
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

test('a cache that was in use hits at once what an empty one finds later', () => {
  const sizes = { ...all, overhead }
  const at = (/** @type {string | null} */ filled, /** @type {number} */ from) => {
    const sample = sampled(requestsOf({}, { filled, count: from + 40_000, from }), sizes)
    const { lruAt } = missCurve(sample, null)
    return lruAt(20_000 * 300 * 0.2)
  }
  const [empty, filled, late] = [at(null, 0), at('allkeys-lru', 0), at(null, 200_000)]
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
    assert.ok(
      Math.abs(part.allKept(filled) - share) < 1.5,
      `${filled}: ${part.allKept(filled)} %, ${share} %`,
    )
  }
})

test('expired keys take room until the server finds them', () => {
  const sample = sampled(requestsOf({ order: 'uniform' }, { ttlS: 2, count: 200_000 }), { overhead, ...all })
  const bytes = 7000 * 300
  const { hits, asked } = simulated(sample, bytes, { ...usualEviction, policy: 'volatile-random' })
  const { hits: plenty } = simulated(sample, 4 * bytes, { ...usualEviction, policy: 'volatile-random' })
  // Of 20,000 keys 10,000 a second are asked for: about 13,000 are alive, and some more are there.
  const [share, most] = [sum(hits) / sum(asked), sum(plenty) / sum(asked)]
  assert.ok(share < 0.34 && most > 0.4, `${share}, ${most}`)
})
