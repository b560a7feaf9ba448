import assert from 'node:assert/strict'
import test from 'node:test'
import { drawsOf, eachOnce, picksOf, scheduleOf } from '../../lib/plan/draws.js'
import { chiSquare as fit } from '../helpers/fit.js'

const many = (/** @type {() => number} */ next, count = 100_000) => Array.from({ length: count }, next)

test('uniform keys: each about as often, by chi-square; the same for a seed', () => {
  const drawn = many(drawsOf({ order: 'uniform', count: 100, seed: 7 }))
  const counts = new Map()
  for (const n of drawn) counts.set(n, (counts.get(n) ?? 0) + 1)
  assert.equal(counts.size, 100)
  assert.ok(Math.min(...drawn) === 1 && Math.max(...drawn) === 100)
  const chi = [...counts.values()].reduce((sum, n) => sum + (n - 1000) ** 2 / 1000, 0)
  assert.ok(chi < 148, `chi-square of 99 degrees of freedom ${chi}`) // 0.1 % of all seeds are above
  assert.deepEqual(many(drawsOf({ order: 'uniform', count: 100, seed: 7 })), drawn)
  assert.notDeepEqual(many(drawsOf({ order: 'uniform', count: 100, seed: 8 })), drawn)
})

/**
 * Against the stated shares of the numbers 1..count.
 * @param {string} order
 * @param {number} count
 * @param {(n: number) => number} weight
 */
const chiSquare = (order, count, weight) => {
  const draws = 200_000
  const drawn = new Float64Array(count + 1)
  for (const n of many(drawsOf({ order, count, seed: 7 }), draws)) drawn[n]++
  const weights = Array.from({ length: count }, (_, i) => weight(i + 1))
  const whole = weights.reduce((sum, one) => sum + one, 0)
  return fit(
    drawn.subarray(1),
    weights.map((one) => (one / whole) * draws),
  )
}

test('popular keys: drawn as often as stated, by chi-square', () => {
  const zipf = (/** @type {number} */ theta) => (/** @type {number} */ n) => n ** -theta
  for (const [order, count, weight] of /** @type {[string, number, (n: number) => number][]} */ ([
    ['zipf:0.5', 1000, zipf(0.5)],
    ['zipf:0.99', 1000, zipf(0.99)],
    ['zipf:1', 100_000, zipf(1)],
    ['zipf:1.5', 1000, zipf(1.5)],
    ['zipf:3', 10, zipf(3)],
    ['zipf:0.99', 2, zipf(0.99)],
    ['hot:10%:90%', 1000, (n) => (n <= 100 ? 9 : 1 / 9)],
    ['hot:1%:50%', 200, (n) => (n <= 2 ? 99 : 1)],
  ])) {
    const { z, freedom } = chiSquare(order, count, weight)
    assert.ok(freedom >= 1 && z < 3.3, `${order} of ${count}: ${z} standard deviations, ${freedom} degrees`)
  }
  assert.ok(many(drawsOf({ order: 'zipf:2', count: 1, seed: 1 }), 9).every((n) => n === 1))
  assert.ok(many(drawsOf({ order: 'hot:10%:90%', count: 1, seed: 1 }), 9).every((n) => n === 1))
})

test('in order: round and round; each once: then no more', () => {
  assert.deepEqual(many(drawsOf({ order: 'sequential', count: 3, seed: 0 }), 7), [1, 2, 3, 1, 2, 3, 1])
  assert.deepEqual(many(eachOnce(3), 5), [1, 2, 3, -1, -1])
})

test('operations by their weights', () => {
  const drawn = many(picksOf([1, 10], 3), 110_000)
  const first = drawn.filter((kind) => kind === 0).length
  assert.ok(Math.abs(first - 10_000) < 400, String(first)) // four standard deviations
  assert.deepEqual(many(picksOf([0, 1], 3), 4), [1, 1, 1, 1])
})

test('a constant rate is due at even distances, and ends with the duration', () => {
  const { due, limit } = scheduleOf({ rateHz: 200, arrivals: 'constant', seed: 1, durationMs: 1000 })
  assert.deepEqual([due(0), due(1), due(200)], [0, 5, 1000])
  assert.equal(limit, 200)
})

test('poisson arrivals: exponential gaps of the stated mean, by Kolmogorov-Smirnov', () => {
  const { due } = scheduleOf({ rateHz: 1000, arrivals: 'poisson', seed: 5, durationMs: null })
  const times = Array.from({ length: 20_000 }, (_, i) => due(i))
  const gaps = times.map((ms, i) => ms - (times[i - 1] ?? 0)).sort((a, b) => a - b)
  const distance = Math.max(...gaps.map((gap, i) => Math.abs(1 - Math.exp(-gap) - (i + 0.5) / gaps.length)))
  assert.ok(distance < 1.95 / Math.sqrt(gaps.length), String(distance)) // 0.1 % of all seeds are above
})

test('split: every client goes through its own keys in order, and all keys are drawn', () => {
  const draw = drawsOf({ order: 'split', count: 10, seed: 1, clients: 3 })
  assert.deepEqual(
    Array.from({ length: 5 }, () => [draw(0), draw(1), draw(2)]),
    [
      [1, 4, 7],
      [2, 5, 8],
      [3, 6, 9],
      [1, 4, 10],
      [2, 5, 7],
    ],
  )
  const few = drawsOf({ order: 'split', count: 2, seed: 1, clients: 3 })
  assert.deepEqual([few(0), few(1), few(2), few(0)], [1, 2, 1, 1])
})
