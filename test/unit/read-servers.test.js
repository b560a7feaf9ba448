import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fetcherOf } from '../../lib/loads/fetches/fetch.js'
import { readsWords } from '../../lib/loads/fetches/open.js'
import { readServersOf, slotMapOf } from '../../lib/transport/slot-map.js'
import { slotCount } from '../../lib/wire/slot.js'

/** @import { Reads } from '../../lib/transport/slot-map.js' */

const masters = ['m1', 'm2']
const owners = Uint16Array.from({ length: slotCount }, (_, slot) => (slot < 100 ? 0 : 1))
const master = (/** @type {string} */ address) => ({ address, role: 'master', masterAddress: null })
const replica = (/** @type {string} */ address, /** @type {string} */ masterAddress) => ({
  ...{ address, role: 'replica', masterAddress },
})

const serversOf = (/** @type {object[]} */ replicas, /** @type {Reads} */ reads) => {
  const nodes = /** @type {any} */ ([...masters.map(master), ...replicas])
  const servers = readServersOf(slotMapOf({ masters, owners }), nodes, reads)
  const driver = /** @type {any} */ ({ servers: () => servers.all, bare: () => servers.bare })
  return { ...servers, said: readsWords(/** @type {any} */ ({ reads }), driver, masters) }
}

test('a shard without a replica is read from its master, and that is said', () => {
  const { serverOf, bare, said } = serversOf([replica('r1', 'm1')], 'replica')
  assert.deepEqual([serverOf(0, 0), serverOf(100, 0), bare], ['r1', 'm2', [2]])
  assert.equal(said, 'reads from 2 replicas; 1 shard without a replica, read from the master')
})

test('without any replica all masters are read, and that is said', () => {
  const { all, said } = serversOf([], 'replica')
  assert.deepEqual([all, said], [masters, 'reads from 2 masters: there are no replicas'])
})

test('consumers take the replicas of a shard in turn', () => {
  const servers = serversOf([replica('r1', 'm1'), replica('r2', 'm1'), replica('r3', 'm2')], 'replica')
  const taken = [0, 1, 2].map((consumer) => servers.serverOf(0, consumer))
  assert.deepEqual([taken, servers.bare], [['r1', 'r2', 'r1'], []])
})

test('one consumer alone reads from all nodes of a shard, a fetch from each', async () => {
  const { serverOf } = serversOf([replica('r1', 'm1'), replica('r2', 'm1')], 'any')
  /** @type {string[][]} */
  const asked = []
  const driver = {
    serverOf: (/** @type {string} */ _, /** @type {number} */ consumer) => serverOf(0, consumer),
    ask: async (/** @type {unknown[]} */ ...[, , , consumer]) => {
      asked.push([serverOf(0, Number(consumer))])
    },
  }
  const reader = { unique: false, dated: true, value: null, asks: () => [{ kind: 'ids', shape: 'members' }] }
  const plan = { stamp: false, limit: 0, values: false, sets: ['ids'] }
  const nowAt = (/** @type {string} */ server) => {
    asked.at(-1)?.push(server)
    return 0
  }
  const needs = /** @type {any} */ ({ plan, reader, driver, clock: () => 0, nowAt, inspector: null })
  const fetch = fetcherOf(needs, 1)
  for (let i = 0; i < 4; i++) await fetch()
  // The age of what was found is by the clock of the node that was asked.
  assert.deepEqual(
    asked.map(([node, clock]) => `${node} ${clock}`),
    ['r1 r1', 'r2 r2', 'm1 m1', 'r1 r1'],
  )
})

test('masters and any node, where they were asked for', () => {
  const replicas = [replica('r1', 'm1'), replica('r2', 'm2')]
  const [ofMasters, ofAny] = [serversOf(replicas, 'master'), serversOf(replicas, 'any')]
  assert.deepEqual([ofMasters.all, ofMasters.said], [masters, 'reads from 2 masters'])
  assert.deepEqual([ofAny.all, ofAny.said], [['m1', 'r1', 'm2', 'r2'], 'reads from 4 nodes'])
  assert.deepEqual(serversOf([], 'master').bare, [])
})
