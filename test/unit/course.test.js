import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coursePacing } from '../../lib/loads/course-pacing.js'
import { scheduleOfPart } from '../../lib/loads/parts.js'
import { courseOf, duesOfCourse, scheduleOfCourse } from '../../lib/plan/course.js'
import { conductorOf } from '../../lib/run/conductor.js'
import { valuesOf } from '../helpers/table.js'

/** @import { Course } from '../../lib/plan/course.js' */
/** @import { SecondRecord } from '../../lib/run/conductor.js' */

const open = Number.POSITIVE_INFINITY
const due = (/** @type {number} */ dueMs, isOver = false) => ({ dueMs, isOver, isOpen: false })
const duesOf = (/** @type {ReturnType<typeof courseOf>} */ course) =>
  duesOfCourse(course, (rateHz) => 1000 / rateHz)

test('events are due at the rate of their stretch, and what it leaves is over when it ends', () => {
  const course = courseOf([{ fromMs: 0, toMs: 1000, rateHz: 2 }])
  const dues = duesOf(course)
  assert.deepEqual(dues.next(0), due(0))
  dues.take()
  assert.deepEqual(dues.next(10), due(500))
  assert.deepEqual(dues.next(1000), due(500, true))
  dues.take()
  assert.equal(dues.next(1200), null)
  course.add({ fromMs: 1500, toMs: 2500, rateHz: 4 })
  assert.deepEqual(dues.next(1400), due(1500))
})

test('the last stretch may become longer, also after all of it was begun', () => {
  const stretch = { fromMs: 0, toMs: 1000, rateHz: 2 }
  const course = courseOf()
  course.add(stretch)
  const dues = duesOf(course)
  dues.take()
  dues.take()
  assert.equal(dues.next(990), null)
  stretch.toMs = 2000
  assert.deepEqual(dues.next(991), due(1000))
})

test('without a rate an event is due at any moment of its stretch, and never after it', () => {
  const course = courseOf([
    { fromMs: 100, toMs: 200, rateHz: open },
    { fromMs: 300, toMs: 400, rateHz: 10 },
  ])
  const dues = duesOf(course)
  assert.equal(dues.next(50)?.dueMs, 100)
  for (let k = 0; k < 1000; k++) dues.take()
  const now = dues.next(150)
  assert.ok(now?.isOpen && now.dueMs <= 150 && now.dueMs > 149.99)
  assert.deepEqual(dues.next(200), due(300))
})

test('operations of clients: one without room is asked for again, and left when its stretch is over', () => {
  const course = courseOf([{ fromMs: 0, toMs: 1000, rateHz: 2 }])
  const schedule = scheduleOfCourse(course)
  assert.deepEqual([schedule.due(0, 0), schedule.due(0, 0), schedule.due(1, 0)], [0, 0, 500])
  assert.deepEqual([schedule.isLeft(999), schedule.isLeft(1001)], [false, true])
  assert.deepEqual([schedule.due(2, 1001), schedule.isLeft(1001), schedule.isOver(2)], [open, false, false])
  course.add({ fromMs: 2000, toMs: 3000, rateHz: 10 })
  assert.deepEqual([schedule.due(2, 1001), schedule.due(3, 1001)], [2000, 2100])
})

for (const of of [2, 3, 8])
  test(`${of} threads of clients have the operations of one, each once, where the rate changes`, () => {
    const rates = Array.from({ length: 9 }, (_, i) => ({
      fromMs: i * 1000,
      toMs: (i + 1) * 1000,
      rateHz: 20.5 + i,
    }))
    const duesIn = (/** @type {{ number: number, of: number }} */ part) => {
      const { due, isOver } = scheduleOfPart(scheduleOfCourse(courseOf(rates, true)), part)
      /** @type {number[]} */
      const all = []
      for (let i = 0; !isOver(i); i++) all.push(due(i, all.at(-1) ?? 0))
      return all
    }
    const one = duesIn({ number: 0, of: 1 })
    const together = Array.from({ length: of }, (_, number) => duesIn({ number, of })).flat()
    assert.deepEqual(
      together.sort((a, b) => a - b),
      one,
    )
    // Of 20.5 a second, the 21st begins within it.
    assert.equal(one.length, 9 * 25)
  })

/** Plays a course in virtual time; room(ms) says whether the servers have room then. @param {Course} course @param {number} endMs @param {(ms: number) => boolean} room */
const playedTicks = (course, endMs, room) => {
  let nowMs = 0
  let wake = () => {}
  let wakeMs = 0
  const ticks = /** @type {{ i: number, dueMs: number, atMs: number, begun: boolean }[]} */ ([])
  const note = (/** @type {boolean} */ begun) => (/** @type {number} */ i, /** @type {number} */ dueMs) => {
    ticks.push({ i, dueMs, atMs: nowMs, begun })
    return { next: () => true, giveUp: () => 0 }
  }
  let inThisMs = 0
  const pacing = coursePacing({
    plan: { course, tickItems: 100, maxBehindMs: 5000 },
    elapsed: () => nowMs,
    hasRoom: () => room(nowMs) && inThisMs++ < 1,
    ticks: { begin: note(true), skip: note(false) },
    timers: /** @type {any} */ ({
      setTimeout: (/** @type {() => void} */ then, ms = 0) => {
        wake = then
        wakeMs = nowMs + ms
      },
      clearTimeout: () => (wake = () => {}),
    }),
  })
  pacing.start()
  for (; nowMs < endMs; nowMs++) {
    inThisMs = 0
    if (nowMs >= wakeMs) wake()
    pacing.more()
  }
  pacing.stop()
  return ticks
}

