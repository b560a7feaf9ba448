// Counts that threads share are those of the thread that counts, at any moment.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerOf } from '../../lib/probes/ledger.js'
import { operationsOf } from '../../lib/probes/operations.js'
import { keptIn, memoryFor, summed } from '../../lib/probes/shared-counts.js'

test('a ledger in shared memory counts as one of its own, and another view of the memory sees it', () => {
  const plan = { agents: [{ agent: 3 }, { agent: 4 }] }
  const memory = memoryFor((keep) => ledgerOf(plan, undefined, keep))
  const [ledger, seen] = [1, 2].map(() => ledgerOf(plan, undefined, keptIn(memory)))
  const own = ledgerOf(plan)
  for (const one of [ledger, own]) {
    const account = one.open({ agent: 4, first: 1, count: 10, measured: true })
    one.expect(account, 10)
    one.answered(account, 6, 6)
    one.commands.sent += 10
    one.skip(one.open({ agent: 3, first: 1, count: 5, measured: false }))
  }
  for (const name of /** @type {const} */ (['whole', 'measured', 'commands']))
    assert.deepEqual({ ...seen[name] }, { ...own[name] }, name)
  assert.deepEqual({ ...seen.byAgent.get(4) }, { ...own.byAgent.get(4) })
  assert.equal(seen.whole.acked, 6)
  const both = summed([seen.whole, own.whole])
  const sum = { offered: 30, acked: 12, failed: 0, uncertain: 0, dropped: 10, unsettled: 0 }
  assert.deepEqual({ ...both }, sum)
  const before = both.offered
  ledger.skip(ledger.open({ agent: 3, first: 1, count: 5, measured: false }))
  assert.equal(both.offered, before + 5)
})

test('operations too', () => {
  const isMeasured = () => true
  const memory = memoryFor((keep) => operationsOf({ isMeasured, keep }))
  const [one, seen] = [1, 2].map(() => operationsOf({ isMeasured, keep: keptIn(memory) }))
  one.offered(3, true)
  one.acked(2, 2)
  one.lost('failed', 'ERR', true)
  assert.deepEqual({ ...seen.whole }, { ...one.whole })
  assert.equal(seen.byAgent.get(1)?.failed, 1)
})
