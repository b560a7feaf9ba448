import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stopOfBox, stoppingOf } from '../../lib/fleet/stopping.js'
import { rowsOf } from '../helpers/table.js'

/** @import { TestContext } from 'node:test' */

const stopAt = (/** @type {number} */ stopMs) => ({ stop: 'ann@host', startMs: 5000, stopMs })

// When a run started, the moment of the stop, a box's spacing and stagger of ticks, and when that box stops.
for (const [what, startMs, stopMs, spacingMs, staggerMs, ms] of rowsOf(`
the last tick is at 3500 -> 1000 -> 3456 -> 100 -> 0 -> 3550
a stop at a tick -> 1000 -> 3500 -> 100 -> 0 -> 3550
a stop just behind a tick -> 1000 -> 3501 -> 100 -> 0 -> 3650
the ticks of this box are 25 ms later, and so is its stop -> 1000 -> 3456 -> 100 -> 25 -> 3575
readers have no ticks -> 1000 -> 3456 -> 0 -> 0 -> 3456
ticks that are far apart are not waited for -> 1000 -> 3456 -> 60000 -> 0 -> 3456
a run that has not begun by then never does -> null -> 3456 -> 100 -> 0 -> 3456
a run that would begin then does not -> 3456 -> 3456 -> 100 -> 0 -> 3456
a run that begins before runs until then -> 3400 -> 3456 -> 100 -> 0 -> 3550
`))
  test(`all boxes stop between the same two ticks: ${what}`, () => {
    const moments = { startMs: JSON.parse(startMs), stopMs: Number(stopMs) }
    const ticks = { spacingMs: Number(spacingMs), staggerMs: Number(staggerMs) }
    assert.equal(stopOfBox(moments, ticks), Number(ms))
  })

/** A control that is away as long as it should be, and what it was told. @param {TestContext} t */
const played = (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 10_000 })
  const told = /** @type {string[]} */ ([])
  const said = /** @type {string[]} */ ([])
  const control = {
    isAway: false,
    stop: async (/** @type {string} */ who) => {
      if (control.isAway) throw new Error('away')
      told.push(who)
    },
  }
  const ticks = () => ({ spacingMs: 0, staggerMs: 0 })
  const stopping = stoppingOf({ control, nowMs: () => Date.now(), ticks, say: (line) => said.push(line) })
  return { control, told, said, stopping }
}

test('a box that hears of a stop says so once, and stops at its moment', (t) => {
  const { stopping, said } = played(t)
  stopping.heard({ stop: '', startMs: 5000, stopMs: null })
  assert.equal(stopping.atMs(), Number.POSITIVE_INFINITY)
  stopping.heard(stopAt(12_000))
  assert.equal(stopping.atMs(), 12_000)
  t.mock.timers.tick(1000)
  stopping.heard(stopAt(12_000))
  t.mock.timers.tick(999)
  assert.equal(stopping.signal.aborted, false)
  t.mock.timers.tick(1)
  assert.equal(stopping.signal.aborted, true)
  assert.deepEqual(said, ['stopped by ann@host: all boxes stop in 2.0 s'])
})

test('a box that hears of a stop when it is over stops at once', (t) => {
  const { stopping, said } = played(t)
  stopping.heard(stopAt(9000))
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
  stopping.heard(stopAt(12_000))
  await stopping.again(false)
  assert.deepEqual(told, [])
  await stopping.again(true)
  assert.deepEqual(told, ['ann@host'])
})

test('a box that is closed does not stop any more', (t) => {
  const { stopping } = played(t)
  stopping.heard(stopAt(12_000))
  stopping.close()
  t.mock.timers.tick(5000)
  assert.equal(stopping.signal.aborted, false)
})
