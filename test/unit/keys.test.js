import assert from 'node:assert/strict'
import test from 'node:test'
import { keysOf, sortedSetKeys } from '../../lib/plan/keys.js'
import { plainArgument } from '../../lib/wire/encode.js'
import { slotOf } from '../../lib/wire/slot.js'
import { valuesAt } from '../helpers/commands.js'
import { samplePlan } from '../helpers/sample-plan.js'

const sets = [
  { name: 'one set', settings: {}, keys: ['latest-ids'] },
  { name: 'three sets', settings: { sortedSets: 3 }, keys: ['latest-ids:0', 'latest-ids:1', 'latest-ids:2'] },
  {
    name: 'same slot',
    settings: { sortedSets: 2, placement: 'same-slot' },
    keys: ['latest-ids:0{forced-slot}', 'latest-ids:1{forced-slot}'],
  },
  { name: 'a prefix', settings: { sortedSets: 2, prefix: 'p:' }, keys: ['p:latest-ids:0', 'p:latest-ids:1'] },
]
for (const { name, settings, keys } of sets) {
  test(`sorted sets: ${name}`, () => {
    assert.deepEqual(samplePlan(/** @type {any} */ (settings)).sets, keys)
  })
}

test('spread sets fall evenly over the slots, by j and N alone', () => {
  for (const count of [1, 2, 3, 6, 10]) {
    const keys = sortedSetKeys('x:', count, 'spread')
    keys.forEach((key, j) => {
      assert.match(key, new RegExp(`^x:latest-ids:${j}\\{\\d+\\}$`))
      assert.equal(slotOf(key), Math.floor(((j + 0.5) * 16384) / count))
    })
  }
})

test('the other keys, with the prefix in front of all of them', () => {
  const at = valuesAt(1_790_000_000_123)
  const minute = Math.floor(1_790_000_000_123 / 60_000)
  const keys = keysOf(samplePlan({ prefix: 'p:', sortedSets: 3, quantity: 250 }))
  assert.equal(keys.item(35), 'p:item:35')
  assert.equal(keys.hash(35), 'p:latest-hash:35')
  assert.deepEqual(
    [keys.set(3), keys.set(4), keys.set(5)],
    ['p:latest-ids:0', 'p:latest-ids:1', 'p:latest-ids:2'],
  )
  assert.equal(keys.list, 'p:latest-ids-list')
  assert.equal(keys.stream, 'p:latest-stream')
  assert.equal(plainArgument(keys.minuteSet, at), `p:latest-ids:${minute}`)
  assert.equal(plainArgument(keys.minuteCount, at), `p:latest-ids-count:${minute}`)
  assert.deepEqual(samplePlan({ prefix: 'p:', extraSortedSets: 2 }).extraSets, [
    'p:latest-ids-extra:1',
    'p:latest-ids-extra:2',
  ])
})

test('fields go into buckets of about a hundred', () => {
  const { bucket } = keysOf(samplePlan({ strategy: 'hash-ttl', quantity: 250 }))
  const counts = new Map()
  for (let n = 1; n <= 250; n++) counts.set(bucket(n), (counts.get(bucket(n)) ?? 0) + 1)
  assert.deepEqual([...counts.keys()].sort(), ['latest-fields:0', 'latest-fields:1', 'latest-fields:2'])
  assert.ok([...counts.values()].every((count) => count >= 80 && count <= 100))
})

test('items of a script with --spread carry the tag of their set', () => {
  const { item, set } = keysOf(
    samplePlan(
      { strategy: 'script-item', sortedSets: 3, placement: 'spread' },
      { masters: 3, cluster: true },
    ),
  )
  for (let n = 1; n < 50; n++) {
    assert.match(item(n), new RegExp(`^item:${n}\\{\\d+\\}$`))
    assert.equal(slotOf(item(n)), slotOf(set(n)))
  }
  const plain = keysOf(samplePlan({ sortedSets: 3, placement: 'spread' }))
  assert.equal(plain.item(35), 'item:35')
})
