// Topology changes and faults under load, in short forms of what `npm run test:faults` plays at length.
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { faultCases, shortPace } from '../../scripts/faults/cases.js'
import { play } from '../../scripts/faults/play.js'

/** @typedef {import('../../scripts/faults/cases.js').FaultCase} FaultCase */

const pauseMs = 1500
const drivers = /** @type {const} */ (['socket', 'ioredis'])

/** @type {FaultCase} */
const everyChange = {
  name: 'slots moved, shard added, roles exchanged, shard removed',
  demands: 'nothing-lost',
  act: async (stage, { slots }) => {
    await stage.change.move(
      Array.from({ length: slots }, (_, slot) => slot),
      3,
    )
    const { master } = await stage.addShard(slots)
    await stage.change.failover(2)
    await sleep(500)
    await stage.removeShard(master)
  },
}

/**
 * A master pauses its writers until its replica has caught up; here that takes longer than an interval, so that what
 * was begun before has not been sent when the next tick of its chunk is due.
 * @type {FaultCase}
 */
const slowFailover = {
  name: 'a failover of more than a second',
  demands: 'nothing-lost',
  quantity: () => 24_000,
  act: async (stage) => {
    const { master } = await stage.shard(2)
    const client = new Redis({ ...master, password: stage.embedded.access.password })
    await client.client('PAUSE', pauseMs, 'WRITE')
    client.disconnect()
    await sleep(pauseMs / 2)
    await stage.change.failover(2)
    await stage.replaced(master)
    await sleep(pauseMs)
  },
}

/** @param {string} name */
const named = (name) => {
  const found = faultCases.find((fault) => fault.name === name)
  assert.ok(found, name)
  return found
}

for (const driver of drivers) {
  test(`${driver}: nothing is lost and every tick is in order while the cluster changes`, async () => {
    const { complaints, items, events, repeated } = await play(everyChange, driver, shortPace)
    assert.deepEqual(complaints, [])
    assert.ok(repeated > 0, 'the change was felt')
    assert.equal(items.acked, items.offered)
    const kinds = new Set(events.map(({ kind }) => kind))
    for (const kind of ['slots-moved', 'refused', 'new-master', 'master-gone', 'epoch'])
      assert.ok(kinds.has(kind), `${kind} in ${[...kinds]}`)
    /** @type {Map<number, number>} */
    const bySecond = new Map()
    for (const { at_ms: atMs } of events) {
      const second = Math.floor(atMs / 1000)
      bySecond.set(second, (bySecond.get(second) ?? 0) + 1)
    }
    assert.ok(Math.max(...bySecond.values()) <= 20, 'events do not flood')
  })

  for (const name of ['connection reset in the middle of a reply', 'replica lost'])
    test(`${driver}: ${name}`, async () => {
      const { complaints } = await play(named(name), driver, shortPace)
      assert.deepEqual(complaints, [])
    })

  for (const name of ['master killed -9', 'all nodes gone and back, empty'])
    test(`${driver}: ${name}: the run goes on, and every item has its outcome`, async () => {
      const { complaints, items, events, lost } = await play(named(name), driver, shortPace)
      assert.deepEqual(complaints, [])
      assert.equal(items.failed, 0)
      assert.ok(events.some(({ kind }) => kind === 'disconnected'))
      if (name.startsWith('all')) {
        assert.ok(Number(lost) > 0, 'what was acknowledged before is gone, and that is told')
        assert.ok(events.some(({ kind }) => kind === 'reconnected'))
      } else assert.ok(events.some(({ kind }) => kind === 'new-master'))
    })
}

test('socket: what was begun before a pause of the servers is sent after it', async () => {
  const { complaints, items, longestMs } = await play(slowFailover, 'socket', shortPace)
  assert.deepEqual(complaints, [])
  assert.equal(items.acked, items.offered)
  assert.ok(longestMs > 1000, `the pause was felt for ${longestMs} ms`)
})
