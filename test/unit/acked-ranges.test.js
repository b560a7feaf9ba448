import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ackedRanges } from '../../lib/probes/acked-ranges.js'
import { ledgerOf } from '../../lib/probes/ledger.js'
import { ackedParts, checkWritten, serverTimes } from '../../lib/run/check-written.js'
import { samplePlan } from '../helpers/sample-plan.js'

test('ranges that touch become one, in whatever order they come', () => {
  const ranges = ackedRanges()
  const lose = (/** @type {number} */ first, /** @type {number[]} */ worst) =>
    ranges.closed({ first, count: worst.length, worst: Uint8Array.from(worst) })
  lose(21, [1, 1, 0, 2])
  lose(1, [0, 0, 3])
  lose(11, [4, 4, 4, 4, 4, 4, 4, 4, 4, 4])
  const { not_acked: kept, complete } = ranges.written()
  assert.deepEqual([kept.join(' '), complete], ['3,3 11,22 24,24', true])
})

test('what exceeds its memory is not complete, and says so', () => {
  const ranges = ackedRanges()
  for (let n = 0; n < 600_000; n++) ranges.closed({ first: 3 * n, count: 1, worst: Uint8Array.of(1) })
  const { not_acked: kept, complete } = ranges.written()
  assert.deepEqual([complete, kept.length], [false, 500_000])
})

test('the ledger keeps them of a --once run only, and the parts are all that was acknowledged', () => {
  const agents = [
    { agent: 2, first: 6, count: 5 },
    { agent: 3, first: 11, count: 6 },
  ]
  assert.equal(ledgerOf({ agents }).written(), null)
  const ledger = ledgerOf({ agents, once: true })
  // Two chunks an interval of 16 items, three ticks: agent 2 has 6-7 8-10 | 22-23, agent 3 11-13 14-16 | 27-29.
  const ticks = '2 6 2, 3 11 3, 2 8 3, 3 14 3, 2 22 2, 3 27 3'.split(', ').map((terms) => {
    const [agent, first, count] = terms.split(' ').map(Number)
    return ledger.open({ agent, first, count, measured: true })
  })
  const batch = { first: 8, members: Uint32Array.of(0, 1, 2), from: Uint32Array.of(0, 1, 2, 3) }
  for (const account of ticks) ledger.expect(account, 3)
  for (const [i, account] of ticks.entries()) {
    if (i === 2) {
      ledger.answered(account, 2)
      ledger.lose(account, batch, 1, 2, 'uncertain', 'CLOSED')
    } else ledger.answered(account, 3)
    ledger.seal(account)
  }
  const written = ledger.written()
  const ticksOf = [2, 3].map((agent) => ({ agent, ticks: 3 }))
  assert.deepEqual(written, { agents: ticksOf, not_acked: [[9, 9]], complete: true })
  const plan = { agents, chunks: 2, quantity: 16, spacingMs: 500, rate: null, pacing: 'open' }
  const items = [...ackedParts(plan, /** @type {any} */ (written), 1000)].flatMap(({ first, last, atMs }) =>
    Array.from({ length: last - first + 1 }, (_, i) => `${first + i}@${atMs}`),
  )
  assert.deepEqual(items, [
    ...['6@1000', '7@1000', '11@1000', '12@1000', '13@1000'],
    ...['8@1500', '10@1500', '14@1500', '15@1500', '16@1500'],
    ...['22@2000', '23@2000', '27@2000', '28@2000', '29@2000'],
  ])
})

describe('whether the time of an item is over', () => {
  const started = '2026-11-22T10:00:00.900Z'
  const startedMs = Date.parse(started)
  const plan = { ...samplePlan({ strategy: 'list', quantity: 4, once: true, ttlS: 3, warmUpMs: 0 }), rate: 4 }
  const [{ agent }] = plan.agents
  const written = { agents: [{ agent, ticks: 1 }], not_acked: [], complete: true }
  /** Answers each key with this. @param {(sink: any, i: number) => void} answer @returns {any} */
  const driverOf = (answer) => ({
    ask: async () => {},
    values: async (/** @type {any[]} */ ...[, places, , sink]) => {
      for (const i of places) answer(sink, i)
      return {}
    },
  })
  /** What is found missing so long after the start, by a server whose clock is ahead of that of this box. */
  /** @param {number} afterMs @param {{ aheadMs: number, recordedMs?: number | null }} clocks */
  const checkedAfter = async (afterMs, { aheadMs, recordedMs }) => {
    const nowMs = startedMs + afterMs - aheadMs + (recordedMs ?? aheadMs)
    const ofServers = nowMs + aheadMs
    const [s, us] = [Math.floor(ofServers / 1000), (ofServers % 1000) * 1000]
    const time = async () => /** @type {[number, number]} */ ([s, us])
    const recorded = { started, written: { ...written, servers_ahead_ms: recordedMs } }
    const times = await serverTimes(recorded, { servers: ['a'], time, epochMs: () => nowMs })
    const driver = driverOf((sink, i) => sink.nil(i))
    const { missing, expired } = await checkWritten({ plan, written, ...times, driver })
    return { missing, expired }
  }

  // The box that wrote and the one that verifies may have other clocks than the servers.
  for (const clocks of [
    { aheadMs: 0 },
    { aheadMs: 400 },
    { aheadMs: -700, recordedMs: null },
    { aheadMs: 400, recordedMs: -600 },
    { aheadMs: 0, recordedMs: 700 },
  ])
    test(`${JSON.stringify(clocks)}`, async () => {
      assert.deepEqual(await checkedAfter(2800, clocks), { missing: 4, expired: 0 })
      assert.deepEqual(await checkedAfter(3010, clocks), { missing: 0, expired: 4 })
    })

  test('other bytes are lost, and not present', async () => {
    const bytes = Buffer.from('other bytes')
    const driver = driverOf((sink, i) => sink.value(i, bytes, 0, bytes.length))
    const found = await checkWritten({ plan, written, startedMs, now: () => startedMs + 1000, driver })
    assert.deepEqual([found.acked, found.present, found.corrupt, found.lost], [4, 0, 4, 4])
  })
})
