import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coursePacing } from '../../lib/loads/course-pacing.js'
import { courseOf, duesOfCourse, scheduleOfCourse } from '../../lib/plan/course.js'
import { conductorOf } from '../../lib/run/conductor.js'
import { valuesOf } from '../helpers/table.js'

/** @import { Course } from '../../lib/plan/course.js' */
/** @import { SecondRecord } from '../../lib/run/conductor.js' */

const open = Number.POSITIVE_INFINITY

test('events are due at the rate of their stretch, and what it leaves is over when it ends', () => {
  const course = courseOf([{ fromMs: 0, toMs: 1000, rateHz: 2 }])
  const dues = duesOfCourse(course, (rateHz) => 1000 / rateHz)
  assert.deepEqual(dues.next(0), { dueMs: 0, isOver: false, isOpen: false })
  dues.take()
  assert.deepEqual(dues.next(10), { dueMs: 500, isOver: false, isOpen: false })
  assert.deepEqual(dues.next(1000), { dueMs: 500, isOver: true, isOpen: false })
  dues.take()
  assert.equal(dues.next(1200), null)
  course.add({ fromMs: 1500, toMs: 2500, rateHz: 4 })
  assert.deepEqual(dues.next(1400), { dueMs: 1500, isOver: false, isOpen: false })
})

test('the last stretch may become longer, also after all of it was begun', () => {
  const course = courseOf()
  const stretch = { fromMs: 0, toMs: 1000, rateHz: 2 }
  course.add(stretch)
  const dues = duesOfCourse(course, (rateHz) => 1000 / rateHz)
  dues.take()
  dues.take()
  assert.equal(dues.next(990), null)
  stretch.toMs = 2000
  assert.deepEqual(dues.next(991), { dueMs: 1000, isOver: false, isOpen: false })
})

test('without a rate an event is due at any moment of its stretch, and never after it', () => {
  const course = courseOf([
    { fromMs: 100, toMs: 200, rateHz: open },
    { fromMs: 300, toMs: 400, rateHz: 10 },
  ])
  const dues = duesOfCourse(course, (rateHz) => 1000 / rateHz)
  assert.equal(dues.next(50)?.dueMs, 100)
  for (let k = 0; k < 1000; k++) dues.take()
  const now = dues.next(150)
  assert.ok(now?.isOpen && now.dueMs <= 150 && now.dueMs > 149.99)
  assert.deepEqual(dues.next(200), { dueMs: 300, isOver: false, isOpen: false })
})

test('operations of clients: one without room is asked for again, and left when its stretch is over', () => {
  const course = courseOf([{ fromMs: 0, toMs: 1000, rateHz: 2 }])
  const schedule = scheduleOfCourse(course)
  assert.deepEqual([schedule.due(0, 0), schedule.due(0, 0), schedule.due(1, 0)], [0, 0, 500])
  assert.equal(schedule.isLeft(999), false)
  assert.equal(schedule.isLeft(1001), true)
  assert.deepEqual([schedule.due(2, 1001), schedule.isLeft(1001), schedule.isOver(2)], [open, false, false])
  course.add({ fromMs: 2000, toMs: 3000, rateHz: 10 })
  assert.deepEqual([schedule.due(2, 1001), schedule.due(3, 1001)], [2000, 2100])
})

