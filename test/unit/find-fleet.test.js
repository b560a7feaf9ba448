// A search on a fleet: what boxes say of a second is added up, and all play what the one that leads says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { series } from '../../lib/probes/latency.js'
import { searchOnFleet, secondOfFleet } from '../../lib/run/conductor-fleet.js'

/** Over two seconds. @param {{ busy_pct: number, thread_cpu_pct: number, cpu_pct: number }} client @returns {any} */
const amountsOf = ({ busy_pct: busy, thread_cpu_pct: thread, cpu_pct: cpu }) => ({
  ...{ over_s: 2, cpu_s: cpu / 50, thread: { over_s: 2, busy_s: busy / 50, cpu_s: thread / 50 } },
})

/** @param {readonly number[]} us of items @param {object} [more] */
const played = (us, more = {}) => {
  const times = series()
  for (const one of us) times.record(one)
  const { hdr, ...found } = /** @type {NonNullable<ReturnType<typeof times.endSecond>>} */ (times.endSecond())
  times.close()
  const n = us.length
  const items = { offered: n, acked: n, failed: 0, uncertain: 0, dropped: 0, unsettled: 0, open: 0 }
  const second = {
    ...{ atMs: 5000, phase: /** @type {const} */ ('measure'), rate: 200, achieved: n, items },
    ...{ latency_us: { intended: found, service: found }, bystander_us: null, backlog_grows: false },
    client: { busy_pct: 20, thread_cpu_pct: 20, cpu_pct: 30 },
    waited_ms: 1,
    ...more,
  }
  const client = amountsOf(second.client)
  return {
    second,
    client,
    hdr: { 'latency_us.intended': hdr, 'latency_us.service': hdr, bystander_us: null },
  }
}

test('counts are added, histograms merged, and of the clients the busiest thread and the CPU of all count', () => {
  const busy = { client: { busy_pct: 95, thread_cpu_pct: 94, cpu_pct: 110 }, waited_ms: 40 }
  const second = secondOfFleet([
    played(Array(90).fill(1000)),
    played(Array(10).fill(50_000), { ...busy, backlog_grows: true }),
  ])
  assert.deepEqual([second.achieved, second.items.offered, second.items.acked], [100, 100, 100])
  const { intended } = second.latency_us
  assert.ok(Math.abs(Number(intended?.p50) - 1000) < 10 && Math.abs(Number(intended?.p99) - 50_000) < 100)
  assert.deepEqual(second.client, {
    ...{ cpu_pct: 140, thread_cpu_pct: 94, busy_pct: 95 },
    machine_busy_pct: null,
  })
  assert.deepEqual([second.waited_ms, second.backlog_grows], [40, true])
  assert.equal(second.bystander_us, null)
})

test('a search waits for what the boxes that write saw of a step, and not for boxes that read', async () => {
  const own = [played([1000])]
  const said = { own: JSON.stringify(own) }
  const chain = { rpush: () => chain, hset: () => chain, pexpire: () => chain, exec: async () => [] }
  const client = { multi: () => chain, hgetall: async () => said, del: async () => 1 }
  const fleet = {
    ...{ id: 'own', leads: () => true, control: { client, keys: { head: '' } } },
    live: async () => ({ live: [{ kind: 'producer' }, { kind: 'consumer' }] }),
  }
  const conductor = {
    player: { isOver: () => false, play: async () => own },
    conduct: async (/** @type {any} */ run, /** @type {any} */ play) =>
      play(run, { phase: 'measure', rate: 200, seconds: 1 }),
  }
  const { conduct } = searchOnFleet(/** @type {any} */ ({ fleet, conductor, onStep: () => {} }))
  const { answer } = await conduct(/** @type {any} */ ({ writing: { elapsed: () => 0 } }))
  assert.deepEqual(
    /** @type {any[]} */ (answer).map((second) => second.achieved),
    [1],
  )
})
