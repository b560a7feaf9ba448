import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { agreed, idleCost, netBytesBeside, netCostOf } from '../../lib/probes/idle-cost.js'
import { disturbedBy, othersBeside, sampleMs } from '../../lib/run/idle.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @import { NodeRow } from '../../lib/probes/node-sampler.js' */

/** @param {number | null} pct @param {Partial<NodeRow>} [more] @returns {NodeRow} */
const row = (pct, more) => ({
  ...{ address: 'm', shard: 1, role: 'master', at_ms: 0, over_ms: 1000, cpu_pct: pct },
  commands: { ping: { calls: 50, usec: 70 }, info: { calls: 1, usec: 130 } },
  ...more,
})
/** Three samples of the same rows. @param {NodeRow[]} rows */
const agreedThrice = (...rows) => agreed([rows, rows, rows])
const near = (/** @type {number | undefined} */ found, /** @type {number} */ wanted) =>
  assert.ok(Math.abs(Number(found) - wanted) < 1e-9, `${found}, not ${wanted}`)

describe('samples of idle servers', () => {
  for (const [name, pcts, agree] of /** @type {[string, (number | null)[], boolean][]} */ ([
    ['alike', [0.48, 0.5, 0.52], true],
    ['a fifth apart on either side', [0.4, 0.5, 0.6], true],
    ['more than that', [0.35, 0.5, 0.65], false],
    ['of next to nothing', [0.02, 0.06, 0.11], true],
    ['one of them missing', [0.5, null, 0.5], false],
  ]))
    test(name, () => assert.equal(agreed(pcts.map((pct) => [row(pct)])) !== null, agree))

  test('their mean, how far they are apart, and what of it our probes executed', () => {
    const replica = { address: 'r', role: /** @type {const} */ ('replica') }
    const idle = agreed([0.25, 0.27, 0.29].map((pct) => [row(0.5), row(pct, replica)]))
    near(idle?.cpu_pct, 0.77)
    near(idle?.uncertainty_pct, 0.077)
    near(agreed([[row(0.2)], [row(0.25)], [row(0.3)]])?.uncertainty_pct, 0.05)
    near(idle?.by_node.m, 0.5)
    near(idle?.by_node.r, 0.27)
    near(idle?.probes_pct, 0.04)
  })

  test('what is on the network of the masters meanwhile, without our INFO', () => {
    const bytes = { net_in_bytes: 700, net_out_bytes: 9300, info_bytes: 9000, over_ms: 2000 }
    const replica = { address: 'r', role: /** @type {const} */ ('replica'), over_ms: 2000 }
    const busy = row(0.5, { ...replica, net_in_bytes: 1e6, net_out_bytes: 1e6 })
    const idle = agreedThrice(row(0.5, bytes), busy)
    near(Number(idle?.net_bytes_per_s), 500)
    const known = { netBytes: 340_000, infoBytes: 100_000, items: 1000, overS: 10 }
    near(Number(idle && netBytesBeside({ ...known, idle })), 235)
    assert.equal(netBytesBeside({ ...known, idle: { why: '--idle-cost never' } }), null)
    assert.equal(agreedThrice(row(0.5))?.net_bytes_per_s, null)
  })

  test('a second in which a master did not answer leaves their bytes to the other seconds', async () => {
    const bytes = { net_in_bytes: 700, net_out_bytes: 9300, info_bytes: 9000 }
    const gap = { gap: /** @type {const} */ ('silent'), over_ms: undefined, cpu_pct: undefined }
    const bytesOf = async (/** @type {NodeRow[][]} */ ...seconds) => {
      const left = [seconds[0], ...seconds]
      const sample = async () => left.shift() ?? []
      return (await idleCost({ sample, sleep: async () => {}, disturbed: async () => null })).net_bytes_per_s
    }
    const [calm, busy] = [row(1, bytes), row(5, bytes)]
    const late = row(5, { ...bytes, over_ms: 2000, net_in_bytes: 1700 })
    assert.equal(await bytesOf([calm], [busy], [calm], [busy], [calm], [row(0, gap)]), 1000)
    assert.equal(await bytesOf([calm], [row(0, gap)], [late], [calm], [busy], [calm]), 1000)
    const other = { address: 'n' }
    const both = [calm, row(1, { ...bytes, ...other })]
    const one = [row(5, bytes), row(0, { ...gap, ...other })]
    assert.equal(await bytesOf(both, one, both, one, both, one), 2000)
    const none = [calm, row(0, { ...gap, ...other })]
    assert.equal(await bytesOf(none, none, none, none, none, none), null, 'one of them never answered')
  })

  test('an upper bound is no measurement', () =>
    assert.equal(agreedThrice(row(0.5, { cpu_upper_bound: true })), null))

  const measured = async (/** @type {(number | null)[]} */ pcts, /** @type {string | null} */ why = null) => {
    const left = [null, ...pcts]
    const idle = await idleCost({
      sample: async () => [row(left.shift() ?? null)],
      sleep: async () => {},
      disturbed: async () => why,
    })
    return { idle, left: left.length }
  }

  test('the first three that agree in turn', async () => {
    const calm = await measured([0.5, 0.5, 0.5, 9, 9, 9])
    assert.deepEqual([calm.left, 'why' in calm.idle], [3, false])
    const late = await measured([0.9, 0.5, 0.5, 0.5, 9, 9])
    assert.deepEqual([late.left, 'cpu_pct' in late.idle && late.idle.cpu_pct], [2, 0.5])
  })

  test('none of six, and why', async () => {
    const { idle, left } = await measured([1, 5, 1, 5, 1, null, 1])
    assert.equal(left, 1)
    const why = 'why' in idle ? idle.why : ''
    assert.match(why, /not steady: 1\.00, 5\.00, 1\.00, 5\.00, 1\.00, none % of a core/)
  })

  test('seconds in which others were at work are no idle seconds', async () => {
    const of = async (/** @type {(string | null)[]} */ ...who) => {
      const left = [...who]
      const idle = await idleCost({
        sample: async () => [row(0.5)],
        sleep: async () => {},
        disturbed: async () => null,
        others: () => left.shift() ?? null,
      })
      return { left: left.length, why: 'why' in idle ? idle.why : '' }
    }
    const get = 'others were at work: 500 GET/s'
    assert.deepEqual(await of(get, null, null, null, null, null), { left: 2, why: '' })
    const always = await of(get, null, null, get, null, null)
    assert.deepEqual(always, { left: 0, why: `${get} before the first write` })
  })

  test('what was disturbed is not idle', async () => {
    const { idle, left } = await measured([1, 5, 1], 'others wrote')
    assert.deepEqual([idle, left], [{ why: 'others wrote' }, 2])
  })
})