/** Plays a course in virtual time; room(ms) says whether the servers have room then. @param {Course} course @param {number} endMs @param {(ms: number) => boolean} room */
const playedTicks = (course, endMs, room) => {
  let nowMs = 0
  let wake = () => {}
  let wakeMs = 0
  /** @type {{ i: number, dueMs: number, atMs: number, begun: boolean }[]} */
  const ticks = []
  const note = (/** @type {boolean} */ begun) => (/** @type {number} */ i, /** @type {number} */ dueMs) => {
    ticks.push({ i, dueMs, atMs: nowMs, begun })
    return { next: () => true, giveUp: () => 0 }
  }
  let inThisMs = 0
  const pacing = coursePacing({
    course,
    tickItems: 100,
    maxBehindMs: 5000,
    elapsed: () => nowMs,
    hasRoom: () => room(nowMs) && inThisMs++ < 1,
    begin: note(true),
    skip: note(false),
    timers: /** @type {any} */ ({
      setTimeout: (/** @type {() => void} */ then, ms = 0) => {
        wake = then
        wakeMs = nowMs + ms
      },
      clearTimeout: () => {
        wake = () => {}
      },
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
  assert.deepEqual(
    valuesOf(ticks, 'i'),
    ticks.map((_, at) => at),
  )
  const [first, second] = [
    ticks.filter(({ dueMs }) => dueMs < 1000),
    ticks.filter(({ dueMs }) => dueMs >= 1000),
  ]
  assert.deepEqual([first.length, second.length], [100, 20])
  assert.deepEqual(
    [first.filter(({ begun }) => begun).length, second.filter(({ begun }) => begun).length],
    [60, 20],
  )
  assert.ok(first.filter(({ begun }) => !begun).every(({ atMs }) => atMs >= 1000 && atMs <= 1005))
})

test('a stretch without a rate begins a tick whenever there is room', () => {
  const ticks = playedTicks(courseOf([{ fromMs: 10, toMs: 110, rateHz: open }]), 200, () => true)
  assert.equal(ticks.length, 100)
  assert.ok(ticks.every(({ dueMs, atMs, begun }) => begun && Math.abs(dueMs - atMs) < 0.001))
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
    machine: /** @type {any} */ (endless()),
    judge: () => ({ passed: true, achieved: 0 }),
    stop: new AbortController().signal,
    onStep: () => {},
    clock: () => nowMs,
    wait: async (ms) => {
      nowMs += ms
      if (nowMs > 12_000) stopRun()
    },
  })
  const whole = { offered: 0, acked: 0, failed: 0, uncertain: 0, dropped: 0, unsettled: 0 }
  let stops = 0
  const answer = await conductor.conduct({
    writing: {
      elapsed: () => nowMs,
      stop: () => {
        stops++
      },
      offered: new Promise((resolve) => {
        stopRun = () => resolve(undefined)
      }),
    },
    records: /** @type {any} */ ({ ledger: { whole }, restart() {} }),
    window: { reopen: async () => {} },
  })
  assert.deepEqual([answer, asked, conductor.seconds.length, stops], [null, 3, 10, 1])
})

/**
 * Plays one step whose seconds each begin with the backlog of the one before.
 * @param {(dueMs: number) => number} waitMs of what is due then
 * @param {number} limitMs
 */
const tried = async (waitMs, limitMs) => {
  let nowMs = 0
  /** @type {import('../../lib/run/conductor.js').SecondRecord[]} */
  const seen = []
  /** @type {{ dueMs: number, atMs: number }[]} */
  const open = []
  const whole = { offered: 0, acked: 0, failed: 0, uncertain: 0, dropped: 0, unsettled: 0 }
  function* machine() {
    yield/** @type {const} */ ({ rate: 100, seconds: 3, phase: 'measure', tries: true, between: null })
  }
  const conductor = conductorOf({
    machine: machine(),
    judge: (second) => {
      seen.push(second)
      return { passed: true, achieved: 0 }
    },
    behindMs: limitMs,
    stop: new AbortController().signal,
    onStep: () => {},
    clock: () => nowMs,
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
  const dues = duesOfCourse(conductor.course, (rateHz) => 1000 / rateHz)
  await conductor.conduct({
    writing: { elapsed: () => nowMs, stop: () => {}, offered: new Promise(() => {}) },
    records: /** @type {any} */ ({ ledger: { whole }, restart() {} }),
    window: { reopen: async () => {} },
  })
  return seen.map(({ items, backlog_grows: grows }) => [items.offered, grows])
}

test('a step ends with the second whose last items waited too long, and a backlog that grows counts against it', async () => {
  const steady = await tried(() => 5, 100)
  assert.deepEqual(
    steady.map(([, grows]) => grows),
    [false, false, false],
  )
  assert.equal(
    steady.reduce((sum, [offered]) => sum + Number(offered), 0),
    300,
  )
  // 2 % too much: each second the wait is 20 ms longer, far below the limit.
  const slow = await tried((dueMs) => 5 + dueMs * 0.02, 500)
  assert.deepEqual(
    slow.map(([, grows]) => grows),
    [false, true, true],
  )
  // 20 % too much: the limit is passed in the first second, which is then the only one.
  assert.deepEqual(await tried((dueMs) => 5 + dueMs * 0.2, 100), [[100, true]])
})
