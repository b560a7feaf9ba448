import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readsWords } from '../../lib/run/read-setup.js'
import { readMapOf } from '../../lib/transport/read-map.js'
import { slotCount } from '../../lib/wire/slot.js'

const masters = ['m1', 'm2']
const owners = Uint16Array.from({ length: slotCount }, (_, slot) => (slot < 100 ? 0 : 1))
const master = (/** @type {string} */ address) => ({ address, role: 'master', masterAddress: null })
const replica = (/** @type {string} */ address, /** @type {string} */ of) => ({
  address,
  role: 'replica',
  masterAddress: of,
})

/** @param {object[]} replicas @param {import('../../lib/transport/read-map.js').Reads} reads */
const mapOf = (replicas, reads) =>
  readMapOf({ nodes: /** @type {any} */ ([...masters.map(master), ...replicas]), masters, owners }, reads)

/** @param {object[]} replicas @param {import('../../lib/transport/read-map.js').Reads} reads */
const said = (replicas, reads) => {
  const map = mapOf(replicas, reads)
  const driver = /** @type {any} */ ({ servers: () => map.servers, bare: () => map.bare })
  return readsWords(/** @type {any} */ ({ reads }), driver, masters)
}

test('a shard without a replica is read from its master, and that is said', () => {
  const one = [replica('r1', 'm1')]
  const map = mapOf(one, 'replica')
  assert.deepEqual([map.serverOf(0, 0), map.serverOf(1, 0)], ['r1', 'm2'])
  assert.deepEqual(map.bare, [2])
  assert.equal(said(one, 'replica'), 'reads from 2 replicas; 1 shard without a replica, read from the master')
})

test('without any replica all masters are read, and that is said', () => {
  assert.deepEqual(mapOf([], 'replica').servers, masters)
  assert.equal(said([], 'replica'), 'reads from 2 masters: there are no replicas')
})

test('consumers take the replicas of a shard in turn', () => {
  const map = mapOf([replica('r1', 'm1'), replica('r2', 'm1'), replica('r3', 'm2')], 'replica')
  assert.deepEqual(
    [0, 1, 2].map((consumer) => map.serverOf(0, consumer)),
    ['r1', 'r2', 'r1'],
  )
  assert.deepEqual(map.bare, [])
})

test('masters and any node, where they were asked for', () => {
  const replicas = [replica('r1', 'm1'), replica('r2', 'm2')]
  assert.deepEqual(mapOf(replicas, 'master').servers, masters)
  assert.equal(said(replicas, 'master'), 'reads from 2 masters')
  assert.deepEqual(mapOf(replicas, 'any').servers, ['m1', 'r1', 'm2', 'r2'])
  assert.equal(said(replicas, 'any'), 'reads from 4 nodes')
  assert.deepEqual(mapOf([], 'master').bare, [])
})
