import assert from 'node:assert/strict'
import test from 'node:test'
import { pacerOf } from '../../lib/plan/pacer.js'

const cases = [
  { plan: { periodMs: 1000, chunks: 1, ticks: null }, elapsedMs: -0.1, due: 0 },
  { plan: { periodMs: 1000, chunks: 1, ticks: null }, elapsedMs: 0, due: 1 },
  { plan: { periodMs: 1000, chunks: 1, ticks: null }, elapsedMs: 999.9, due: 1 },
  { plan: { periodMs: 1000, chunks: 1, ticks: null }, elapsedMs: 1000, due: 2 },
  { plan: { periodMs: 1000, chunks: 1, ticks: null }, elapsedMs: 60_500, due: 61 },
  { plan: { periodMs: 1000, chunks: 1, ticks: 60 }, elapsedMs: 60_500, due: 60 },
  { plan: { periodMs: 1000, chunks: 1, ticks: 60 }, elapsedMs: 58_999, due: 59 },
  { plan: { periodMs: 1000, chunks: 10, ticks: null }, elapsedMs: 99, due: 1 },
  { plan: { periodMs: 1000, chunks: 10, ticks: null }, elapsedMs: 100, due: 2 },
  { plan: { periodMs: 1000, chunks: 10, ticks: null }, elapsedMs: 350, due: 4 },
  { plan: { periodMs: 1000, chunks: 3, ticks: null }, elapsedMs: 333.3, due: 1 },
  { plan: { periodMs: 1000, chunks: 3, ticks: null }, elapsedMs: 333.4, due: 2 },
  { plan: { periodMs: 1, chunks: 1, ticks: 5 }, elapsedMs: 1e9, due: 5 },
]

for (const { plan, elapsedMs, due } of cases) {
  const { periodMs, chunks, ticks } = plan
  test(`${periodMs} ms in ${chunks}, ${ticks ?? 'no end'}: ${due} ticks due after ${elapsedMs} ms`, () => {
    assert.equal(pacerOf(plan).ticksDue(elapsedMs), due)
  })
}

for (const [periodMs, chunks] of [
  [1000, 1],
  [1000, 3],
  [1000, 7],
  [7, 3],
  [1, 1000],
  [86_400_000, 11],
]) {
  test(`${periodMs} ms in ${chunks}: at its own moment each tick is due, and the next is not`, () => {
    const ticks = 5000
    const { dueMs, ticksDue, spacingMs, chunkOf, intervalOf } = pacerOf({ periodMs, chunks, ticks })
    for (let i = 0; i < ticks; i++) {
      assert.equal(ticksDue(dueMs(i)), i + 1)
      assert.equal(ticksDue(dueMs(i) + spacingMs / 2), i + 1)
      assert.equal(intervalOf(i) * chunks + chunkOf(i), i)
    }
    assert.equal(ticksDue(dueMs(ticks) * 10), ticks, 'never more than there are')
    for (let interval = 0; interval * chunks < ticks; interval++) {
      const late = Math.abs(dueMs(interval * chunks) - interval * periodMs)
      assert.ok(late < 1e-3, 'intervals do not drift')
    }
  })
}
