import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ticksWriter } from '../../lib/loads/ticks/writer.js'
import { ledgerOf } from '../../lib/measure/ledger.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** Servers that always have room. */
const roomy = {
  hasRoom: () => true,
  waitLimitMs: () => Number.POSITIVE_INFINITY,
  portionsOf: () => [[]],
  carriersOf: () => [],
}

test('time stands at 0 until the start, so that samples of before and after can be subtracted', () => {
  const plan = samplePlan({ quantity: 10 })
  let nowMs = 5000
  const driver = /** @type {any} */ ({ offer: () => {}, ...roomy })
  const writing = ticksWriter({ plan, driver, ledger: ledgerOf(plan), clock: () => nowMs, epochMs: Date.now })
  assert.equal(writing.elapsed(), 0)
  writing.start()
  nowMs += 7
  assert.equal(writing.elapsed(), 7)
  writing.stop()
})

test('waiting for answers ends at its limit, or at once when it is aborted', async () => {
  const plan = samplePlan({ quantity: 10 })
  let nowMs = 0
  const ledger = ledgerOf(plan)
  const timers = /** @type {any} */ ({
    ...globalThis,
    setTimeout: (/** @type {() => void} */ then, /** @type {number} */ ms) =>
      setImmediate(() => {
        nowMs += ms
        then()
      }),
    clearTimeout: clearImmediate,
  })
  // Nothing is ever answered.
  const offer = (/** @type {any} */ { account }) => ledger.expect(account, 1)
  const driver = /** @type {any} */ ({ offer, ...roomy })
  const writing = ticksWriter({ plan, driver, ledger, clock: () => nowMs, epochMs: () => nowMs, timers })
  writing.start()
  while (ledger.whole.offered === 0) await new Promise((resolve) => setImmediate(resolve))
  writing.stop()
  await writing.offered
  const fromMs = nowMs
  assert.equal(await writing.settle(3000, new AbortController().signal), false)
  assert.ok(nowMs >= fromMs + 3000, `${nowMs - fromMs} ms`)
  const atOnce = new AbortController()
  const againMs = nowMs
  const settled = writing.settle(3000, atOnce.signal)
  atOnce.abort()
  assert.equal(await settled, false)
  assert.ok(nowMs < againMs + 100, `${nowMs - againMs} ms`)
})

for (const settings of /** @type {const} */ ([{ rate: 'max' }, { pacing: 'closed', periodMs: 100 }])) {
  test(`a silent server holds no run up: ${JSON.stringify(settings)}`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const plan = samplePlan({ quantity: 10, durationMs: 3000, ...settings })
    let nowMs = 0
    const driver = /** @type {any} */ ({
      ...roomy,
      offer: () => {},
      hasRoom: () => false,
      waitLimitMs: () => 500,
    })
    const timers = /** @type {any} */ (globalThis)
    const ledger = ledgerOf(plan)
    const writing = ticksWriter({ plan, driver, ledger, clock: () => nowMs, epochMs: Date.now, timers })
    let isOver = false
    const over = writing.offered.then(() => {
      isOver = true
    })
    nowMs = 1
    writing.start()
    for (; !isOver && nowMs < 10_000; nowMs += 100) {
      t.mock.timers.tick(100)
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.ok(isOver && nowMs > 3000, String(nowMs))
    await over
    writing.stop()
  })
}

/** A driver that keeps what it is offered, and timers that fire when the test says so. */
const byHand = () => {
  const offered = /** @type {number[]} */ ([])
  const driver = /** @type {any} */ ({
    ...roomy,
    offer: (/** @type {{ index: number }} */ { index }) => offered.push(index),
  })
  /** @type {(() => void)[]} */
  const due = []
  const timers = /** @type {any} */ ({
    ...globalThis,
    setTimeout: (/** @type {() => void} */ then) => due.push(then),
    setImmediate: (/** @type {() => void} */ then) => due.push(then),
    clearTimeout: () => {},
    clearImmediate: () => {},
  })
  return { offered, driver, due, timers }
}

