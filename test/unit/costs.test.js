import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { costedOf, serverCosts, shareOf, storedOf } from '../../lib/measure/costs.js'
import { costsOf } from '../../lib/measures/costs.js'
import { loadCommands } from '../../lib/workloads/own/load.js'
import { strategyOf } from '../../lib/workloads/strategy-of-plan.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @import { Presence } from '../../lib/measure/presence.js' */
/** @import { Settings } from '../../settings.js' */

/** Us, beside other writers all the time. @param {number} others @returns {Presence} */
const beside = (others) => ({
  total: others + 1,
  own: 1,
  fewest: others + 1,
  mean: others + 1,
  measured_s: 1,
  absent_s: 0,
  unknown_s: 0,
  before: 0,
  steady: true,
})
/** Writers came and went. */
const unsteady = { ...beside(1), mean: 1.5, steady: false }

/** @param {Partial<Settings>} [change] */
const known = (change) => {
  const plan = samplePlan({ quantity: 1000, ...change })
  return { plan, strategy: strategyOf(plan), writers: beside(0), unsure: 0 }
}
const setex = (/** @type {number} */ calls) => ({ setex: { calls, usec: calls } })

describe('queries that the CPU of a window is divided by', () => {
  const of = (/** @type {any} */ { calls, carried, writers = beside(0), pipeline = 1 }) =>
    costedOf({
      plan: /** @type {any} */ ({ clients: { connections: 16, pipeline } }),
      strategy: { onceCommand: 'evalsha' },
      totals: { carried, commands: calls === null ? {} : { evalsha: { calls, usec: 1 } } },
      writers,
    })
  /** @type {[string, Parameters<typeof of>[0], number][]} */
  const cases = [
    ['that the server ran between the two INFO, whichever were answered', { calls: 141, carried: 121 }, 141],
    ['the same where replies of before came late', { calls: 100, carried: 147 }, 100],
    ['with several in flight of each connection', { calls: 1000, carried: 900, pipeline: 4 }, 1000],
    ['that were answered, beside an application that runs the command', { calls: 400, carried: 121 }, 121],
    [
      'that were answered, beside another box of the run',
      { calls: 141, carried: 121, writers: beside(1) },
      121,
    ],
    ['that were answered, where the server counts none', { calls: null, carried: 121 }, 121],
  ]
  for (const [name, known, expected] of cases) test(name, () => assert.equal(of(known), expected))
})

describe('our share of what was stored', () => {
  /** @type {[string, { stored: number, unsure?: number, calls: number, writers?: ReturnType<typeof beside> }, number, number][]} */
  const cases = [
    ['alone', { stored: 1000, calls: 1000 }, 1, 1000],
    ['a part of them was answered after the window', { stored: 1001, calls: 1000 }, 1, 1001],
    ['beside a writer of as much', { stored: 1000, calls: 2000, writers: beside(1) }, 0.5, 2000],
    ['beside an application that runs our command', { stored: 500, calls: 1000 }, 1, 500],
    ['the same, and a writer', { stored: 500, calls: 1500, writers: beside(1) }, 0.5, 1000],
    ['alone, and every tenth ZADD was refused', { stored: 900, unsure: 100, calls: 1000 }, 1, 1000],
    ['alone, and every ZADD was refused', { stored: 0, unsure: 1000, calls: 1000 }, 1, 1000],
    ['alone, and commands were sent again', { stored: 1000, unsure: 50, calls: 1040 }, 1, 1040],
    [
      'beside a writer, and both were refused half of their commands',
      { stored: 500, unsure: 500, calls: 1000, writers: beside(1) },
      0.5,
      1000,
    ],
    ['an application, after a few losses', { stored: 490, unsure: 10, calls: 1000 }, 1, 500],
    [
      'beside a lease that nobody writes under, after a few losses',
      { stored: 990, unsure: 10, calls: 1000, writers: beside(1) },
      0.99,
      1000,
    ],
    ['writers came and went', { stored: 500, calls: 1000, writers: unsteady }, 0.5, 1000],
  ]
  for (const [name, { calls, ...counts }, expected, items] of cases)
    test(name, () => {
      const { share, all } = shareOf({ ...known(), commands: setex(calls), ...counts })
      assert.equal(share, expected)
      assert.equal(all, items)
    })

  test('writers that write as fast as they can are not equal: the servers count', () => {
    const at = { ...known({ rate: 'max' }), writers: beside(1) }
    assert.equal(shareOf({ ...at, stored: 300, commands: setex(1000) }).share, 0.3)
  })

  test('what another application ran of our command is a note', () => {
    const { foreign } = shareOf({ ...known(), stored: 500, commands: setex(1000) })
    assert.deepEqual(foreign, { command: 'setex', calls: 500 })
    assert.equal(shareOf({ ...known(), stored: 990, commands: setex(1000) }).foreign, null)
  })

  test('a script counts by the SETEX that it runs', () => {
    const at = { ...known({ strategy: 'script-batch' }), writers: unsteady }
    assert.equal(shareOf({ ...at, stored: 250, commands: setex(1000) }).share, 0.25)
  })

  test('a command that each item needs twice counts no items', () => {
    const at = known({ strategy: loadCommands(['SET a:{n} {value}', 'SET b:{n} {value}']) })
    const commands = { set: { calls: 1000, usec: 1000 } }
    assert.deepEqual(shareOf({ ...at, stored: 500, commands }), { share: 1, all: 500, foreign: null })
  })

  test('where no command stands for an item the leases tell', () => {
    const at = { ...known({ strategy: 'actual-value' }), writers: beside(3) }
    const commands = { zadd: { calls: 1, usec: 1 } }
    assert.deepEqual(shareOf({ ...at, stored: 100, commands }), { share: 0.25, all: 400, foreign: null })
  })
})

