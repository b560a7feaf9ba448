import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measuringWindow } from '../../lib/run/window.js'

test('the counters are read a little before the first measured tick; what is acknowledged, and what is due, counts from there to the end', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let nowMs = 0
  const marks = /** @type {number[]} */ ([])
  const ledger = { whole: { acked: 0 } }
  const onOpen = () => void marks.push(nowMs)
  const given = { plan: { warmUpMs: 1000 }, ledger, onOpen, elapsed: () => nowMs }
  const window = measuringWindow(/** @type {any} */ (given))
  const pass = (/** @type {number} */ ms) => {
    nowMs += ms
    t.mock.timers.tick(ms)
  }
  window.start()
  pass(974)
  assert.deepEqual([window.phase(), marks], ['warm-up', []])
  ledger.whole.acked = 100
  pass(1)
  assert.deepEqual([window.phase(), marks], ['measuring', [975]])
  assert.equal(window.acked(), 0)
  ledger.whole.acked = 150
  assert.equal(window.acked(), 50)
  nowMs = 5000
  window.close()
  assert.deepEqual([999, 1000, 4999, 5000].map(window.covers), [false, true, true, false])
})

test('a backlog of more than a second that began in the warm-up is reported when it ends', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const reported = (/** @type {number} */ acked) => {
    const texts = /** @type {string[]} */ ([])
    const whole = { offered: 10_000, acked, failed: 0, uncertain: 0, dropped: 0, unsettled: 0 }
    const given = {
      plan: { warmUpMs: 2000, nominalHz: 5000 },
      ledger: { whole },
      onOpen: () => {},
      elapsed: () => 0,
    }
    const onBacklog = (/** @type {string} */ text) => texts.push(text)
    measuringWindow(/** @type {any} */ ({ ...given, onBacklog })).start()
    t.mock.timers.tick(2000)
    return texts
  }
  assert.deepEqual(reported(5000), [])
  const begun = 'the warm-up is over, and 5001 items wait already: the backlog began in it'
  assert.deepEqual(reported(4999), [begun])
})
