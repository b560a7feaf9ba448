// Ticks begin at their absolute moments, however late each timer is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ticker } from '../../lib/loads/ticks/ticker.js'
import { pacerOf } from '../../lib/plan/pacer.js'
import { fieldsIn, rowsOf } from '../helpers/table.js'

const stepMs = 0.05

/**
 * When each tick began, by timers that fire late, and how long it was waited for in a busy loop.
 * @param {{ chunks: number, ticks: number, lateMs: number, sleepLateMs?: number }} terms sleepLateMs: else timers cannot sleep
 * @param {(i: number) => boolean} [isTaken]
 */
const begunBy = ({ chunks, ticks, lateMs, sleepLateMs }, isTaken) => {
  let nowMs = 0
  let spunMs = 0
  let turns = 0
  let wakes = 0
  let waiting = /** @type {{ atMs: number, then: () => void }[]} */ ([])
  const after = (/** @type {() => void} */ then, ms = 0) => {
    waiting.push({ atMs: nowMs + ms, then })
    return /** @type {any} */ (waiting.at(-1))
  }
  const cancel = (/** @type {any} */ one) => (waiting = waiting.filter((other) => other !== one))
  const begun = /** @type {number[]} */ ([])
  let isOver = false
  const pacer = pacerOf({ schedule: 'even', arrivals: 'constant', seed: 1, periodMs: 1000, chunks, ticks })
  ticker({
    times: { pacer, elapsed: () => nowMs, isTaken },
    ticks,
    begin: (tick) => (begun[tick] = nowMs - pacer.dueMs(tick)),
    onEnd: () => (isOver = true),
    timers: {
      setTimeout: (then, ms = 0, ...args) => after(() => then(...args), ms + lateMs),
      clearTimeout: cancel,
      // The rest is spun away in small steps.
      setImmediate(then) {
        turns++
        spunMs += stepMs
        return after(then, stepMs)
      },
      clearImmediate: cancel,
      ...(sleepLateMs !== undefined && {
        sleep(ms) {
          nowMs += ms + sleepLateMs
        },
      }),
    },
  }).start()
  while (!isOver) {
    waiting.sort((a, b) => a.atMs - b.atMs)
    const next = waiting.shift()
    assert.ok(next, 'nothing is waited for')
    nowMs = Math.max(nowMs, next.atMs)
    next.then()
    wakes++
  }
  return { begun, spunMs, turns, wakes }
}

// A timer is set 1.5 ms early, unless ticks come too often for that.
for (const [what, terms] of rowsOf(`
ten ticks a second, timers on time -> chunks=10 lateMs=0 allowedMs=0
ten ticks a second, timers a millisecond late -> chunks=10 lateMs=1 allowedMs=0
ten ticks a second, sleeps 0.08 ms late -> chunks=10 lateMs=0.7 sleepLateMs=0.08 allowedMs=0
ten ticks a second, timers 7 ms late -> chunks=10 lateMs=7 allowedMs=5.5
a hundred ticks a second -> chunks=100 lateMs=1 allowedMs=1
`))
  test(`no tick is early, and none is later than its own timer makes it: ${what}`, () => {
    const { allowedMs, ...timers } = fieldsIn(terms)
    const { begun: late } = begunBy({ ticks: 2000, ...timers })
    assert.equal(late.length, 2000)
    assert.ok(Math.min(...late) > -1e-6, `early: ${Math.min(...late)}`)
    assert.ok(Math.max(...late) <= allowedMs + 0.1, `late: ${Math.max(...late)}`)
  })

test('most of the time before a tick is slept away, not spent in a busy loop', () => {
  const { spunMs } = begunBy({ chunks: 10, ticks: 100, lateMs: 0.4, sleepLateMs: 0.02 })
  assert.ok(spunMs > 0 && spunMs <= 100 * 0.2, `${spunMs} ms before 100 ticks`)
})

test('a tick that is due when its sleep ends begins there, without another turn of the loop', () => {
  const terms = { chunks: 10, ticks: 100, lateMs: 0.4 }
  const { turns, begun } = begunBy({ ...terms, sleepLateMs: 0.06 })
  assert.equal(turns, 0)
  assert.ok(Math.max(...begun) <= 0.011, `late: ${Math.max(...begun)}`)
  // One that is too early is spun away.
  assert.ok(begunBy({ ...terms, sleepLateMs: 0 }).turns >= 99)
})

test('nothing wakes for ticks that others begin', () => {
  const isTaken = (/** @type {number} */ i) => i % 10 === 3 || i % 10 === 4
  const { begun, wakes } = begunBy({ chunks: 10, ticks: 1000, lateMs: 0.4, sleepLateMs: 0.06 }, isTaken)
  const numbers = Object.keys(begun).map(Number)
  assert.equal(numbers.length, 200)
  assert.ok(numbers.every(isTaken))
  assert.ok(Math.min(...numbers.map((i) => begun[i])) > -1e-6)
  assert.ok(wakes <= 201, `${wakes} wakes for 200 ticks`)
})
