import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placementWarnings } from '../../lib/run/run.js'
import { slotCount, slotOf } from '../../lib/wire/slot.js'
import { setNames } from '../../lib/workloads/latest/parts.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** A cluster whose masters have even parts of the slots. @param {number} count */
const even = (count) => ({
  masters: Array.from({ length: count }, (_, i) => `127.0.0.1:${7000 + i}`),
  owners: Uint16Array.from({ length: slotCount }, (_, slot) => Math.floor((slot * count) / slotCount)),
})

/** @param {Parameters<typeof samplePlan>[0]} settings @param {Parameters<typeof placementWarnings>[1]} [topology] */
const warned = (settings, topology = even(3)) => placementWarnings(samplePlan(settings), topology)

test('plain names that fall unevenly are told, with how many each shard has', () => {
  const { owners } = even(3)
  const perShard = [0, 0, 0]
  for (const set of setNames('', 10, 'plain')) perShard[owners[slotOf(set)]]++
  assert.deepEqual(perShard, [3, 5, 2])
  const shards = '(shard 1 3, shard 2 5, shard 3 2)'
  const message = `10 sorted sets are spread unevenly over the shards ${shards}; use --spread`
  assert.deepEqual(warned({ sortedSets: 10 }), [{ code: 'placement', message, invalidates: false }])
})

test('who is spread over slots that lie unevenly is told of the slots', () => {
  const lopsided = { ...even(2), owners: new Uint16Array(slotCount) }
  lopsided.owners.fill(1, 1000)
  const [{ message }] = warned({ sortedSets: 4, placement: 'spread' }, lopsided)
  assert.match(message, /\(shard 1 0, shard 2 4\); the slots themselves lie unevenly$/)
})

test('fewer sets than shards leave some without any, and --spread does not help', () => {
  const [{ message }] = warned({ sortedSets: 2, placement: 'spread' })
  const expected =
    /^2 sorted sets are spread unevenly .* 0.*; --ns 3 or a multiple of it reaches every shard$/
  assert.match(message, expected)
  assert.equal(warned({ sortedSets: 1, placement: 'spread', strategy: 'script-batch' }).length, 1)
})

test('nothing is reported where nothing can be uneven, where one shard has one more, and with --spread', () => {
  for (const sortedSets of [10, 3]) assert.deepEqual(warned({ sortedSets, placement: 'spread' }), [])
  assert.deepEqual(warned({ sortedSets: 10, placement: 'same-slot' }), [])
  assert.deepEqual(warned({ sortedSets: 1 }), [])
  assert.deepEqual(warned({ sortedSets: 10 }, even(1)), [])
  assert.deepEqual(warned({ sortedSets: 10 }, { masters: ['127.0.0.1:7000'], owners: null }), [])
})
