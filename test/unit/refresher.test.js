import assert from 'node:assert/strict'
import test from 'node:test'
import { refresherOf } from '../../lib/transport/net.js'

const scene = (/** @type {() => Promise<number>} */ ask) => {
  const time = { nowMs: 1000 }
  const learned = /** @type {number[]} */ ([])
  const learn = (/** @type {number} */ n) => learned.push(n)
  const timers = /** @type {any} */ (globalThis)
  return { time, learned, refresher: refresherOf({ ask, learn, clock: () => time.nowMs, timers }) }
}
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('a thousand errors ask once, and those that come soon after it once more', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const answers = /** @type {((n: number) => void)[]} */ ([])
  const { time, learned, refresher } = scene(() => new Promise((resolve) => answers.push(resolve)))
  for (let i = 0; i < 1000; i++) refresher.request()
  assert.equal(answers.length, 1)
  answers[0](1)
  await settle()
  for (let i = 0; i < 1000; i++) refresher.request()
  assert.equal(answers.length, 1)
  time.nowMs += 500
  t.mock.timers.tick(500)
  assert.equal(answers.length, 2)
  refresher.close()
  answers[1](2)
  await settle()
  assert.deepEqual(learned, [1], 'what comes after the end is not learned')
  refresher.request()
  assert.equal(answers.length, 2)
})

test('a question that fails leaves the way free for the next', async () => {
  let asked = 0
  const { time, learned, refresher } = scene(async () => {
    asked++
    throw new Error('away')
  })
  refresher.request()
  await settle()
  time.nowMs = 11_000
  refresher.request()
  assert.deepEqual([asked, learned], [2, []])
})
