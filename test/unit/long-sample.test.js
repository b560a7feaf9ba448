// The sample of a cache that is in use for too long to draw all requests, against all of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usualEviction } from '../../lib/traffic/cache-models.js'
import { isKnownShare, longSample } from '../../lib/traffic/long-sample.js'
import { missCurve, sampled } from '../../lib/traffic/miss-curve.js'
import { sharesOf } from '../../lib/traffic/popularity.js'
import { risingOf, shareOver } from '../../lib/traffic/share-by-memory.js'

const hz = 500
const count = 4000
const overhead = 80
const usual = {
  count,
  quantity: count,
  seed: 7,
  ttlS: 100,
  ttlLeastS: null,
  valueBytes: 200,
  valueSize: null,
}

/** @param {ReturnType<typeof missCurve>} curve */
const overOf = ({ points }) =>
  shareOver({
    points: risingOf(points.map(({ data_bytes, ...one }) => ({ ...one, memory_bytes: data_bytes }))),
  })

for (const [order, policy, keys, more] of /** @type {[string, string, number, object][]} */ ([
  ['zipf:0.99', 'allkeys-lru', 1000, {}],
  ['zipf:0.7', 'allkeys-lfu', count, {}],
  ['hot:10%:90%', 'allkeys-random', 1000, {}],
  ['uniform', 'volatile-lru', 1000, { ttlLeastS: 50 }],
  ['zipf:0.99', 'volatile-ttl', count, {}],
]))
  test(`a sample drawn by itself says what all requests say: ${order}, ${policy}`, () => {
    const items = /** @type {any} */ ({ ...usual, order, ...more })
    const requests = 4 * items.ttlS * hz
    const dueMs = (/** @type {number} */ i) => (i * 1000) / hz
    const all = sampled(
      {
        ...{ items, expires: true, ratio: [0, 1], batch: 1, clients: 1, masters: null },
        ...{ dueMs, count: requests, from: requests / 2, filled: policy },
      },
      { overhead, keys: 1e9, requests: 1e9 },
    )
    const eviction = { policy, ...usualEviction }
    const whole = missCurve(all, eviction)
    const sample = longSample({ items, hz, count: requests, policy }, { overhead, keys })
    const curve = missCurve(sample, eviction)
    const over = overOf(curve)
    const apart = whole.points.map(({ data_bytes, policy_pct }) =>
      Math.abs(over.at(data_bytes) - Number(policy_pct)),
    )
    const mean = apart.reduce((sum, one) => sum + one, 0) / apart.length
    const about = `${keys} keys: ${apart.map((one) => one.toFixed(2))}, ${curve.ceiling_pct} of ${whole.ceiling_pct}`
    assert.ok(mean < 0.8, about)
    assert.ok(Math.abs(curve.ceiling_pct - whole.ceiling_pct) < 0.8, about)
    assert.ok(Math.abs(curve.footprint_bytes / whole.footprint_bytes - 1) < 0.02, about)
  })

test('shares of the draws add up, also where they are an integral', () => {
  for (const order of ['zipf:0.99', 'zipf:1', 'zipf:2.5', 'hot:10%:90%', 'uniform']) {
    const { of, upTo } = sharesOf(order, 30_000)
    let sum = 0
    for (let k = 1; k <= 30_000; k++) {
      sum += of(k)
      if (k % 1000 === 7) assert.ok(Math.abs(upTo(k) - sum) < 1e-6, `${order}: ${k}`)
    }
    assert.ok(Math.abs(sum - 1) < 1e-6, `${order}: ${sum}`)
  }
})

test('a sample is drawn by itself where popularity is by rank and stays', () => {
  for (const order of ['zipf:0.99', 'hot:10%:90%', 'uniform']) {
    assert.equal(isKnownShare({ order }), true)
    assert.equal(isKnownShare({ order, churn: '1%/s' }), false)
    assert.equal(isKnownShare({ order, shift: '1%/s' }), false)
  }
  for (const order of ['sequential', 'split', 'recent:10%']) assert.equal(isKnownShare({ order }), false)
})
