import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planOf } from '../../lib/loads/plan.js'
import { recordsOf } from '../../lib/loads/write-records.js'
import { readSettings } from '../../lib/options/read-settings.js'

test('a tick that is late at several agents is one late tick', (t) => {
  const argv = ['-q', '80', '-t', '8', '--host', '127.0.0.1']
  const settings = readSettings({ program: 'producer', argv, env: {} })
  assert.ok('given' in settings)
  const agents = [1, 2, 3, 4, 5, 6, 7, 8]
  const plan = planOf(settings, { agents, masters: 1, cluster: false, variant: null })
  const records = recordsOf(plan)
  t.after(records.close)
  const tick = (/** @type {number} */ index, /** @type {number} */ behindMs, measured = true) =>
    records.begun(
      /** @type {any} */ ({
        index,
        dueMs: index * 1000,
        firstMs: index * 1000 + behindMs,
        account: { measured },
      }),
    )
  for (const _ of agents) tick(0, 500, false)
  for (const _ of agents) tick(1, 20)
  for (const agent of agents) tick(2, agent < 8 ? 0.1 : 11)
  for (const _ of agents) tick(3, 9)
  assert.equal(records.lateTicks(), 2)
  assert.ok(Number(records.lateTurn()?.max) >= 19_900)
})
