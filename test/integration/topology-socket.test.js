// Topology changes and faults under the load of the driver on plain sockets.
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { named, topologyTests } from '../helpers/topology-tests.js'

/** @import { FaultCase } from '../../scripts/faults/cases.js' */

const pauseMs = 1500

/**
 * A master pauses its writers until its replica has caught up; here that takes longer than an interval, so that what
 * was begun before has not been sent when the next tick of its chunk is due.
 * @type {FaultCase}
 */
const slowFailover = {
  name: 'a failover of more than a second',
  demands: 'nothing-lost',
  options: '--window 4kB',
  // So few that such a window is enough for them on a busy machine.
  quantity: () => 300,
  act: async (stage) => {
    const { master } = await stage.shard(2)
    const client = new Redis({ ...master, password: stage.embedded.access.password })
    await client.client('PAUSE', pauseMs, 'WRITE')
    client.disconnect()
    await sleep(pauseMs / 2)
    await stage.change.failover(2)
    await stage.replaced(master)
  },
}

topologyTests('socket', (onCluster) => {
  test('what was begun before a pause of the servers is sent after it', async () => {
    const { items, longestMs } = await onCluster(slowFailover)
    assert.equal(items.acked, items.offered)
    assert.ok(longestMs > 1000, `no item waited longer than ${longestMs} ms`)
  })

  test('each of two threads follows a failover, nothing is lost, and it is one event', async () => {
    // Not the shard of the other tests: who was elected a moment ago is not elected at once.
    const { events, items } = await onCluster({
      ...named('graceful failover'),
      options: '--threads 2',
      act: (stage) => stage.change.failover(1),
    })
    assert.equal(items.acked, items.offered)
    const masters = events.filter(({ kind }) => kind === 'new-master')
    assert.equal(masters.length, 1, JSON.stringify(events))
  })
})
