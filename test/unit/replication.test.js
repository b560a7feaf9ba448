// How long replicas are behind their masters: also those that are far behind, or hold another history.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { replication } from '../../lib/measures/replication.js'

/**
 * A master that writes a byte each millisecond, and its replica.
 * @param {import('node:test').TestContext} t
 * @param {(ms: number) => { offset?: number, id?: string, isAway?: boolean }} replicaAt
 * @param {(ms: number) => { id?: string, beganMs?: number }} [masterAt]
 */
const rigOf = async (t, replicaAt, masterAt = () => ({})) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  let nowMs = 0
  let asked = 0
  const nodes = [
    { address: 'm:1', role: 'master', shard: 1 },
    { address: 'r:1', role: 'replica', shard: 1, masterAddress: 'm:1' },
  ]
  const infoOf = (/** @type {string} */ address) => {
    if (address === 'm:1') {
      const { id = 'one', beganMs = 0 } = masterAt(nowMs)
      return `role:master\r\nmaster_replid:${id}\r\nmaster_repl_offset:${nowMs - beganMs}\r\n`
    }
    asked++
    const { offset = nowMs, id = 'one', isAway = false } = replicaAt(nowMs)
    if (isAway) throw new Error('away')
    return `role:slave\r\nmaster_replid:${id}\r\nmaster_replid2:0\r\nslave_repl_offset:${offset}\r\n`
  }
  const target = {
    nodes: () => nodes,
    control: (/** @type {string} */ address) => ({ call: async () => infoOf(address) }),
  }
  const source = /** @type {any} */ (
    await replication.open(/** @type {any} */ ({ target, clock: () => nowMs }))
  )
  t.after(source.close)
  source.start()
  return {
    nodes,
    asked: () => asked,
    async passes(/** @type {number} */ ms) {
      for (const endMs = nowMs + ms; nowMs < endMs; ) {
        nowMs += 10
        t.mock.timers.tick(10)
        await turnOfLoop()
      }
    },
    ended() {
      source.stop()
      return source.second().replication_us
    },
  }
}

test('a replica that keeps up has one delay a second', async (t) => {
  const { passes, ended } = await rigOf(t, (ms) => ({ offset: ms }))
  await passes(5000)
  const { count, max } = ended()
  assert.equal(count, 5)
  assert.ok(max <= 20_000, String(max))
})

test('a replica that stood still for 15 s has all of its delays, those of the seconds in between too', async (t) => {
  const rig = await rigOf(t, (ms) => ({ offset: ms >= 5000 && ms < 20_000 ? 5000 : ms }))
  await rig.passes(30_000)
  const { count, max, p50 } = rig.ended()
  assert.equal(count, 30)
  assert.ok(max > 13_900_000 && max < 14_200_000, String(max))
  // Of thirty seconds fourteen had to wait, for up to fourteen seconds each.
  assert.ok(p50 < 1_000_000, String(p50))
  assert.ok(rig.asked() < 2000, `asked ${rig.asked()} times`)
})

test('a replica that never gets there is behind at least as long as it was waited for', async (t) => {
  const { passes, ended } = await rigOf(t, () => ({ offset: 0 }))
  await passes(12_000)
  const { count, max } = ended()
  assert.deepEqual([count, Math.round(max / 1e6)], [11, 11])
})

test('the offset of another history is no sign that a replica is there', async (t) => {
  const { passes, ended } = await rigOf(
    t,
    () => ({ offset: 3000, id: 'one' }),
    (ms) => (ms < 3000 ? {} : { id: 'two', beganMs: 3000 }),
  )
  await passes(5500)
  const { count, max } = ended()
  // Two of the history that both had; and what the new one had at 3, 4 and 5 s is not there.
  assert.deepEqual([count, Math.round(max / 1e5)], [4, 25])
})

test('a replica that has never answered, or left, is not waited for', async (t) => {
  const { passes, ended, nodes } = await rigOf(t, () => ({ isAway: true }))
  await passes(5000)
  nodes.pop()
  await passes(3000)
  assert.equal(ended(), null)
})
