import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stopOfBox, stoppingOf } from '../../lib/fleet/stopping.js'

/** @import { TestContext } from 'node:test' */

const none = { spacingMs: 0, staggerMs: 0 }

test('all boxes stop between the same two ticks, whenever each of them hears of it', () => {
  const cases = /** @type {const} */ ([
    // Ticks each 100 ms from 1000 on: the last one is at 3500.
    [{ startMs: 1000, stopMs: 3456 }, { spacingMs: 100, staggerMs: 0 }, 3550],
    [{ startMs: 1000, stopMs: 3500 }, { spacingMs: 100, staggerMs: 0 }, 3550],
    [{ startMs: 1000, stopMs: 3501 }, { spacingMs: 100, staggerMs: 0 }, 3650],
    // The ticks of this box are 25 ms later, and so is its stop.
    [{ startMs: 1000, stopMs: 3456 }, { spacingMs: 100, staggerMs: 25 }, 3575],
    // Readers have no ticks; those that are far apart are not waited for.
    [{ startMs: 1000, stopMs: 3456 }, none, 3456],
    [{ startMs: 1000, stopMs: 3456 }, { spacingMs: 60_000, staggerMs: 0 }, 3456],
    // A run that has not begun by then never does, and one that begins before runs until then.
    [{ startMs: null, stopMs: 3456 }, { spacingMs: 100, staggerMs: 0 }, 3456],
    [{ startMs: 3456, stopMs: 3456 }, { spacingMs: 100, staggerMs: 0 }, 3456],
    [{ startMs: 3400, stopMs: 3456 }, { spacingMs: 100, staggerMs: 0 }, 3550],
  ])
  for (const [moments, ticks, ms] of cases)
    assert.equal(stopOfBox(moments, ticks), ms, JSON.stringify([moments, ticks]))
})

/** A control that is away as long as it should be, and what it was told. @param {TestContext} t */
const played = (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 10_000 })
  /** @type {string[]} */
  const told = []
  /** @type {string[]} */
  const said = []
  const control = {
    isAway: false,
    stop: async (/** @type {string} */ who) => {
      if (control.isAway) throw new Error('away')
      told.push(who)
    },
  }
  const nowMs = () => Date.now()
  const stopping = stoppingOf({ control, nowMs, ticks: () => none, say: (line) => said.push(line) })
  return { control, told, said, stopping }
}

test('a box that hears of a stop says so once, and stops at its moment', (t) => {
  const { stopping, said } = played(t)
  const known = { stop: 'ann@host', startMs: 5000, stopMs: 12_000 }
  stopping.heard({ stop: '', startMs: 5000, stopMs: null })
  assert.equal(stopping.atMs(), Number.POSITIVE_INFINITY)
  stopping.heard(known)
  assert.equal(stopping.atMs(), 12_000)
  t.mock.timers.tick(1000)
  stopping.heard(known)
  t.mock.timers.tick(999)
  assert.equal(stopping.signal.aborted, false)
  t.mock.timers.tick(1)
  assert.equal(stopping.signal.aborted, true)
  assert.deepEqual(said, ['stopped by ann@host: all boxes stop in 2.0 s'])
})

test('a box that hears of a stop when it is over stops at once', (t) => {
  const { stopping, said } = played(t)
  stopping.heard({ stop: 'ann@host', startMs: 5000, stopMs: 9000 })
  assert.equal(stopping.signal.aborted, true)
  assert.deepEqual(said, ['stopped by ann@host'])
})

test('where the control is away the box that stops all stops alone, and the others as soon as the control answers', async (t) => {
  const { control, stopping, told } = played(t)
  control.isAway = true
  await stopping.all('host')
  await stopping.again(false)
  assert.deepEqual([told, stopping.signal.aborted], [[], false])
  t.mock.timers.tick(2000)
  assert.equal(stopping.signal.aborted, true)
  control.isAway = false
  await stopping.again(false)
  await stopping.again(false)
  assert.deepEqual(told, ['host'])
})

test('a control that lost its data gets the stop again', async (t) => {
  const { stopping, told } = played(t)
  stopping.heard({ stop: 'ann@host', startMs: 5000, stopMs: 12_000 })
  await stopping.again(false)
  assert.deepEqual(told, [])
  await stopping.again(true)
  assert.deepEqual(told, ['ann@host'])
})

test('a box that is closed does not stop any more', (t) => {
  const { stopping } = played(t)
  stopping.heard({ stop: 'ann@host', startMs: 5000, stopMs: 12_000 })
  stopping.close()
  t.mock.timers.tick(5000)
  assert.equal(stopping.signal.aborted, false)
})
