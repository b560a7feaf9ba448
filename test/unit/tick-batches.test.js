// In which order a chunk's commands go: a portion of its items with all steps, then the next.
import assert from 'node:assert/strict'
import test from 'node:test'
import { tickBatchesOf } from '../../lib/transport/tick-batches.js'
import { eachStep, gatherStep, once } from '../../lib/workloads/bind/writer.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { strategyNames } from '../../lib/workloads/index.js'
import { valuesAt } from '../helpers/commands.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { valuesOf } from '../helpers/table.js'

/** @import { Batch } from '../../lib/transport/tick-batches.js' */

const store = eachStep((n) => ['SET', `item:${n}`, 'value'])
const rank = (/** @type {number} */ max, sets = 1) =>
  gatherStep(
    max,
    (n) => `set:${n % sets}`,
    (key, ns) => ['ZADD', key, ...ns.flatMap((n) => ['0', String(n)])],
  )
const trim = once(['set:0'], (key) => ['ZREMRANGEBYRANK', key, '0', '-9'])

/** @param {Parameters<typeof samplePlan>[0]} changes @param {any[]} steps @param {boolean} [cluster] */
const batchesIn = async (changes, steps, cluster = false) => {
  const plan = samplePlan(changes, { cluster, masters: cluster ? 3 : 1 })
  const batches = await tickBatchesOf(plan, steps, { keep: false })
  return plan.once
    ? batches.fresh({ first: plan.agents[0].first, count: plan.agents[0].count }, valuesAt(0)).flat()
    : batches.batchesOf(0).flat()
}

/** Items that each command carries. @param {Batch} batch */
const itemsOf = (batch) =>
  Array.from({ length: batch.count }, (_, i) =>
    [...batch.members.slice(batch.from[i], batch.from[i + 1])].map((m) => batch.first + m),
  )

const kindsOf = (/** @type {Batch[]} */ list) => list.map(({ step }) => step.kind).join(' ')
/** @param {Batch[]} list @param {unknown} step */
const carried = (list, step) => list.filter((batch) => batch.step === step).flatMap(itemsOf)

for (const cluster of [false, true]) {
  for (const isOnce of [false, true]) {
    const where = `${cluster ? 'cluster' : 'one server'}${isOnce ? ', --once' : ''}`
    test(`values of a portion, then its members, then the next portion; what carries no item at the end: ${where}`, async () => {
      const members = rank(1000)
      const list = await batchesIn({ quantity: 50_000, once: isOnce }, [store, members, trim], cluster)
      assert.equal(kindsOf(list), `${'each gather '.repeat(12)}once`)
      let last = 0
      for (let p = 0; p < 24; p += 2) {
        const values = new Set(itemsOf(list[p]).flat())
        const ids = itemsOf(list[p + 1]).flat()
        assert.equal(values.size, ids.length)
        for (const n of ids) assert.ok(values.has(n), 'each member’s value goes before it')
        assert.equal(Math.min(...ids), last + 1)
        last = Math.max(...ids)
      }
      assert.equal(last, 50_000)
    })
  }
}

test('commands are as full as they would be of a whole chunk', async () => {
  const members = rank(1000, 10)
  const list = await batchesIn({ quantity: 100_000 }, [store, members])
  const sizes = carried(list, members).map(({ length }) => length)
  assert.equal(sizes.length, 100)
  assert.ok(sizes.every((n) => n === 1000))
})

test('a chunk goes whole where a command may hold all of it, and larger portions where there is one step', async () => {
  assert.equal((await batchesIn({ quantity: 100_000 }, [store, rank(0)])).length, 2)
  assert.equal((await batchesIn({ quantity: 100_000 }, [store, trim])).length, 8)
  assert.equal((await batchesIn({ quantity: 8000 }, [store, rank(1000)])).length, 2)
})

test('a step alone is cut where its commands are full', async () => {
  const list = await batchesIn({ quantity: 100_000 }, [rank(1000)])
  assert.equal(list.length, 6)
  assert.equal(carried(list, list[0].step).length, 102, 'of 6 portions of up to 17,000 items each')
})

test('what is begun together is a portion of each connection', async () => {
  const plan = samplePlan({ quantity: 50_000, connections: 3 })
  const batches = await tickBatchesOf(plan, [store, rank(1000), trim], { keep: false })
  const found = batches.batchesOf(0).map((together) => together.map(({ connection }) => connection).join(''))
  assert.deepEqual(found, ['001122', '001122', '001122', '0011222'])
})

test('what carries no item and stands first goes first, once', async () => {
  const begin = once(['set:0'], (key) => ['EXPIRE', key, '9'])
  const list = await batchesIn({ quantity: 10_000 }, [begin, store, rank(1000), trim])
  assert.equal(kindsOf(list), 'once each gather each gather once')
})

const all = Array.from({ length: 33_333 }, (_, i) => i + 1)
for (const name of strategyNames('ticks'))
  test(`every item is in every step of ${name} once, however many portions`, async () => {
    const plan = samplePlan({ strategy: name, quantity: 33_333 })
    const steps = strategyOf(plan).steps()
    const batches = await tickBatchesOf(plan, steps, { keep: false })
    for (const step of steps) {
      const own = batches
        .batchesOf(0)
        .flat()
        .filter((batch) => batch.step === step)
      const items = own.flatMap((batch) => itemsOf(batch).flat()).sort((a, b) => a - b)
      const parts =
        step.kind === 'once' && step.paced ? own.map((_, at) => ({ at, of: own.length })) : [{ at: 0, of: 1 }]
      if (step.kind === 'once') assert.deepEqual(valuesOf(own, 'part'), parts)
      else assert.deepEqual(items, all)
    }
  })
