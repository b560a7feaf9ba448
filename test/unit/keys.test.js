// Names of keys and the slots that they fall into. Those of each strategy are in strategies-declared.test.js.
import assert from 'node:assert/strict'
import test from 'node:test'
import { plainArgument } from '../../lib/wire/encode.js'
import { slotOf } from '../../lib/wire/slot.js'
import { setNames } from '../../lib/workloads/latest/parts.js'
import { strategyOf } from '../../lib/workloads/strategy-of-plan.js'
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
    const keys = setNames('x:', count, 'spread')
    keys.forEach((key, j) => {
      assert.match(key, new RegExp(`^x:latest-ids:${j}\\{\\d+\\}$`))
      assert.equal(slotOf(key), Math.floor(((j + 0.5) * 16384) / count))
    })
  }
})

const at = valuesAt(1_790_000_000_123)
const minute = Math.floor(1_790_000_000_123 / 60_000)

/** The key of a step's command about item n. @param {import('../../lib/workloads/step.js').Step} step @param {number} n */
const keyOf = (step, n) => {
  if (step.kind === 'once') return String(plainArgument(step.keys[0], at))
  return String(plainArgument(step.kind === 'each' ? step.args(n)[step.keyAt ?? 1] : step.key(n), at))
}
/** @param {Parameters<typeof samplePlan>[0]} settings @param {Parameters<typeof samplePlan>[1]} [facts] */
const stepsOf = (settings, facts) => strategyOf(samplePlan(settings, facts)).steps()

/** @type {[strategy: string, n: number, keys: (string | RegExp)[]][]} */
const named = [
  ['sorted-set', 35, ['p:latest-ids:0', 'p:item:35', 'p:latest-ids:2']],
  ['hash', 35, ['p:latest-ids:0', 'p:latest-hash:35', 'p:latest-ids:2']],
  ['list', 35, ['p:latest-ids-list', 'p:item:35', 'p:latest-ids-list']],
  ['stream', 35, ['p:latest-stream', 'p:latest-stream']],
  ['set', 35, [`p:latest-ids:${minute}`, 'p:item:35', `p:latest-ids:${minute}`]],
  [
    'list-hll',
    35,
    [
      `p:latest-ids-count:${minute}`,
      'p:latest-ids-list',
      'p:item:35',
      'p:latest-ids-list',
      'p:latest-ids-list',
      `p:latest-ids-count:${minute}`,
    ],
  ],
]
for (const [strategy, n, keys] of named)
  test(`the keys of ${strategy}, with the prefix in front of all of them`, () => {
    const steps = stepsOf({ strategy, prefix: 'p:', sortedSets: 3, quantity: 250 })
    assert.deepEqual(
      steps.slice(0, keys.length).map((step) => keyOf(step, n)),
      keys,
    )
  })

test('further sets are numbered from 1', () => {
  assert.deepEqual(samplePlan({ prefix: 'p:', extraSortedSets: 2 }).extraSets, [
    'p:latest-ids-extra:1',
    'p:latest-ids-extra:2',
  ])
})

test('fields go into buckets of about a hundred', () => {
  const [step] = stepsOf({ strategy: 'hash-ttl', quantity: 250 }, { variant: 'HSETEX' })
  const counts = new Map()
  for (let n = 1; n <= 250; n++) counts.set(keyOf(step, n), (counts.get(keyOf(step, n)) ?? 0) + 1)
  assert.deepEqual([...counts.keys()].sort(), ['latest-fields:0', 'latest-fields:1', 'latest-fields:2'])
  assert.ok([...counts.values()].every((count) => count >= 80 && count <= 100))
})

test('items of a script with --spread carry the tag of their set', () => {
  const facts = { masters: 3, cluster: true }
  const [, step] = stepsOf({ strategy: 'script-item', sortedSets: 3, placement: 'spread' }, facts)
  assert.ok(step.kind === 'each')
  for (let n = 1; n < 50; n++) {
    /** @type {string[]} */
    const texts = step.args(n).map((one) => String(plainArgument(one, at)))
    const [setKey, itemKey] = texts.slice(3)
    assert.match(itemKey, new RegExp(`^item:${n}\\{\\d+\\}$`))
    assert.equal(slotOf(itemKey), slotOf(setKey))
  }
  const [, plain] = stepsOf({ sortedSets: 3, placement: 'spread' })
  assert.equal(keyOf(plain, 35), 'item:35')
})
