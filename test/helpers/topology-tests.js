// Topology changes and faults under load, in short forms of what `npm run test:faults` plays at length.
import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import { faultCases, shortPace } from '../../scripts/faults/cases.js'
import { play } from '../../scripts/faults/play.js'

/**
 * @import { FaultCase } from '../../scripts/faults/cases.js'
 * @import { Outcome } from '../../scripts/faults/play.js'
 * @import { Stage } from '../../scripts/faults/stage.js'
 */

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
    await stage.whole()
    await stage.removeShard(master)
  },
}

/** @param {string} name */
const named = (name) => {
  const found = faultCases.find((fault) => fault.name === name)
  assert.ok(found, name)
  return found
}

/** @param {'socket' | 'ioredis'} driver */
export const topologyTests = (driver) => {
  // What watches the order is a client of its own, which may go on looking for nodes that are gone.
  after(() => setTimeout(() => process.exit(), 10_000).unref())
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
      // A cluster that is still down when a command is later than --max-behind refuses it for good.
      assert.deepEqual(
        Object.keys(items.failed_by).filter((cause) => cause !== 'CLUSTERDOWN'),
        [],
      )
      assert.ok(events.some(({ kind }) => kind === 'disconnected'))
      if (name.startsWith('all')) {
        assert.ok(Number(lost) > 0, 'what was acknowledged before is gone, and that is told')
        assert.ok(events.some(({ kind }) => kind === 'reconnected'))
      } else assert.ok(events.some(({ kind }) => kind === 'new-master'))
    })
}
