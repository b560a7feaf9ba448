import assert from 'node:assert/strict'
import test from 'node:test'
import { batchOf } from '../../lib/transport/tick-batches.js'
import { plainArgument } from '../../lib/wire/encode.js'
import { slotOf } from '../../lib/wire/slot.js'
import { eachStep, gatherStep, once } from '../../lib/workloads/bind/writer.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { strategyNames } from '../../lib/workloads/index.js'
import { valuesAt } from '../helpers/commands.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @import { Step } from '../../lib/workloads/bind/writer.js' */
/** @import { Batch } from '../../lib/transport/tick-batches.js' */

const values = valuesAt(1_790_000_000_123)
/** Adds the items to their sets. @param {number} max @param {Parameters<typeof gatherStep>[1]} keyOf */
const addStep = (max, keyOf) => gatherStep(max, keyOf, (key, ns) => ['SADD', key, ...ns])

/** The items of command i. @param {Batch} batch @param {number} i */
const itemsOf = ({ first, members, from }, i) =>
  [...members.subarray(from[i], from[i + 1])].map((m) => first + m)

/** @param {Batch} batch @param {{ first: number, count: number }} range */
const assertEveryItemOnce = (batch, range) => {
  const all = Array.from({ length: batch.count }, (_, i) => itemsOf(batch, i)).flat()
  const whole = Uint32Array.from({ length: range.count }, (_, i) => range.first + i)
  assert.deepEqual(Uint32Array.from(all).sort(), whole)
  assert.equal(batch.from.length, batch.count + 1)
}

/** @param {Batch} batch @param {number} i */
const keyOf = (batch, i) => String(plainArgument(batch.args(i)[batch.step.keyAt ?? 1], values))

const assertSlots = (/** @type {Batch} */ batch, /** @type {boolean} */ cluster) => {
  const real = Array.from({ length: batch.count }, (_, i) => slotOf(keyOf(batch, i)))
  const told = real.map((_, i) => batch.slotAt(i, values))
  assert.deepEqual(told, cluster ? real : real.map(() => 0))
  if (!cluster || batch.moving) assert.equal(batch.slots, null)
  else {
    const inOrder = real.toSorted((a, b) => a - b)
    assert.deepEqual([[...(batch.slots ?? [])], inOrder], [real, real])
  }
}

const ranges = [
  { first: 1, count: 1 },
  { first: 1, count: 500 },
  { first: 37_501, count: 333 },
  { first: 5, count: 0 },
]

for (const name of strategyNames('ticks')) {
  for (const cluster of [false, true]) {
    test(`${name}${cluster ? ' in a cluster' : ''}: each step carries every item once, or none`, () => {
      const scripted = name.startsWith('script')
      const keepsSets = ['sorted-set', 'actual-value', 'hash'].includes(name) || scripted
      const placement = /** @type {const} */ ('spread')
      const sets = { sortedSets: 7, placement, extraSortedSets: scripted ? 0 : 2 }
      const strategy = /** @type {any} */ (name)
      const plan = samplePlan(
        { strategy, quantity: 40_000, maxMembers: 40, ...(keepsSets ? sets : { extraSortedSets: 0 }) },
        { cluster, masters: cluster ? 3 : 1, variant: 'HEXPIRE' },
      )
      for (const range of ranges) {
        for (const step of strategyOf(plan).steps()) {
          const batch = batchOf(step, range, { cluster, values })
          if (step.kind === 'once') {
            assert.equal(batch.count, step.keys.length)
            assert.equal(batch.members.length, 0)
            assert.deepEqual([...batch.from], Array(batch.count + 1).fill(0))
          } else assertEveryItemOnce(batch, range)
          assertSlots(batch, cluster)
        }
      }
    })
  }
}

test('a command carries the items that its arguments name', () => {
  const range = { first: 11, count: 300 }
  const steps = [eachStep((n) => ['SET', `item:${n}`, n]), addStep(7, (n) => `set:${n % 3}`)]
  for (const step of steps) {
    for (const cluster of [false, true]) {
      const batch = batchOf(step, range, { cluster, values })
      for (let i = 0; i < batch.count; i++) assert.deepEqual(batch.args(i).slice(2), itemsOf(batch, i))
    }
  }
})

for (const { total, max, sizes } of [
  { total: 1001, max: 1000, sizes: [500, 501] },
  { total: 1000, max: 1000, sizes: [1000] },
  { total: 10, max: 3, sizes: [2, 3, 2, 3] },
  { total: 5, max: 1, sizes: [1, 1, 1, 1, 1] },
  { total: 300_000, max: 0, sizes: [300_000] },
]) {
  test(`${total} members cut at ${max || 'nothing'} go as ${sizes.join(', ')}`, () => {
    const step = addStep(max, () => 'key')
    const { count, from } = batchOf(step, { first: 1, count: total }, { cluster: true, values })
    const found = Array.from({ length: count }, (_, i) => from[i + 1] - from[i])
    assert.deepEqual(found, sizes)
  })
}

test('keys that hold the minute have no slot of their own', () => {
  const key = ['latest-ids:', /** @type {const} */ ({ hole: 'minute', width: 8 })]
  for (const step of [addStep(10, () => key), once([key], (k) => ['EXPIRE', k, 180])]) {
    const batch = batchOf(step, { first: 1, count: 35 }, { cluster: true, values })
    assert.equal(batch.moving, true)
    assert.equal(batch.slots, null)
    for (const at of [values, valuesAt(1_790_000_060_123)]) {
      for (let i = 0; i < batch.count; i++)
        assert.equal(batch.slotAt(i, at), slotOf(`latest-ids:${at.minute}`))
    }
    assert.notEqual(batch.slotAt(0, values), batch.slotAt(0, valuesAt(1_790_000_060_123)))
  }
})

test('keys of an item that hold the minute have no slot of their own', () => {
  const key = (/** @type {number} */ n) => [
    `limit:${n}:`,
    /** @type {const} */ ({ hole: 'minute', width: 8 }),
  ]
  const step = eachStep((n) => ['INCR', key(n)])
  const blank = { ...values, minute: '0'.repeat(8) }
  const batch = batchOf(step, { first: 1, count: 35 }, { cluster: true, values: blank })
  assert.equal(batch.moving, true)
  assertSlots(batch, true)
  for (const at of [values, valuesAt(1_790_000_060_123)]) {
    for (let i = 0; i < batch.count; i++)
      assert.equal(batch.slotAt(i, at), slotOf(`limit:${itemsOf(batch, i)[0]}:${at.minute}`))
  }
})

test('keys made of parts are put in the order of what they spell', () => {
  const keys = Array.from({ length: 50 }, (_, i) => ['k:', i])
  const step = once(keys, (key) => ['DEL', key])
  assertSlots(batchOf(step, { first: 1, count: 0 }, { cluster: true, values }), true)
})

test('where the key is not the first argument', () => {
  const step = eachStep((n) => ['EVALSHA', 'sha', 1, `key:${n}`], { keyAt: 3 })
  assertSlots(batchOf(step, { first: 1, count: 200 }, { cluster: true, values }), true)
})
