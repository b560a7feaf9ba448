import assert from 'node:assert/strict'
import test from 'node:test'
import { pacerOf } from '../../lib/plan/pacer.js'
import { duesOf, scheduleOf } from '../../lib/traffic/arrivals.js'
import { picksOf } from '../../lib/traffic/operations.js'
import { chiSquare, ksDistance, ksLimit } from '../helpers/fit.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @param {string} arrivals @param {number} count @param {number} spacingMs */
const times = (arrivals, count, spacingMs = 1, seed = 5) => {
  const due = duesOf({ arrivals, spacingMs, seed })
  return Array.from({ length: count }, (_, i) => due(i))
}

test('operations by their weights, by chi-square', () => {
  const pick = picksOf([1, 10, 3], 3)
  const counts = [0, 0, 0]
  for (let i = 0; i < 140_000; i++) counts[pick()]++
  const { z } = chiSquare(counts, [10_000, 100_000, 30_000])
  assert.ok(z < 3.1, String(z))
  const one = picksOf([0, 1], 3)
  assert.deepEqual([one(), one(), one()], [1, 1, 1])
})

test('a constant rate is due at even distances, and ends with the duration', () => {
  const { due, isOver } = scheduleOf({ rateHz: 200, arrivals: 'constant', seed: 1, durationMs: 1000 })
  assert.deepEqual([due(0), due(1), due(200)], [0, 5, 1000])
  assert.deepEqual([isOver(199), isOver(200)], [false, true])
})

test('poisson arrivals: exponential gaps of the stated mean, by Kolmogorov-Smirnov', () => {
  for (const seed of [1, 5, 9]) {
    const all = times('poisson', 20_000, 1, seed)
    const gaps = all.map((ms, i) => ms - (all[i - 1] ?? 0))
    const distance = ksDistance(gaps, (gap) => 1 - Math.exp(-gap))
    assert.ok(distance < ksLimit(gaps.length), `seed ${seed}: ${distance}`)
  }
})

test('bursts: so many times the rate for so long, at the end of each cycle, and the mean is kept', () => {
  const all = times('burst:5x:1s/10s', 20_000)
  const inBurst = all.filter((ms) => ms % 10_000 >= 9000).length
  assert.ok(Math.abs(inBurst - (20_000 * 5) / 14) <= 12, String(inBurst))
  assert.ok(Math.abs(all[10_000] - 10_000) < 1e-6)
  const quiet = all.filter((ms) => ms < 9000)
  const [first] = quiet.map((ms, i) => ms - quiet[i - 1]).slice(1)
  assert.ok(Math.abs(first - 1.4) < 1e-9, 'evenly spaced within')
})

/** Of a day of 10 s whose peak is four times its low. @param {number} ms */
const ofDay = (ms) => ms / 10_000 - (0.6 * Math.sin((2 * Math.PI * ms) / 10_000)) / (2 * Math.PI)

test('the curve of a day, compressed: evenly and by chance, by Kolmogorov-Smirnov', () => {
  for (const [arrivals, limit] of /** @type {const} */ ([
    ['daily:10s', 0.001],
    ['poisson,daily:10s', ksLimit(20_000)],
  ])) {
    const all = times(arrivals, 40_000)
      .filter((ms) => ms < 20_000)
      .map((ms) => ms % 10_000)
    const distance = ksDistance(all, ofDay)
    assert.ok(distance < limit, `${arrivals}: ${distance}`)
  }
  const steep = times('daily:10s:9x', 10_000).filter((ms) => ms > 4900 && ms < 5100).length
  assert.ok(Math.abs(steep - 200 * 1.8) < 3, String(steep))
})

test('ticks are due by the same arrivals, as many as the duration has, once each', () => {
  for (const arrivals of ['poisson', 'burst:3x:100ms/1s', 'daily:1s', 'poisson,daily:1s']) {
    const plan = samplePlan({ arrivals, chunks: 100, quantity: 1000, durationMs: 4000 })
    const pacer = pacerOf(plan)
    const due = times(arrivals, Number(plan.ticks) + 1, 10, plan.seed)
    assert.ok(due[Number(plan.ticks) - 1] < 4000 && due[Number(plan.ticks)] >= 4000, arrivals)
    assert.equal(plan.endMs, 4000)
    let next = 0
    for (let ms = 0; ms <= 5000; ms += 7) {
      const until = pacer.ticksDue(ms)
      for (; next < until; next++) assert.equal(pacer.dueMs(next), due[next])
      assert.ok(next === plan.ticks || pacer.dueMs(next) > ms)
    }
    assert.equal(next, plan.ticks)
  }
})