describe('the cost of an item without the idle cost', () => {
  const by = { by_node: { m: 0.4, r: 0.2 } }
  const idle = { cpu_pct: 0.6, uncertainty_pct: 0.03, probes_pct: 0.02, samples: 3, ...by }
  /** @param {Record<string, number>} watchedS by node @param {Partial<Parameters<typeof netCostOf>[0]>} more */
  const costOf = (watchedS, more) => {
    const nodes = Object.entries(watchedS).map(([address, overS]) => ({ address, overS }))
    return netCostOf({ cpuS: 0.1, items: 10, idle, nodes, ...more })
  }

  test('1,000 items a second for ten seconds', () => {
    const cost = costOf({ m: 10, r: 10 }, { cpuS: 0.086, items: 10_000 })
    near(cost?.net, 2.6)
    near(cost?.uncertainty, 0.3)
    near(cost?.fixed_share, 0.06 / 0.086)
  })

  test('each node for as long as it was watched, and one that came later as the others', () => {
    near(costOf({ m: 10, new: 5 }, { cpuS: 0.155, items: 1000 })?.net, 100)
  })

  test('never less than nothing, and nothing where nobody knows', () => {
    assert.equal(costOf({ m: 10 }, { cpuS: 0.038 })?.net, 0)
    // Less than while idle, by more than the 3 ms that it may be off.
    assert.equal(costOf({ m: 10 }, { cpuS: 0.035 }), null)
    assert.equal(costOf({ m: 10 }, { idle: { why: 'never' } }), null)
    assert.equal(costOf({ m: 10 }, { cpuS: null }), null)
    assert.equal(costOf({ m: 10 }, { items: 0 }), null)
  })
})

test('samples of a short run are shorter', () => {
  assert.deepEqual([null, 10_000, 9999].map(sampleMs), [1000, 1000, 500])
})

test('another application is noticed beside the idle servers by its calls', () => {
  const plan = samplePlan({ quantity: 1000 })
  const who = (/** @type {Partial<NodeRow>} */ more, calls = {}) => {
    const commands = { ping: { calls: 50, usec: 70 }, info: { calls: 1, usec: 130 }, ...calls }
    return othersBeside({ plan, strategy: strategyOf(plan) })([
      row(0.5, { cpu_s: 0.005, asked: { info: 1 }, connections: 0, commands, ...more }),
    ])
  }
  assert.equal(who({}), null)
  assert.equal(who({ connections: 2 }), null)
  assert.equal(who({}, { get: { calls: 10, usec: 10 } }), null)
  assert.equal(who({}, { mget: { calls: 500, usec: 500 } }), 'others were at work: 500 MGET/s')
  assert.equal(who({}, { ping: { calls: 550, usec: 700 } }), 'others were at work: 500 PING/s')
  assert.equal(who({}, { setex: { calls: 500, usec: 700 } }), 'others were at work: 500 SETEX/s')
})

test('items that other boxes of the run write are no idle cost, those of another application may be', async () => {
  const plan = samplePlan({ totalAgents: 3 })
  const why = (/** @type {number | null} */ there, /** @type {string} */ command) => {
    const others = async () => there ?? Promise.reject(new Error('READONLY'))
    const rows = [row(1, { commands: { [command]: { calls: 1, usec: 1 } } })]
    return disturbedBy({ strategy: strategyOf(plan), otherWriters: others })([rows])
  }
  assert.equal(await why(0, 'setex'), null)
  assert.equal(await why(2, 'get'), null)
  assert.match((await why(1, 'setex')) ?? '', /other writers of this run/)
  assert.match((await why(null, 'setex')) ?? '', /do not show by whom/)
})
