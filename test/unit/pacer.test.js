import assert from 'node:assert/strict'
import test from 'node:test'
import { pacerOf } from '../../lib/plan/pacer.js'
import { fieldsIn, rowsOf } from '../helpers/table.js'

const even = /** @type {const} */ ({ schedule: 'even', arrivals: 'constant', seed: 1 })

for (const [plan, due] of rowsOf(`
periodMs=1000 chunks=1 ticks=null -> -0.1 ms: 0, 0 ms: 1, 999.9 ms: 1, 1000 ms: 2, 60500 ms: 61
periodMs=1000 chunks=1 ticks=60 -> 60500 ms: 60, 58999 ms: 59
periodMs=1000 chunks=10 ticks=null -> 99 ms: 1, 100 ms: 2, 350 ms: 4
periodMs=1000 chunks=3 ticks=null -> 333.3 ms: 1, 333.4 ms: 2
periodMs=1 chunks=1 ticks=5 -> 1e9 ms: 5
`))
  test(`ticks due by ${plan}, ${due}`, () => {
    for (const [elapsedMs, ticks] of due.split(', ').map((one) => one.split(' ms: ')))
      assert.equal(pacerOf(fieldsIn(plan)).ticksDue(Number(elapsedMs)), Number(ticks), elapsedMs)
  })

for (const terms of ['1000 1', '1000 3', '1000 7', '7 3', '1 1000', '86400000 11']) {
  test(`${terms}: at its own moment each tick is due, and the next is not`, () => {
    const [periodMs, chunks] = terms.split(' ').map(Number)
    const ticks = 5000
    const { dueMs, ticksDue, spacingMs, chunkOf, intervalOf } = pacerOf({ ...even, periodMs, chunks, ticks })
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