test('a tick that comes later than the limit is not sent, and its items are dropped', () => {
  const plan = samplePlan({ quantity: 10, periodMs: 1000, maxBehindMs: 2000, durationMs: 6000 })
  const ledger = ledgerOf(plan)
  let nowMs = 1
  const { offered, driver, due, timers } = byHand()
  const writing = ticksWriter({ plan, driver, ledger, clock: () => nowMs, epochMs: () => nowMs, timers })
  writing.start()
  nowMs = 5001 // the process stood still for four periods
  while (offered.length < 4 && due.length > 0) due.shift()?.()
  writing.stop()
  assert.deepEqual(offered, [0, 3, 4, 5])
  const { dropped, offered: all } = ledger.whole
  assert.equal(dropped, 20, 'the ticks of seconds 1 and 2, which are more than 2 s late')
  assert.equal(all, dropped + 10 * offered.length)
})

/** A writer of a tick each 100 ms whose timers fire when the test says so. @param {number} stopsAtMs */
const stoppedAt = (stopsAtMs) => {
  const plan = samplePlan({ quantity: 10, periodMs: 100, maxBehindMs: 5000 })
  const clock = { nowMs: 1000 }
  const { offered, driver, due, timers } = byHand()
  const writing = ticksWriter({
    ...{ plan, driver, ledger: ledgerOf(plan), timers },
    clock: () => clock.nowMs,
    epochMs: () => clock.nowMs,
    stopsAtMs: () => stopsAtMs,
  })
  return { clock, offered, due, writing }
}

test('a box that is late at the moment of a stop has the ticks until then, and no others', () => {
  for (const isStopFirst of [true, false]) {
    const { clock, offered, due, writing } = stoppedAt(1250)
    writing.start()
    assert.deepEqual(offered, [0])
    clock.nowMs = 2000
    if (isStopFirst) writing.stop()
    for (const then of due.splice(0)) then()
    assert.deepEqual(offered, [0, 1, 2])
    for (const then of due.splice(0)) then()
    writing.stop()
    assert.deepEqual(offered, [0, 1, 2])
  }
})

test('what ends a box before the moment of a stop begins no tick', () => {
  const { clock, offered, writing } = stoppedAt(1250)
  writing.start()
  clock.nowMs = 1240
  writing.stop()
  assert.deepEqual(offered, [0])
})

/**
 * A writer of ticks of 10 items whose servers have room for those of the test.
 * @param {Parameters<typeof samplePlan>[0]} settings
 * @param {number} [count] portions of a tick
 */
const crowded = (settings, count = 1) => {
  const plan = samplePlan({ quantity: 10, periodMs: 1000, maxBehindMs: 5000, ...settings })
  const scene = { nowMs: 1, room: 0, limitMs: 1000 }
  const { offered, driver, due, timers } = byHand()
  const offer = driver.offer
  const batches = Array.from({ length: count }, () => [])
  /** @type {{ index: number, portion: number }[]} */
  const portions = []
  Object.assign(driver, {
    portionsOf: () => batches,
    offer: (/** @type {any} */ tick, /** @type {number} */ portion) => {
      scene.room--
      ledger.expect(tick.account, 1)
      portions.push({ index: tick.index, portion })
      offer(tick)
    },
    hasRoom: () => scene.room > 0,
    waitLimitMs: () => scene.limitMs,
  })
  const ledger = ledgerOf(plan)
  const clock = () => scene.nowMs
  const writing = ticksWriter({ plan, driver, ledger, clock, epochMs: clock, timers })
  const at = (/** @type {number} */ nowMs) => {
    scene.nowMs = nowMs
    for (const then of due.splice(0)) then()
  }
  return { scene, offered, portions, ledger, writing, at }
}

