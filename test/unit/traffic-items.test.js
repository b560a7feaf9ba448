import assert from 'node:assert/strict'
import test from 'node:test'
import { batchDraws, drawsOf, eachOnce } from '../../lib/traffic/items.js'
import { chiSquare as fit } from '../helpers/fit.js'

const many = (/** @type {(atMs: number) => number} */ next, count = 100_000) =>
  Array.from({ length: count }, () => next(0))

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

/** Numbers 1..count against their stated shares. @param {Iterable<number>} drawn @param {number} count @param {(n: number) => number} weight */
const chiSquare = (drawn, count, weight) => {
  const found = new Float64Array(count)
  for (const n of drawn) found[n - 1]++
  const draws = found.reduce((sum, n) => sum + n, 0)
  const weights = Array.from({ length: count }, (_, i) => weight(i + 1))
  const whole = weights.reduce((sum, one) => sum + one, 0)
  const stated = weights.map((one) => (one / whole) * draws)
  return fit(found, stated)
}
const zipf = (/** @type {number} */ theta) => (/** @type {number} */ n) => n ** -theta

test('popular keys: drawn as often as stated, by chi-square', () => {
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
    const { z, freedom } = chiSquare(many(drawsOf({ order, count, seed: 7 }), 200_000), count, weight)
    assert.ok(freedom >= 1 && z < 3.3, `${order} of ${count}: ${z} standard deviations, ${freedom} degrees`)
  }
  for (const order of ['zipf:2', 'hot:10%:90%'])
    assert.ok(many(drawsOf({ order, count: 1, seed: 1 }), 9).every((n) => n === 1))
})

test('in order: round and round; each once: then no more', () => {
  assert.deepEqual(many(drawsOf({ order: 'sequential', count: 3, seed: 0 }), 7), [1, 2, 3, 1, 2, 3, 1])
  assert.deepEqual(many(eachOnce(3), 5), [1, 2, 3, -1, -1])
})

test('popularity shifts over the items at its pace, by chi-square', () => {
  const [count, draws] = [1000, 100_000]
  // A quarter of the items later.
  const draw = drawsOf({ order: 'hot:10%:90%', count, seed: 3, shift: '1%/s' })
  const drawn = new Float64Array(count)
  for (let i = 0; i < draws; i++) drawn[draw(25_000) - 1]++
  const expected = Array.from({ length: count }, (_, i) => (i >= 250 && i < 350 ? 900 : (draws * 0.1) / 900))
  const { z, freedom } = fit(drawn, expected)
  assert.ok(freedom > 900 && z < 3.1, String(z))
})

test('churn replaces every item once in its time, whatever its popularity, and numbers go on', () => {
  const [count, quantity] = [1000, 5000]
  const terms = { order: 'sequential', shift: null, churn: '10%/s', quantity, seed: 1 }
  const draw = batchDraws(terms, { agent: 2, first: 2001, count })
  const at = (/** @type {number} */ ms) => [...draw({ first: 2001, count }, ms)]
  const places = Array.from({ length: count }, (_, i) => 2001 + i)
  assert.deepEqual(at(0), places, 'none at the start')
  const later = at(3000)
  assert.equal(later.filter((n, i) => n === places[i] + quantity).length, 300)
  assert.equal(later.filter((n, i) => n === places[i]).length, 700)
  // Spread over the places, not the first ones.
  const thirds = [0, 333, 666].map((from) => later.slice(from, from + 333).filter((n) => n > quantity).length)
  assert.ok(Math.max(...thirds) - Math.min(...thirds) <= 20, String(thirds))
  const replaced = places.map((n) => n + quantity)
  assert.deepEqual(at(10_000), replaced)
  const generations = at(25_000).map((n) => Math.floor((n - 2001) / quantity))
  const found = generations.reduce((sum, g) => sum + g, 0)
  assert.equal(found, 2500)
})

test('recent items: only the newest share, each as likely, by chi-square', () => {
  const [count, draws] = [500, 50_000]
  const terms = { order: 'recent:10%', count, seed: 9, churn: '20%/s' }
  const draw = drawsOf(terms)
  const inOrder = { ...terms, order: 'sequential', shift: null, quantity: count }
  const all = batchDraws(inOrder, { agent: 1, first: 1, count })
  // So many were replaced last: 100 a second, of which the newest 50 are drawn.
  const before = new Set(all({ first: 1, count }, 6490))
  const newest = [...all({ first: 1, count }, 6990)].filter((n) => !before.has(n))
  assert.equal(newest.length, 50)
  const counts = new Map(newest.map((n) => [n, 0]))
  for (let i = 0; i < draws; i++) {
    const n = draw(6990)
    assert.ok(counts.has(n), `item ${n} is not new`)
    counts.set(n, Number(counts.get(n)) + 1)
  }
  const { z } = fit([...counts.values()], Array(50).fill(draws / 50))
  assert.ok(z < 3.1, String(z))
})

test('batches of a writer are drawn from its own items, the same for a seed', () => {
  const plan = { order: 'zipf:0.99', shift: null, churn: null, quantity: 1000, seed: 1 }
  const batch = (seed = 1, agent = 2) =>
    batchDraws({ ...plan, seed }, { agent, first: 501, count: 500 })({ first: 501, count: 20_000 }, 0)
  const drawn = batch()
  assert.ok(drawn.every((n) => n >= 501 && n <= 1000))
  const shifted = drawn.map((n) => n - 500)
  const { z } = chiSquare(shifted, 500, zipf(0.99))
  assert.ok(z < 3.1, String(z))
  assert.deepEqual(batch(), drawn)
  assert.notDeepEqual(batch(2), drawn)
  assert.notDeepEqual(batch(1, 1), drawn)
})

test('split: every client goes through its own keys in order, and all keys are drawn', () => {
  const draw = drawsOf({ order: 'split', count: 10, seed: 1, clients: 3 })
  const rounds = Array.from({ length: 5 }, () => [0, 1, 2].map((client) => draw(0, client)).join(' '))
  assert.deepEqual(rounds, ['1 4 7', '2 5 8', '3 6 9', '1 4 10', '2 5 7'])
  const few = drawsOf({ order: 'split', count: 2, seed: 1, clients: 3 })
  const drawn = [0, 1, 2, 0].map((client) => few(0, client))
  assert.deepEqual(drawn, [1, 2, 1, 1])
})
