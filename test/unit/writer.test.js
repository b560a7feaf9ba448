import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ticksWriter } from '../../lib/loads/ticks/writer.js'
import { ledgerOf } from '../../lib/probes/ledger.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { notes, testScenes } from '../helpers/scenes.js'

/** Servers that always have room, and answer nothing. */
const roomy = {
  offer: () => {},
  hasRoom: () => true,
  waitLimitMs: () => Number.POSITIVE_INFINITY,
  portionsOf: () => [[]],
  carriersOf: () => [],
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

/**
 * A writer of ticks of 10 items in a made-up time.
 * @param {Parameters<typeof samplePlan>[0]} settings
 * @param {object} [servers] what of the driver is not as that of roomy servers
 * @param {object} [more] timers, the moment of a stop
 */
const writerOf = (settings, servers, more) => {
  const plan = samplePlan({ quantity: 10, ...settings })
  const time = { nowMs: 0 }
  const ledger = ledgerOf(plan)
  const clock = () => time.nowMs
  const driver = /** @type {any} */ ({ ...roomy, ...servers })
  const writing = ticksWriter({ plan, driver, ledger, clock, epochMs: clock, ...more })
  return { time, ledger, writing }
}

test('time stands at 0 until the start, so that samples of before and after can be subtracted', () => {
  const { time, writing } = writerOf({})
  time.nowMs = 5000
  assert.equal(writing.elapsed(), 0)
  writing.start()
  time.nowMs += 7
  assert.equal(writing.elapsed(), 7)
  writing.stop()
})

test('waiting for answers ends at its limit, or at once when it is aborted', async () => {
  const timers = {
    ...globalThis,
    setTimeout: (/** @type {() => void} */ then, /** @type {number} */ ms) =>
      setImmediate(() => {
        time.nowMs += ms
        then()
      }),
    clearTimeout: clearImmediate,
  }
  const offer = (/** @type {any} */ { account }) => ledger.expect(account, 1)
  const { time, ledger, writing } = writerOf({}, { offer }, { timers })
  writing.start()
  while (ledger.whole.offered === 0) await turn()
  writing.stop()
  await writing.offered
  const fromMs = time.nowMs
  assert.equal(await writing.settle(3000, new AbortController().signal), false)
  assert.ok(time.nowMs >= fromMs + 3000, `${time.nowMs - fromMs} ms`)
  const atOnce = new AbortController()
  const againMs = time.nowMs
  const settled = writing.settle(3000, atOnce.signal)
  atOnce.abort()
  assert.equal(await settled, false)
  assert.ok(time.nowMs < againMs + 100, `${time.nowMs - againMs} ms`)
})

test('before a tick the thread sleeps, but only briefly while a reply may come', () => {
  const due = /** @type {(() => void)[]} */ ([])
  const slept = /** @type {number[]} */ ([])
  const accounts = /** @type {any[]} */ ([])
  const set = (/** @type {() => void} */ then) => due.push(then)
  const timers = {
    ...{ setTimeout: set, setImmediate: set, clearTimeout: () => {}, clearImmediate: () => {} },
    sleep: (/** @type {number} */ ms) => slept.push(ms),
  }
  const offer = (/** @type {any} */ { account }) => {
    ledger.expect(account, 1)
    accounts.push(account)
  }
  const { time, ledger, writing } = writerOf({ periodMs: 100 }, { offer }, { timers })
  time.nowMs = 1
  writing.start()
  time.nowMs = 100
  due.shift()?.()
  ledger.answered(accounts[0], 1)
  due.shift()?.()
  const [first, second] = slept
  assert.ok(first > 0 && first <= 0.1, `${first} ms while the first tick is unanswered`)
  assert.ok(second > 0.5 && second < 1, `${second} ms when nothing is under way`)
  writing.stop()
})

for (const settings of /** @type {const} */ ([{ rate: 'max' }, { pacing: 'closed', periodMs: 100 }])) {
  test(`a silent server holds no run up: ${JSON.stringify(settings)}`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const servers = { hasRoom: () => false, waitLimitMs: () => 500 }
    const { time, writing } = writerOf({ durationMs: 3000, ...settings }, servers, { timers: globalThis })
    let isOver = false
    const over = writing.offered.then(() => (isOver = true))
    time.nowMs = 1
    writing.start()
    for (; !isOver && time.nowMs < 10_000; time.nowMs += 100) {
      t.mock.timers.tick(100)
      await turn()
    }
    assert.ok(isOver && time.nowMs > 3000, String(time.nowMs))
    await over
    writing.stop()
  })
}

/**
 * A writer whose timers fire when the test says so, and whose servers have room for as many portions as it says.
 * @param {Parameters<typeof samplePlan>[0]} settings
 * @param {{ portions?: number, limitMs?: number, room?: number, stopsAtMs?: number }} [more]
 */
