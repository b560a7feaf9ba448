import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readsWords } from '../../lib/loads/fetches/open.js'
import { readServersOf, slotMapOf } from '../../lib/transport/slot-map.js'
import { slotCount } from '../../lib/wire/slot.js'

/** @import { Reads } from '../../lib/transport/slot-map.js' */

const masters = ['m1', 'm2']
const owners = Uint16Array.from({ length: slotCount }, (_, slot) => (slot < 100 ? 0 : 1))
const master = (/** @type {string} */ address) => ({ address, role: 'master', masterAddress: null })
const replica = (/** @type {string} */ address, /** @type {string} */ of) => ({
  address,
  role: 'replica',
  masterAddress: of,
})

/** @param {object[]} replicas @param {import('../../lib/transport/slot-map.js').Reads} reads */
const serversOf = (replicas, reads) =>
  readServersOf(
    slotMapOf({ masters, owners }),
    /** @type {any} */ ([...masters.map(master), ...replicas]),
    reads,
  )

/** @param {object[]} replicas @param {import('../../lib/transport/slot-map.js').Reads} reads */
const said = (replicas, reads) => {
  const servers = serversOf(replicas, reads)
  const driver = /** @type {any} */ ({ servers: () => servers.all, bare: () => servers.bare })
  return readsWords(/** @type {any} */ ({ reads }), driver, masters)
}

test('a shard without a replica is read from its master, and that is said', () => {
  const one = [replica('r1', 'm1')]
  const servers = serversOf(one, 'replica')
  assert.deepEqual([servers.of(0, 0), servers.of(100, 0)], ['r1', 'm2'])
  assert.deepEqual(servers.bare, [2])
  assert.equal(said(one, 'replica'), 'reads from 2 replicas; 1 shard without a replica, read from the master')
})

test('without any replica all masters are read, and that is said', () => {
  assert.deepEqual(serversOf([], 'replica').all, masters)
  assert.equal(said([], 'replica'), 'reads from 2 masters: there are no replicas')
})

test('consumers take the replicas of a shard in turn', () => {
  const servers = serversOf([replica('r1', 'm1'), replica('r2', 'm1'), replica('r3', 'm2')], 'replica')
  assert.deepEqual(
    [0, 1, 2].map((consumer) => servers.of(0, consumer)),
    ['r1', 'r2', 'r1'],
  )
  assert.deepEqual(servers.bare, [])
})

test('masters and any node, where they were asked for', () => {
  const replicas = [replica('r1', 'm1'), replica('r2', 'm2')]
  assert.deepEqual(serversOf(replicas, 'master').all, masters)
  assert.equal(said(replicas, 'master'), 'reads from 2 masters')
  assert.deepEqual(serversOf(replicas, 'any').all, ['m1', 'r1', 'm2', 'r2'])
  assert.equal(said(replicas, 'any'), 'reads from 4 nodes')
  assert.deepEqual(serversOf([], 'master').bare, [])
})