test('a tick waits for room, begins with the answer that makes it, and is dropped as a whole after its time', () => {
  const { scene, offered, ledger, writing, at } = crowded({})
  writing.start()
  assert.deepEqual(offered, [])
  scene.room = 1
  writing.progress()
  assert.deepEqual(offered, [0])
  at(1001)
  at(2001)
  assert.equal(ledger.whole.offered, 10, 'both wait')
  at(2500)
  writing.progress()
  assert.deepEqual({ ...ledger.whole }, { ...ledger.whole, offered: 20, dropped: 10 })
  // The servers paused: then what waits is kept.
  scene.limitMs = 5000
  at(5001)
  scene.room = 9
  writing.progress()
  assert.deepEqual(offered, [0, 2, 3, 4, 5])
  assert.equal(ledger.whole.dropped, 10)
  writing.stop()
})

test('where some ticks have no room, every part of the interval is written as often', () => {
  const { scene, offered, writing, at } = crowded({ chunks: 5, periodMs: 100 })
  writing.start()
  for (let i = 1; i <= 100; i++) {
    at(1 + 20 * i)
    scene.room = i % 5 === 0 ? 1 : 0
    writing.progress()
  }
  const times = [0, 0, 0, 0, 0]
  for (const index of offered) times[index % 5]++
  assert.deepEqual(times, [4, 4, 4, 4, 4])
  writing.stop()
})

test('a batch of a second of work or more is given up where it was begun, and the next one goes on there', () => {
  const { scene, portions, ledger, writing, at } = crowded({ quantity: 10 }, 5)
  writing.start()
  for (let nowMs = 1; nowMs < 4000; nowMs += 100) {
    at(nowMs)
    // One portion of five in 400 ms: two and a half of each batch, which are begun within a second.
    scene.room = nowMs % 400 === 1 ? 1 : 0
    writing.progress()
  }
  assert.deepEqual(
    portions.map(({ index, portion }) => `${index}${portion}`),
    ['00', '01', '02', '13', '14', '10', '21', '22', '23', '34'],
  )
  assert.deepEqual([ledger.whole.offered, ledger.whole.dropped], [40, 0], 'none is closed: none was answered')
  writing.stop()
})

test('a batch that is begun late is finished, if that takes less than a second', () => {
  const { scene, portions, writing, at } = crowded({ quantity: 10, periodMs: 500 }, 3)
  scene.limitMs = 500
  writing.start()
  for (let nowMs = 1; nowMs < 1600; nowMs += 100) {
    at(nowMs)
    scene.room = nowMs > 400 && nowMs % 300 === 101 ? 1 : 0
    writing.progress()
  }
  assert.deepEqual(
    portions.map(({ index, portion }) => `${index}${portion}`),
    ['00', '01', '02', '20'],
  )
  writing.stop()
})

test('what still waits for room when a run ends is begun while there is time, and then dropped', async () => {
  for (const room of [0, 1]) {
    const { scene, offered, ledger, writing, at } = crowded({ durationMs: 1000 })
    scene.limitMs = 5000
    writing.start()
    at(1001)
    await writing.offered
    const settled = writing.settle(200, new AbortController().signal)
    scene.room = room
    for (let nowMs = 1002; nowMs < 1300; nowMs += 5) {
      at(nowMs)
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal(await settled, room === 0, 'nothing is under way')
    assert.equal(offered.length, room)
    assert.equal(ledger.whole.offered, 10)
    assert.equal(ledger.whole.dropped, room === 0 ? 10 : 0)
  }
})

test('a run that is stopped begins what was due by then while it settles, and nothing that is due later', async () => {
  const { scene, offered, ledger, writing, at } = crowded({})
  scene.limitMs = 5000
  writing.start()
  at(1001)
  writing.stop()
  await writing.offered
  scene.room = 1
  const settled = writing.settle(300, new AbortController().signal)
  for (let nowMs = 1002; nowMs < 3400; nowMs += 5) {
    at(nowMs)
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(await settled, false, 'one is under way')
  assert.deepEqual(offered, [0])
  assert.equal(ledger.whole.offered, 20)
  assert.equal(ledger.whole.dropped, 10)
})
