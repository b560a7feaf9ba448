// Topology changes and faults under load, in short forms of what `npm run test:faults` plays at length.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { faultCases, shortPace } from '../../scripts/faults/cases.js'
import { play } from '../../scripts/faults/play.js'
import { suiteScope } from './servers.js'
import { stageHere } from './stage-here.js'

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
    const first = Array.from({ length: slots }, (_, slot) => slot)
    await stage.change.move(first, 3)
    const { master } = await stage.addShard(slots)
    await stage.change.failover(2)
    await stage.whole()
    await stage.removeShard(master)
  },
}

export const named = (/** @type {string} */ name) =>
  faultCases.find((fault) => fault.name === name) ?? assert.fail(name)

/** @param {'socket' | 'ioredis'} driver @param {(onCluster: (fault: FaultCase) => Promise<Outcome>) => void} [more] tests of the same cluster */
export const topologyTests = (driver, more) => {
  // What watches the order is a client of its own, which may go on looking for nodes that are gone.
  after(() => setTimeout(() => process.exit(), 10_000).unref())
  const played = async (/** @type {FaultCase} */ fault, /** @type {Stage} */ stage) => {
    const outcome = await play(fault, driver, shortPace, stage)
    const { complaints, events, items } = outcome
    assert.equal(complaints.length, 0, JSON.stringify({ complaints, items, events }, null, 1))
    return outcome
  }

  describe(`${driver}, under load`, { concurrency: 2 }, () => {
    // One after the other: each leaves a cluster that serves.
    describe('on a cluster', { concurrency: 1 }, () => {
      const scope = suiteScope()
      /** @type {Stage} */
      let stage
      before(async () => (stage = await stageHere(scope)))
      const onCluster = async (/** @type {FaultCase} */ fault) => {
        await stage.empty()
        return played(fault, stage)
      }

      test('nothing is lost and every tick is in order while the cluster changes', async () => {
        const { items, events, repeated } = await onCluster(everyChange)
        assert.ok(repeated > 0, 'commands were retried during the change')
        assert.equal(items.acked, items.offered)
        const kinds = new Set(events.map(({ kind }) => kind))
        for (const kind of ['slots-moved', 'refused', 'new-master', 'master-gone', 'epoch'])
          assert.ok(kinds.has(kind), `${kind} in ${[...kinds]}`)
        const bySecond = /** @type {Map<number, number>} */ (new Map())
        for (const { at_ms: atMs } of events) {
          const second = Math.floor(atMs / 1000)
          bySecond.set(second, (bySecond.get(second) ?? 0) + 1)
        }
        assert.ok(Math.max(...bySecond.values()) <= 20, 'events do not flood')
      })

      more?.(onCluster)

      test('replica lost', async () => {
        await onCluster(named('replica lost'))
      })

      for (const name of ['master killed -9', 'all nodes gone and back, empty'])
        test(`${name}: the run goes on, and every item has its outcome`, async () => {
          const { items, events, lost } = await onCluster(named(name))
          // A cluster that is still down when a command is later than --max-behind refuses it for good.
          const { CLUSTERDOWN, ...others } = items.failed_by
          assert.deepEqual(others, {})
          assert.ok(events.some(({ kind }) => kind === 'disconnected'))
          if (name.startsWith('all')) {
            assert.ok(Number(lost) > 0, 'acknowledged items are gone, and the result reports it')
            assert.ok(events.some(({ kind }) => kind === 'reconnected'))
          } else assert.ok(events.some(({ kind }) => kind === 'new-master'))
        })
    })

    test('connection reset in the middle of a reply', async (t) => {
      await played(named('connection reset in the middle of a reply'), await stageHere(t, { cluster: false }))
    })
  })
}
