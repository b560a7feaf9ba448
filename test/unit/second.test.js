import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lengthMs, onceASecond } from '../../lib/run/second.js'
import { samplePlan } from '../helpers/sample-plan.js'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('lines end a little before whole seconds, however late a timer wakes', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let nowMs = 0
  const lines = /** @type {number[]} */ ([])
  const line = async () => void lines.push(nowMs)
  const seconds = onceASecond(line, () => nowMs)
  const pass = async (/** @type {number} */ ms) => {
    nowMs += ms
    t.mock.timers.tick(ms)
    await turn()
  }
  seconds.start()
  for (let i = 0; i < 200; i++) await pass(10)
  assert.deepEqual(lines, [970, 1970])
  // The loop was busy for more than a second: one line is longer, the next are where they belong.
  nowMs = 3500
  t.mock.timers.tick(970)
  await turn()
  assert.deepEqual(lines.slice(2), [3500])
  for (let i = 0; i < 150; i++) await pass(10)
  assert.deepEqual(lines.slice(3), [3970, 4970])
  await seconds.stop()
  assert.deepEqual(lines.slice(5), [5000])
})

test('a run lasts whole ticks where it has a schedule', () => {
  assert.equal(lengthMs(samplePlan({ durationMs: 1500 })), 2000)
  assert.equal(lengthMs(samplePlan({ durationMs: 1500, rate: 'max' })), 1500)
  assert.equal(lengthMs(samplePlan({ intervals: 3 })), 3000)
  assert.equal(lengthMs(samplePlan()), null)
})
