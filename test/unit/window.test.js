import assert from 'node:assert/strict'
import { test } from 'node:test'
import { windowOf } from '../../lib/run/window.js'

test('the counters are read a little before the first measured tick, and what was carried counts from there', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let nowMs = 0
  /** @type {number[]} */
  const marks = []
  const ledger = { commands: { itemsCarried: 0 } }
  const window = windowOf(
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
  ledger.commands.itemsCarried = 300
  pass(1)
  assert.deepEqual([window.phase(), marks], ['measuring', [975]])
  ledger.commands.itemsCarried = 400
  assert.equal(window.carried(), 100)
  assert.deepEqual([window.covers(999), window.covers(1000)], [false, true])
})
