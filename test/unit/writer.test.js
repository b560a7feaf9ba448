import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerOf } from '../../lib/measure/ledger.js'
import { writer } from '../../lib/run/writer.js'
import { samplePlan } from '../helpers/sample-plan.js'

test('time stands at 0 until the start, so that samples of before and after can be subtracted', () => {
  const plan = samplePlan({ quantity: 10 })
  let nowMs = 5000
  const driver = /** @type {any} */ ({ offer: () => {} })
  const writing = writer({ plan, driver, ledger: ledgerOf(plan), clock: () => nowMs, epochMs: Date.now })
  assert.equal(writing.elapsed(), 0)
  writing.start()
  nowMs += 7
  assert.equal(writing.elapsed(), 7)
  writing.stop()
})