const sceneOf =
  (settings, { portions = 1, limitMs = 1000, room = 0, stopsAtMs } = {}) =>
  () => {
    const state = { room, limitMs }
    const { note, taken } = notes()
    const due = /** @type {(() => void)[]} */ ([])
    const set = (/** @type {() => void} */ then) => due.push(then)
    const timers = {
      ...{ ...globalThis, setTimeout: set, setImmediate: set },
      ...{ clearTimeout: () => {}, clearImmediate: () => {} },
    }
    const servers = {
      portionsOf: () => Array.from({ length: portions }, () => []),
      offer: (/** @type {any} */ { account, index }, /** @type {number} */ portion) => {
        state.room--
        ledger.expect(account, 1)
        note(portions > 1 ? `${index}.${portion}` : String(index))
      },
      hasRoom: () => state.room > 0,
      waitLimitMs: () => state.limitMs,
    }
    const plan = { periodMs: 1000, maxBehindMs: 5000, ...settings }
    const { time, ledger, writing } = writerOf(plan, servers, {
      timers,
      ...(stopsAtMs && { stopsAtMs: () => stopsAtMs }),
    })
    const fire = () => {
      for (const then of due.splice(0)) then()
    }
    const at = (/** @type {number} */ nowMs) => {
      time.nowMs = nowMs
      fire()
    }
    const steps = {
      start: () => {
        time.nowMs ||= 1
        writing.start()
      },
      at: (/** @type {string} */ ms) => at(Number(ms)),
      /** Without its timers: the process did nothing meanwhile. */
      late: (/** @type {string} */ ms) => (time.nowMs = Number(ms)),
      fire,
      room: (/** @type {string} */ count) => {
        state.room = Number(count)
        writing.progress()
      },
      roomLater: (/** @type {string} */ count) => (state.room = Number(count)),
      limit: (/** @type {string} */ ms) => (state.limitMs = Number(ms)),
      stop: writing.stop,
      settle: async (/** @type {string} */ limitMs) => {
        await writing.offered
        const settled = writing.settle(Number(limitMs), new AbortController().signal)
        const endMs = time.nowMs + Number(limitMs) + 100
        for (let nowMs = time.nowMs; nowMs < endMs; nowMs += 5) {
          at(nowMs)
          await turn()
        }
        note((await settled) ? 'settled' : 'not settled')
      },
    }
    const seen = () => {
      const { offered, dropped } = ledger.whole
      return `${taken()} [${offered} items, ${dropped} dropped]`.trim()
    }
    return { steps, seen }
  }

// Behind each row: the ticks that begin, and the items of all that were due. A tick has 10 items.
testScenes(sceneOf({}))(`
a tick waits for room, begins with the answer that makes it, and is dropped as a whole after its time
  start -> [0 items, 0 dropped]
  room 1 -> 0 [10 items, 0 dropped]
  at 1001, at 2001 -> [10 items, 0 dropped]
  at 2500, room 0 -> [20 items, 10 dropped]
  limit 5000, at 5001, room 9 -> 2, 3, 4, 5 [60 items, 10 dropped]

a run that is stopped begins what was due by then while it settles, and nothing that is due later
  limit 5000, start, at 1001, stop, roomLater 1, settle 2300 -> 0, not settled [20 items, 10 dropped]
`)

testScenes(sceneOf({ durationMs: 1000 }, { limitMs: 5000 }))(`
what still waits for room when a run ends is begun while there is time
  start, at 1001, roomLater 1, settle 200 -> 0, not settled [10 items, 0 dropped]

what still waits for room when a run ends, and finds none, is dropped
  start, at 1001, settle 200 -> settled [10 items, 10 dropped]
`)

testScenes(sceneOf({ maxBehindMs: 2000, durationMs: 6000 }, { room: 9 }))(`
a tick that comes later than the limit is not sent, and its items are dropped
  start -> 0 [10 items, 0 dropped]
  late 5001, fire -> 3, 4, 5 [60 items, 20 dropped]
  fire, fire, fire -> [60 items, 20 dropped]
`)

testScenes(sceneOf({ periodMs: 100 }, { room: 9, stopsAtMs: 1250 }))(`
a box that is late at the moment of a stop has the ticks until then, and no others
  late 1000, start -> 0 [10 items, 0 dropped]
  late 2000, fire -> 1, 2 [30 items, 0 dropped]
  fire, stop -> [30 items, 0 dropped]

a box that is stopped late has the ticks until the moment of the stop, and no others
  late 1000, start, late 2000, stop, fire -> 0, 1, 2 [30 items, 0 dropped]
  fire, stop -> [30 items, 0 dropped]

what ends a box before the moment of a stop begins no tick
  late 1000, start, late 1240, stop, fire -> 0 [10 items, 0 dropped]
`)

/** Fires timers each so many ms, and has room for one portion more at some of them. @param {ReturnType<ReturnType<typeof sceneOf>>} scene @param {[number, number]} endAndStep @param {(ms: number) => boolean} hasRoom */
const begunBy = ({ steps, seen }, [endMs, stepMs], hasRoom) => {
  steps.start()
  for (let ms = 1; ms < endMs; ms += stepMs) {
    steps.at(String(ms))
    steps.room(hasRoom(ms) ? '1' : '0')
  }
  steps.stop()
  return seen()
}

test('where some ticks have no room, every part of the interval is written as often', () => {
  const begun = begunBy(sceneOf({ chunks: 5, periodMs: 100 })(), [2002, 20], (ms) => ms % 100 === 1 && ms > 1)
  const times = [0, 0, 0, 0, 0]
  for (const index of begun.split(' [')[0].split(', ')) times[Number(index) % 5]++
  assert.deepEqual(times, [4, 4, 4, 4, 4])
})

test('a batch of a second of work or more is given up where it was begun, and the next one goes on there', () => {
  // One portion of five in 400 ms: two and a half of each batch, which are begun within a second.
  const begun = begunBy(sceneOf({}, { portions: 5 })(), [4000, 100], (ms) => ms % 400 === 1)
  // None is closed: none was answered.
  assert.equal(begun, '0.0, 0.1, 0.2, 1.3, 1.4, 1.0, 2.1, 2.2, 2.3, 3.4 [40 items, 0 dropped]')
})

test('a batch that is begun late is finished, if that takes less than a second', () => {
  const scene = sceneOf({ periodMs: 500 }, { portions: 3, limitMs: 500 })()
  const begun = begunBy(scene, [1600, 100], (ms) => ms > 400 && ms % 300 === 101)
  assert.match(begun, /^0\.0, 0\.1, 0\.2, 2\.0 \[/)
})
