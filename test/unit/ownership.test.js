import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isGenuine, isLease, prefixReader, typesOfPlan } from '../../lib/plan/ownership.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { strategyNames } from '../../lib/workloads/index.js'
import { scriptSha } from '../../lib/workloads/lua.js'
import { announcedPlan, samplePlan } from '../helpers/sample-plan.js'

/** @import { Argument } from '../../lib/wire/encode.js' */

const nowMs = Date.UTC(2026, 10, 21)
const minute = nowMs / 60_000

const announcedFor = (/** @type {Parameters<typeof samplePlan>[0]} */ settings) =>
  announcedPlan(settings, { startedMs: nowMs, renewedMs: nowMs + 60_000 }, { variant: 'HSETEX' })

/** The type that a command makes of its key. @type {Record<string, string>} */
const madeBy = {
  ...{ SETEX: 'string', PFADD: 'string', RPUSH: 'list', SADD: 'set', XADD: 'stream' },
  ...{ ZADD: 'zset', EVALSHA: 'zset', HSET: 'hash', HSETEX: 'hash' },
}

const text = (/** @type {Argument} */ part) =>
  (Array.isArray(part) ? part : [part])
    .map((piece) => (typeof piece === 'object' && 'hole' in piece ? minute : String(piece)))
    .join('')

for (const strategy of strategyNames('ticks'))
  for (const settings of [{}, { prefix: 'team-a:' }, { once: true }, { sortedSets: 3, extraSortedSets: 1 }])
    test(`every key that ${strategy} writes is covered, with its type: ${JSON.stringify(settings)}`, () => {
      const all = { strategy, ...settings }
      const plan = samplePlan(all, { variant: 'HSETEX' })
      const typeOf = typesOfPlan(announcedFor(all))
      let made = 0
      for (const step of strategyOf(plan).steps())
        for (let n = 1; n <= plan.quantity && step.kind !== 'once'; n++) {
          /** @type {Argument[]} */
          const args = step.kind === 'each' ? step.args(n) : step.args(step.key(n), [n])
          const type = args[1] === scriptSha('store-hash') ? 'hash' : madeBy[String(args[0])]
          if (!type) continue
          const key = text(args[step.keyAt ?? 1])
          assert.equal(typeOf(key), type, key)
          made++
        }
      assert.ok(made >= plan.quantity)
    })

test('items of a spread script carry the tag of their set, and no other', () => {
  const announced = announcedFor({ strategy: 'script-batch', sortedSets: 2, placement: 'spread' })
  const [even, odd] = announced.sets.map((set) => set.slice(set.indexOf('{')))
  const keys = [`item:4${even}`, `item:5${odd}`, `item:4${odd}`, 'item:4']
  assert.deepEqual(keys.map(typesOfPlan(announced)), ['string', 'string', null, null])
})

test('similar names of others are not covered', () => {
  const typeOf = typesOfPlan(announcedFor({ prefix: 'p:' }))
  const foreign = `item:1,p:item:0,p:item:101,p:item:abc,p:item:01,p:item:1 ,p:item:1{x},p:item:-1,p:item:,p:item:1:2,
p:items:1,latest-ids,p:latest-ids:0,p:latest-ids-list,q:latest-ids,p:latest-hash:1,p:latest-stream,p:latest-fields:0,
p:latest-ids:29396160,p:p:item:1,,millrace:plan,p:item:1.0,p:item:1e1,p:item:99999999999999999999,P:item:1`
  for (const key of foreign.split(/,\n?/)) assert.equal(typeOf(key), null, key)
  assert.equal(typeOf('p:item:100'), 'string')
  assert.equal(typesOfPlan(announcedFor({ prefix: 'p:', once: true }))('p:item:101'), 'string')
})

test('a minute is ours while the plan was alive, with a day for clocks that differ', () => {
  const typeOf = typesOfPlan(announcedFor({ strategy: 'set' }))
  const minutes = [minute, minute + 1441, minute + 1442, minute - 1441, 12_345_678]
  const types = minutes.map((one) => typeOf(`latest-ids:${one}`))
  assert.deepEqual(types, ['set', 'set', null, null, null])
})

test('a prefix is what stands in front of a name of ours', () => {
  const table = /** @type {[string, string | null][]} */ ([
    ['item:1', ''],
    ['a:item:1', 'a:'],
    ['a:latest-ids:3{forced-slot}', 'a:'],
    ['millrace:lease:0123456789:1', ''],
    ['user:1', null],
    ['{a}item:1', null],
    [`${'x'.repeat(101)}item:1`, null],
  ])
  const prefixOf = prefixReader()
  for (const [key, prefix] of table) assert.equal(prefixOf(key), prefix, key)
})

test('a lease is told by its name', () => {
  assert.ok(isLease('millrace:lease:12'))
  assert.ok(isLease('p:millrace:lease:1'))
  assert.ok(isLease('p:millrace:lease:read:sorted-set:1'))
  for (const key of ['millrace:lease:0', 'millrace:lease:read:1', 'millrace:lease:x:1', 'lease:1'])
    assert.ok(!isLease(key), key)
})

test('an announcement speaks for its own prefix and its own names only', () => {
  const announced = announcedFor({ prefix: 'p:', sortedSets: 3, extraSortedSets: 2 })
  assert.ok(isGenuine(announced, 'p:'))
  assert.ok(!isGenuine(announced, ''))
  assert.ok(!isGenuine({ ...announced, sets: ['p:latest-ids:0', 'p:latest-ids:1', 'users'] }, 'p:'))
  assert.ok(!isGenuine({ ...announced, extraSets: ['sessions'] }, 'p:'))
})
