import assert from 'node:assert/strict'
import { test } from 'node:test'
import { staleReads } from '../../lib/measures/stale.js'
import { staleOf, versionIn, versionOf, versionText } from '../../lib/probes/stale.js'
import { roundTripsOf } from '../../lib/servers/round-trips.js'
import { readersOf } from '../../lib/transport/router.js'
import { readServersOf, slotMapOf } from '../../lib/transport/slot-map.js'

const sceneOf = () => {
  const ages = /** @type {number[]} */ ([])
  const counts = { compared: 0, stale: 0, ages: { record: (/** @type {number} */ us) => ages.push(us) } }
  const stale = staleOf(counts)
  const question = () => ({ version: 0, floor: 0, floorMs: 0 })
  return {
    ages,
    /** A write of a key that is under way; returns its number and its end. */
    write(n = 1) {
      const one = question()
      stale.begin(n, one)
      return {
        version: one.version,
        end: (/** @type {number} */ nowMs, isAcked = true) => stale.end(n, isAcked, nowMs),
      }
    },
    /** An answer with a number, to a question of that moment: 'stale', 'fresh', or '' where nothing is compared. */
    read(/** @type {number} */ found, askedMs = 0, n = 1) {
      const before = { ...counts }
      const one = question()
      stale.ask(n, one)
      stale.answered(one, found, askedMs)
      if (counts.compared === before.compared) return ''
      return counts.stale > before.stale ? 'stale' : 'fresh'
    },
    stale,
    question,
    counts,
  }
}

test('answers are compared where one process numbers all writes of a key', () => {
  const applies = (/** @type {object} */ more) =>
    staleReads.applies?.({ versions: true, totalAgents: 1, ...more })
  assert.equal(applies({}), true)
  for (const more of [{ threads: 2 }, { totalAgents: 3 }, { versions: undefined }])
    assert.equal(applies(more), false, JSON.stringify(more))
})

test('an answer below what was acknowledged before the question is stale, by the time since then', () => {
  const { write, read, ages } = sceneOf()
  assert.equal(read(0), '', 'nothing was acknowledged')
  const first = write()
  assert.equal(read(0), '', 'it is under way')
  first.end(100)
  assert.deepEqual([read(first.version, 110), read(0, 130)], ['fresh', 'stale'])
  assert.deepEqual(ages, [30_000])
  write().end(150)
  assert.equal(read(0, 160), 'stale', 'two writes are missed')
  assert.equal(ages[1], 10_000, 'by the newest of them')
})

test('what is acknowledged after the question does not count against its answer', () => {
  const { write, stale, question, counts } = sceneOf()
  const first = write()
  first.end(100)
  const asked = question()
  stale.ask(1, asked)
  write().end(105)
  stale.answered(asked, first.version, 104)
  assert.deepEqual([counts.compared, counts.stale], [1, 0])
})

test('writes that overlap may be executed in any order', () => {
  const { write, read } = sceneOf()
  const [one, two] = [write(), write()]
  two.end(100)
  one.end(101)
  assert.deepEqual([read(one.version), read(two.version)], ['fresh', 'fresh'])
  const three = write()
  three.end(110)
  assert.deepEqual([read(two.version), read(three.version)], ['stale', 'fresh'])
})

test('a write that was not acknowledged makes nothing stale, and ends with the others', () => {
  const { write, read } = sceneOf()
  const one = write()
  one.end(10)
  const lost = write()
  lost.end(0, false)
  assert.deepEqual([read(one.version), read(lost.version)], ['fresh', 'fresh'])
  write().end(20)
  assert.equal(read(one.version), 'stale')
})

test('keys are apart, and a value without a number is not compared', () => {
  const { write, read } = sceneOf()
  write(1).end(1)
  assert.deepEqual([read(0, 2, 2), read(Number.NaN, 2, 1)], ['', ''])
})

test('the number in front of a value is read as it was written', () => {
  const text = `${versionText(4711)}rest`
  const bytes = Buffer.from(`..${text}`)
  assert.deepEqual([versionOf(text), versionIn(bytes, 2, bytes.length)], [4711, 4711])
  for (const odd of ['123', 'abcdefghijklmno']) {
    assert.ok(Number.isNaN(versionOf(odd)))
    assert.ok(Number.isNaN(versionIn(Buffer.from(odd), 0, odd.length)))
  }
})

const node = (/** @type {string} */ address, /** @type {string} */ masterAddress = '') => {
  const role = /** @type {'replica' | 'master'} */ (masterAddress ? 'replica' : 'master')
  return { address, host: '', port: 1, shard: 1, role, ...(masterAddress && { masterAddress }) }
}

test('the nearest node of a shard is that with the shortest of several round trips', async () => {
  const nodes = [node('m:1'), node('near:1', 'm:1'), node('away:1', 'm:1')]
  let now = 0
  const times = /** @type {Record<string, number[]>} */ ({
    m: [9, 5, 5, 5, 5, 5, 5, 5],
    near: [90, 8, 8, 8, 8, 2, 8, 8],
  })
  const control = (/** @type {string} */ address) => ({
    async ping() {
      const took = times[address]?.shift()
      if (took === undefined) throw new Error('away:1')
      now += took
      return /** @type {const} */ ('PONG')
    },
  })
  const clientOf = (/** @type {any} */ { host }) => control(host)
  const [listed, clock] = [() => nodes, () => now]
  const trips = roundTripsOf(listed, /** @type {any} */ ({ clientOf }), clock)
  await trips.measureTrips()
  assert.deepEqual([trips.tripMs('m:1'), trips.tripMs('near:1')], [5, 2])
  const map = slotMapOf({ masters: ['m:1'], owners: null })
  assert.deepEqual(readServersOf(map, nodes, 'nearest', trips.tripMs).all, ['near:1'])
})

test('a connection to a replica of a cluster says that stale reads will do; a master that became one is made anew', () => {
  const owners = new Uint16Array(16_384)
  let nodes = [node('a'), node('b', 'a')]
  const dialled = /** @type {string[]} */ ([])
  const target = /** @type {any} */ ({
    topology: { masters: ['a'], owners },
    nodes: () => nodes,
    dial: (/** @type {string} */ address, /** @type {{ readOnly: boolean }} */ { readOnly }) => {
      dialled.push(`${address} ${readOnly}`)
      return { destroy: () => {} }
    },
  })
  const map = slotMapOf(target.topology)
  const readers = readersOf({ readFrom: 'replica', target }, map) ?? assert.fail()
  for (const address of ['a', 'b']) readers.dial(address, /** @type {any} */ ({}))
  assert.deepEqual(dialled, ['a false', 'b true'])
  assert.equal(readers.serverOf(5, 0), 'b')
  const renewed = /** @type {string[]} */ ([])
  nodes = [node('b'), node('a', 'b')]
  map.replace({ masters: ['b'], owners })
  const lanes = ['a', 'a', 'b'].map((address) => ({
    address,
    /** An idle connection is made anew at once. */
    renew() {
      renewed.push(address)
      readers.dial(address, /** @type {any} */ ({}))
    },
  }))
  readers.learned(lanes)
  assert.deepEqual([renewed, readers.serverOf(5, 0)], [['a', 'a'], 'a'])
  readers.learned(lanes)
  assert.equal(renewed.length, 2, 'all of them were told')
})
