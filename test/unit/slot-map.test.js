import assert from 'node:assert/strict'
import test from 'node:test'
import { withBytes } from '../../lib/transport/batch-bytes.js'
import { slotMapOf } from '../../lib/transport/slot-map.js'
import { batchOf } from '../../lib/transport/tick-batches.js'
import { slotCount } from '../../lib/wire/slot.js'
import { eachStep, gatherStep } from '../../lib/workloads/bind/writer.js'
import { valuesAt } from '../helpers/commands.js'
import { seeded } from '../helpers/random.js'

/** @import { Random } from '../helpers/random.js' */
/** @import { Step } from '../../lib/workloads/bind/writer.js' */

const values = valuesAt(1_790_000_000_123)
const moving = gatherStep(
  5,
  () => ['latest-ids:', { hole: 'minute', width: 8 }],
  (key, ns) => ['SADD', key, ...ns],
)
const items = eachStep((n) => ['SET', `item:${n}`, n])
const batchIn = (/** @type {Step} */ step, cluster = true) =>
  withBytes(batchOf(step, { first: 1, count: 2000 }, { cluster, values }), values, false)

/** @param {Random} random @param {number} masters @param {number} runs */
const randomTopology = (random, masters, runs) => {
  const names = Array.from({ length: masters }, (_, i) => `10.0.0.${random.below(100) * 10 + i}:6379`)
  const owners = new Uint16Array(slotCount).fill(random.below(masters))
  for (let run = 0; run < runs; run++) {
    const from = random.below(slotCount)
    owners.fill(random.below(masters), from, from + 1 + random.below(slotCount / (runs + 1)))
  }
  return { masters: names, owners }
}

/** @param {Map<string, number[]>} ranges @param {(i: number) => string} ownerOf @param {number} low @param {number} high */
const assertCovers = (ranges, ownerOf, low, high) => {
  const seen = new Map()
  for (const [address, pairs] of ranges) {
    assert.equal(pairs.length % 2, 0)
    for (let r = 0; r < pairs.length; r += 2) {
      assert.ok(pairs[r] < pairs[r + 1], 'no empty pair')
      assert.ok(r === 0 || pairs[r] > pairs[r - 1], 'ascending, and neighbours are one pair')
      for (let i = pairs[r]; i < pairs[r + 1]; i++) {
        assert.ok(!seen.has(i), `command ${i} twice`)
        seen.set(i, address)
      }
    }
  }
  for (let i = low; i < high; i++) assert.equal(seen.get(i), ownerOf(i))
  assert.equal(seen.size, high - low)
}

test('a split covers every command once, at the owner of its slot', () => {
  const [still, moves] = [batchIn(items), batchIn(moving)]
  for (let seed = 1; seed <= 40; seed++) {
    const random = seeded(seed)
    const map = slotMapOf(randomTopology(random, 1 + random.below(6), random.pick([0, 1, 10, 500])))
    for (const each of [still, moves]) {
      const ownerOf = (/** @type {number} */ i) => map.ownerOf(each.slotAt(i, values))
      assertCovers(map.rangesOf(each, values), ownerOf, 0, each.count)
      const low = random.below(each.count)
      const high = low + random.below(each.count - low) + 1
      assertCovers(map.split(each, values, low, high), ownerOf, low, high)
    }
    for (let m = 0; m < 30; m++) map.move(random.below(slotCount), random.pick([...map.addresses(), 'new:1']))
    assertCovers(map.rangesOf(still, values), (i) => map.ownerOf(still.slotAt(i, values)), 0, still.count)
  }
})

test('keys with the minute are split anew at each minute', () => {
  const owners = new Uint16Array(slotCount).map((_, slot) => slot % 2)
  const map = slotMapOf({ masters: ['a:1', 'b:1'], owners })
  const moves = batchIn(moving)
  for (let minute = 0; minute < 10; minute++) {
    const at = valuesAt(1_790_000_000_123 + minute * 60_000)
    assert.deepEqual([...map.rangesOf(moves, at).keys()], [map.ownerOf(moves.slotAt(0, at))])
  }
})

test('one server owns everything', () => {
  const map = slotMapOf({ masters: ['a:1'], owners: null })
  const all = batchIn(items, false)
  assert.deepEqual([...map.rangesOf(all, values)], [['a:1', [0, 2000]]])
  map.move(0, 'b:1')
  assert.deepEqual([...map.rangesOf(all, values)], [['b:1', [0, 2000]]])
  assert.deepEqual([...map.replace({ masters: ['c:1'], owners: null })], [['b:1', [0]]])
  assert.equal(map.ownerOf(0), 'c:1')
  assert.equal(map.replace({ masters: [], owners: null }).size, 0)
  assert.equal(map.ownerOf(0), 'c:1', 'nobody calls himself master just now: the old one is the best guess')
})

test('move learns a new address, and an old one by its name', () => {
  const map = slotMapOf({ masters: ['a:1', 'b:1'], owners: new Uint16Array(slotCount) })
  map.move(5, 'b:1')
  map.move(6, 'c:1')
  assert.deepEqual([4, 5, 6, 7].map(map.ownerOf), ['a:1', 'b:1', 'c:1', 'a:1'])
  assert.deepEqual(map.addresses(), ['a:1', 'b:1', 'c:1'])
})

test('replace tells exactly the slots that changed hands, and who had them', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = seeded(seed)
    const before = randomTopology(random, 4, 20)
    // The same servers in another order, and some slots elsewhere.
    const masters = random.shuffled([...before.masters, 'new:1'])
    const owners = before.owners.map((o) =>
      random.chance(0.1) ? random.below(masters.length) : masters.indexOf(before.masters[o]),
    )
    const map = slotMapOf(before)
    const left = map.replace({ masters, owners })
    const should = /** @type {Map<string, number[]>} */ (new Map())
    for (let slot = 0; slot < slotCount; slot++) {
      const was = before.masters[before.owners[slot]]
      assert.equal(map.ownerOf(slot), masters[owners[slot]])
      if (was !== masters[owners[slot]]) should.set(was, [...(should.get(was) ?? []), slot])
    }
    assert.deepEqual(new Map([...left].sort()), new Map([...should].sort()))
    assert.equal(map.replace({ masters, owners }).size, 0, 'the same map again changes nothing')
  }
})

test('a slot that nobody claims keeps its owner', () => {
  const nobody = 65_535
  const map = slotMapOf({ masters: ['a:1', 'b:1'], owners: new Uint16Array(slotCount).fill(1, 8192) })
  const owners = new Uint16Array(slotCount).fill(0, 0, 8192).fill(nobody, 8192)
  assert.equal(map.replace({ masters: ['a:1'], owners }).size, 0)
  assert.equal(map.ownerOf(100), 'a:1')
  assert.equal(map.ownerOf(9000), 'b:1')
  const left = map.replace({ masters: ['a:1', 'c:1'], owners: new Uint16Array(slotCount).fill(1, 8192) })
  assert.deepEqual([...left.keys()], ['b:1'])
  assert.equal(left.get('b:1')?.length, 8192)
})