/** The server of run.json. @param {any} known */
const costsIn = (known) => {
  const { server, costed } = serverCosts(known)
  return { ...server, ...costsOf(known.totals, costed) }
}

test('work of others by commands that no item needs is a note, and our own beside the items is none', () => {
  const foreignOf = (/** @type {Record<string, { calls: number, usec: number }>} */ more) =>
    costsIn({
      ...known(),
      stored: 1000,
      totals: {
        ...{
          cpu_s: 0.01,
          net_bytes: 200_000,
          info_bytes: 0,
          evicted: 0,
          watched: [{ address: 'm', overS: 10 }],
        },
        commands: {
          ...setex(1000),
          ...{
            ping: { calls: 500, usec: 900 },
            info: { calls: 10, usec: 2000 },
            eval: { calls: 2, usec: 90 },
          },
          ...more,
        },
      },
      idle: { why: 'not asked' },
      memory: { memory_bytes_per_item: null, memory_note: null },
    }).foreign_calls
  assert.equal(foreignOf({}), null)
  assert.equal(foreignOf({ hget: { calls: 20, usec: 900 }, 'config|get': { calls: 1, usec: 900 } }), null)
  const get = { calls: 9000, usec: 5000 }
  assert.deepEqual(foreignOf({ get, keys: { calls: 1, usec: 900 } }), { command: 'get', calls: 9000 })
  assert.deepEqual(foreignOf({ keys: { calls: 1, usec: 900 } }), { command: 'keys', calls: 1 })
  assert.equal(foreignOf({ keys: { calls: 1, usec: 90 } }), null)
  assert.deepEqual(foreignOf({ set: { calls: 900, usec: 900 } }), { command: 'set', calls: 900 })
})

test('a run that used less than the idle servers did has no net cost, and says why', () => {
  const idle = { cpu_pct: 0.58, uncertainty_pct: 0.04, probes_pct: 0.02, samples: 3, by_node: { m: 0.58 } }
  const costs = (/** @type {number} */ cpuS) =>
    costsIn({
      ...known(),
      stored: 6000,
      totals: {
        ...{
          cpu_s: cpuS,
          net_bytes: 200_000,
          info_bytes: 0,
          evicted: 0,
          watched: [{ address: 'm', overS: 6 }],
        },
        commands: setex(6000),
      },
      idle,
      memory: { memory_bytes_per_item: null, memory_note: null },
    })
  const less = costs(0.0312)
  assert.equal(less.cpu_us_per_item_net, null)
  assert.deepEqual(less.idle, { why: 'the servers used more while idle than while items were written' })
  const more = costs(0.0348 + 0.006)
  assert.ok(Math.abs(Number(more.cpu_us_per_item_net) - 1) < 1e-9)
  assert.equal(more.idle, idle)
})

test('items that failed make no other writer of their commands', () => {
  const totals = {
    cpu_s: 0.002,
    net_bytes: 200_000,
    ...{ info_bytes: 0, evicted: 0, watched: [] },
    commands: setex(1000),
  }
  const costs = costsIn({
    ...known(),
    stored: 600,
    unsure: 400,
    totals,
    idle: { why: 'not asked' },
    memory: { memory_bytes_per_item: null, memory_note: 'nothing came' },
  })
  assert.equal(costs.share, 1)
  assert.equal(costs.cpu_us_per_item, 2)
  assert.equal(costs.net_bytes_per_item, 200)
  assert.equal(costs.memory_note, 'nothing came')
})

test('a run that stored nothing has no costs, whatever its refused commands took', () => {
  const costs = costsIn({
    ...known(),
    stored: 0,
    unsure: 1000,
    totals: {
      cpu_s: 0.002,
      net_bytes: 200_000,
      ...{ info_bytes: 0, evicted: 0, watched: [] },
      commands: setex(1000),
    },
    idle: { why: 'not asked' },
    memory: { memory_bytes_per_item: null, memory_note: 'nothing came' },
  })
  const { cpu_us_per_item: cpu, memory_bytes_per_item: memory, net_bytes_per_item: net } = costs
  assert.deepEqual([cpu, memory, net], [null, null, null])
})

test('what was stored in a window that fell behind is what was acknowledged in it, never what was offered', () => {
  const of = (/** @type {object} */ plan, /** @type {number} */ acked) =>
    storedOf(/** @type {any} */ (plan), { acked, offered: 1000 }, 400)
  const scheduled = { rate: null, pacing: 'open' }
  assert.equal(of(scheduled, 1000), 1000)
  assert.equal(of(scheduled, 300), 400)
  assert.equal(of({ ...scheduled, rate: 'max' }, 1000), 400)
})
