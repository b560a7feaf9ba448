import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measuringWindow } from '../../lib/run/window.js'

test('the counters are read a little before the first measured tick, and what is acknowledged counts from there', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let nowMs = 0
  /** @type {number[]} */
  const marks = []
  const ledger = { whole: { acked: 0 } }
  const window = measuringWindow(
    /** @type {any} */ ({
      plan: { warmUpMs: 1000 },
      ledger,
      onOpen: () => void marks.push(nowMs),
      elapsed: () => nowMs,
    }),
  )
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
  assert.deepEqual([window.covers(999), window.covers(1000)], [false, true])
})

test('a backlog of more than a second that began in the warm-up is reported when it ends', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const reported = (/** @type {number} */ acked) => {
    /** @type {string[]} */
    const texts = []
    const window = measuringWindow(
      /** @type {any} */ ({
        plan: { warmUpMs: 2000, nominalHz: 5000 },
        ledger: { whole: { offered: 10_000, acked, failed: 0, uncertain: 0, dropped: 0, unsettled: 0 } },
        onOpen: () => {},
        onBacklog: (/** @type {string} */ text) => texts.push(text),
        elapsed: () => 0,
      }),
    )
    window.start()
    t.mock.timers.tick(2000)
    return texts
  }
  assert.deepEqual(reported(5000), [])
  assert.deepEqual(reported(4999), [
    'the warm-up is over, and 5001 items wait already: the backlog began in it',
  ])
})