test('ticks of a stretch that the servers had no room for are dropped when it ends, each counted once', () => {
  const course = courseOf([
    { fromMs: 0, toMs: 1000, rateHz: 10_000 },
    { fromMs: 1000, toMs: 2000, rateHz: 2000 },
  ])
  const ticks = playedTicks(course, 2100, (ms) => ms < 600 || ms >= 1010)
  assert.deepEqual(valuesOf(ticks, 'i'), [...ticks.keys()])
  const split = [ticks.filter(({ dueMs }) => dueMs < 1000), ticks.filter(({ dueMs }) => dueMs >= 1000)]
  const counts = split.map((those) => [those.length, those.filter(({ begun }) => begun).length])
  assert.deepEqual(counts.flat(), [100, 60, 20, 20])
  const dropped = split[0].filter(({ begun }) => !begun)
  assert.ok(dropped.every(({ atMs }) => atMs >= 1000 && atMs <= 1005))
})

test('a stretch without a rate begins a tick whenever there is room', () => {
  const ticks = playedTicks(courseOf([{ fromMs: 10, toMs: 110, rateHz: open }]), 200, () => true)
  assert.equal(ticks.length, 100)
  assert.ok(ticks.every(({ dueMs, atMs, begun }) => begun && Math.abs(dueMs - atMs) < 0.001))
})

const noItems = () => ({ offered: 0, acked: 0, failed: 0, uncertain: 0, dropped: 0, unsettled: 0 })
const judged = () => ({ passed: true, achieved: 0 })
const steps = { judge: judged, stop: new AbortController().signal, onStep: () => {} }
/** Where the conductor finds what was counted. @param {ReturnType<typeof noItems>} whole */
const kept = (whole) => ({
  records: /** @type {any} */ ({ ledger: { whole }, restart() {} }),
  window: { reopen: async () => {} },
})

test('a search ends without an answer when its run is stopped, by a guard or by hand', async () => {
  let nowMs = 0
  let stopRun = () => {}
  let asked = 0
  function* endless() {
    for (;;) {
      asked++
      yield/** @type {const} */ ({ rate: 100, seconds: 5, phase: 'measure', between: null })
    }
  }
  const conductor = conductorOf({
    ...{ ...steps, machine: /** @type {any} */ (endless()), clock: () => nowMs },
    wait: async (ms) => {
      nowMs += ms
      if (nowMs > 12_000) stopRun()
    },
  })
  let stops = 0
  const stop = () => void stops++
  const offered = new Promise((resolve) => (stopRun = () => resolve(undefined)))
  const writing = { elapsed: () => nowMs, stop, offered }
  const answer = await conductor.conduct({ writing, ...kept(noItems()) })
  assert.deepEqual([answer, asked, conductor.seconds.length, stops], [null, 3, 10, 1])
})

/**
 * Plays one step whose seconds each begin with the backlog of the one before.
 * @param {(dueMs: number) => number} waitMs of what is due then
 * @param {number} limitMs
 */
const tried = async (waitMs, limitMs) => {
  let nowMs = 0
  const seen = /** @type {SecondRecord[]} */ ([])
  const open = /** @type {{ dueMs: number, atMs: number }[]} */ ([])
  const whole = noItems()
  function* machine() {
    yield/** @type {const} */ ({ rate: 100, seconds: 3, phase: 'measure', tries: true, between: null })
  }
  const conductor = conductorOf({
    ...{ ...steps, machine: machine(), clock: () => nowMs, behindMs: limitMs },
    judge: (second) => {
      seen.push(second)
      return steps.judge()
    },
    wait: async (ms) => {
      nowMs += ms
      for (; dues.next(nowMs) && Number(dues.next(nowMs)?.dueMs) <= nowMs; dues.take()) {
        const dueMs = Number(dues.next(nowMs)?.dueMs)
        whole.offered++
        open.push({ dueMs, atMs: dueMs + waitMs(dueMs) })
      }
      while (open.length > 0 && open[0].atMs <= nowMs) {
        const { dueMs, atMs } = /** @type {typeof open[0]} */ (open.shift())
        whole.acked++
        conductor.tap.answered(dueMs, dueMs, atMs, 1)
      }
    },
  })
  const dues = duesOf(conductor.course)
  const writing = { elapsed: () => nowMs, stop: () => {}, offered: new Promise(() => {}) }
  await conductor.conduct({ writing, ...kept(whole) })
  return seen.map(({ items, backlog_grows: grows }) => [items.offered, grows])
}

test('a step ends with the second whose last items waited too long, and a backlog that grows counts against it', async () => {
  const steady = await tried(() => 5, 100)
  const growth = (/** @type {typeof steady} */ seconds) => seconds.map(([, grows]) => grows)
  const offered = steady.reduce((sum, [items]) => sum + Number(items), 0)
  assert.deepEqual([growth(steady), offered], [[false, false, false], 300])
  // 2 % too much: each second the wait is 20 ms longer, far below the limit.
  assert.deepEqual(growth(await tried((dueMs) => 5 + dueMs * 0.02, 500)), [false, true, true])
  // 20 % too much: the limit is passed in the first second, which is then the only one.
  assert.deepEqual(await tried((dueMs) => 5 + dueMs * 0.2, 100), [[100, true]])
})
