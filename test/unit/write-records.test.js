import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordsOf } from '../../lib/loads/write-records.js'
import { samplePlan } from '../helpers/sample-plan.js'

test('a tick that is late at several agents is one late tick', (t) => {
  const agents = [1, 2, 3, 4, 5, 6, 7, 8]
  const plan = samplePlan({ quantity: 80, totalAgents: 8 }, { agents })
  const records = recordsOf(plan)
  t.after(records.close)
  const tick = (/** @type {number} */ index, /** @type {number} */ behindMs, measured = true) => {
    const dueMs = index * 1000
    records.begun(/** @type {any} */ ({ index, dueMs, firstMs: dueMs + behindMs, account: { measured } }))
  }
  for (const _ of agents) tick(0, 500, false)
  for (const _ of agents) tick(1, 20)
  for (const agent of agents) tick(2, agent < 8 ? 0.1 : 11)
  for (const _ of agents) tick(3, 9)
  assert.equal(records.lateTicks(), 2)
  assert.ok(Number(records.lateOfSecond()?.max) >= 19_900)
})
