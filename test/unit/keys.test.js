// Names of keys and the slots that they fall into. Those of each strategy are in strategies-declared.test.js.
import assert from 'node:assert/strict'
import test from 'node:test'
import { plainArgument } from '../../lib/wire/encode.js'
import { slotOf } from '../../lib/wire/slot.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { setNames } from '../../lib/workloads/latest/parts.js'
import { valuesAt } from '../helpers/commands.js'
import { samplePlan } from '../helpers/sample-plan.js'

test('spread sets fall evenly over the slots, by j and N alone', () => {
  for (const count of [1, 2, 3, 6, 10]) {
    const keys = setNames('x:', count, 'spread')
    keys.forEach((key, j) => {
      assert.match(key, new RegExp(`^x:latest-ids:${j}\\{\\d+\\}$`))
      assert.equal(slotOf(key), Math.floor(((j + 0.5) * 16384) / count))
    })
  }
})

test('fields go into buckets of about a hundred', () => {
  const plan = samplePlan({ strategy: 'hash-ttl', quantity: 250 }, { variant: 'HSETEX' })
  const [step] = strategyOf(plan).steps()
  assert.ok(step.kind === 'gather')
  const counts = new Map()
  for (let n = 1; n <= 250; n++) {
    const key = String(plainArgument(step.key(n), valuesAt(0)))
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  assert.deepEqual([...counts.keys()].sort(), ['latest-fields:0', 'latest-fields:1', 'latest-fields:2'])
  assert.ok([...counts.values()].every((count) => count >= 80 && count <= 100))
})
