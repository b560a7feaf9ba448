import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { serverCosts, shareOf } from '../../lib/run/costs.js'
import { strategyOf } from '../../lib/workloads/of-plan.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @param {Partial<import('../../settings.js').Settings>} [change] */
const known = (change) => {
  const plan = samplePlan({ quantity: 1000, ...change })
  return { plan, strategy: strategyOf(plan), liveAgents: [1], unsure: 0 }
}
const setex = (/** @type {number} */ calls) => ({ setex: { calls, usec: calls } })

describe('our share of what was stored', () => {
  /** @type {[string, { stored: number, unsure?: number, calls: number, liveAgents?: number[] }, number][]} */
  const cases = [
    ['alone', { stored: 1000, calls: 1000 }, 1],
    ['a part of them was answered after the window', { stored: 1001, calls: 1000 }, 1],
    ['beside a writer of as much', { stored: 1000, calls: 2000, liveAgents: [1, 2] }, 0.5],
    ['beside a writer without a lease', { stored: 500, calls: 1000 }, 0.5],
    ['alone, and every tenth ZADD was refused', { stored: 900, unsure: 100, calls: 1000 }, 1],
    ['alone, and every ZADD was refused', { stored: 0, unsure: 1000, calls: 1000 }, 1],
    ['alone, and commands were sent again', { stored: 1000, unsure: 50, calls: 1040 }, 1],
    [
      'beside a writer, and both were refused half of their commands',
      { stored: 500, unsure: 500, calls: 1000, liveAgents: [1, 2] },
      0.5,
    ],
    ['beside a writer without a lease, after a few losses', { stored: 490, unsure: 10, calls: 1000 }, 0.5],
    [
      'beside a lease that nobody writes under, after a few losses',
      { stored: 990, unsure: 10, calls: 1000, liveAgents: [1, 2] },
      0.99,
    ],
  ]
  for (const [name, { calls, ...counts }, expected] of cases)
    test(name, () => {
      const { share, all } = shareOf({ ...known(), commands: setex(calls), ...counts })
      assert.equal(share, expected)
      assert.equal(all, Math.max(calls, counts.stored))
    })

  test('where no command stands for an item the leases tell', () => {
    const at = { ...known({ strategy: 'actual-value' }), liveAgents: [1, 2, 3, 4] }
    const commands = { zadd: { calls: 1, usec: 1 } }
    assert.deepEqual(shareOf({ ...at, stored: 100, commands }), { share: 0.25, all: 400 })
  })
})

test('items that failed make no other writer of their commands, and memory no smaller', () => {
  const totals = {
    cpu_s: 0.002,
    net_bytes: 200_000,
    data_bytes: 400_000,
    expired: 0,
    evicted: 0,
    commands: setex(1000),
  }
  const costs = serverCosts({
    ...known(),
    stored: 600,
    unsure: 400,
    totals,
    dataBefore: 0,
    keysBefore: 0,
    elapsedMs: 1000,
  })
  assert.equal(costs.share, 1)
  assert.equal(costs.cpu_us_per_item, 2)
  assert.equal(costs.net_bytes_per_item, 200)
  assert.equal(costs.memory_bytes_per_item, 400)
})

test('a run that stored nothing has no costs, whatever its refused commands took', () => {
  const costs = serverCosts({
    ...known(),
    stored: 0,
    unsure: 1000,
    totals: {
      cpu_s: 0.002,
      net_bytes: 200_000,
      data_bytes: 400_000,
      expired: 0,
      evicted: 0,
      commands: setex(1000),
    },
    dataBefore: 0,
    keysBefore: 0,
    elapsedMs: 1000,
  })
  const { cpu_us_per_item: cpu, memory_bytes_per_item: memory, net_bytes_per_item: net } = costs
  assert.deepEqual([cpu, memory, net], [null, null, null])
})
