import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { planOf } from '../../lib/loads/plan.js'
import { costsOf } from '../../lib/measures/costs.js'
import { costedOf, serverCosts, shareOf, storedOf } from '../../lib/probes/costs.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { loadCommands } from '../../lib/workloads/own/load.js'
import { samplePlan, settingsOf } from '../helpers/sample-plan.js'

/** @import { Presence } from '../../lib/probes/presence.js' */
/** @import { Settings } from '../../settings.js' */

/** Us, beside other writers all the time. @param {number} others @returns {Presence} */
const beside = (others) => ({
  ...{ total: others + 1, own: 1, fewest: others + 1, mean: others + 1 },
  ...{ measured_s: 1, absent_s: 0, unknown_s: 0, before: 0, steady: true },
})
/** Writers came and went. */
const unsteady = { ...beside(1), mean: 1.5, steady: false }

const near = (/** @type {number | null | undefined} */ found, /** @type {number} */ wanted) =>
  assert.ok(Math.abs(Number(found) - wanted) < 1e-9, `${found}, not ${wanted}`)

/** @param {Partial<Settings>} [change] */
const known = (change) => {
  const plan = samplePlan({ quantity: 1000, ...change })
  return { plan, strategy: strategyOf(plan), writers: beside(0), unsure: 0 }
}
/** @param {Parameters<typeof shareOf>[0] & { commands: Parameters<typeof shareOf>[1] }} counted */
const shared = ({ commands, ...known }) => shareOf(known, commands)
const setex = (/** @type {number} */ calls) => ({ setex: { calls, usec: calls } })

describe('queries that the CPU of a window is divided by', () => {
  const of = (/** @type {any} */ { calls, carried, writers = beside(0), pipeline = 1 }) => {
    const plan = /** @type {any} */ ({ clients: { connections: 16, pipeline } })
    /** @type {Commands} */
    const commands = calls === null ? {} : { evalsha: { calls, usec: 1 } }
    return costedOf({ plan, strategy: { onceCommand: 'evalsha' }, totals: { carried, commands }, writers })
  }
  /** @type {[string, Parameters<typeof of>[0], number][]} */
  const cases = [
    ['that the server ran between the two INFO, whichever were answered', { calls: 141, carried: 121 }, 141],
    ['the same where replies of before came late', { calls: 100, carried: 147 }, 100],
    ['with several in flight of each connection', { calls: 1000, carried: 900, pipeline: 4 }, 1000],
    ['that were answered, beside an application that runs the command', { calls: 400, carried: 121 }, 121],
    ['that were answered, beside another box', { calls: 141, carried: 121, writers: beside(1) }, 121],
    ['that were answered, where the server counts none', { calls: null, carried: 121 }, 121],
  ]
  for (const [name, known, expected] of cases) test(name, () => assert.equal(of(known), expected))
})

describe('commands whose calls are as many as operations', () => {
  /** @type {[string, string, string[]][]} */
  const cases = [
    ['each is one of several', 'lookup-mix --with ratio=6:5', ['set', 'get']],
    ['only one of them is played', 'lookup-mix --with ratio=0:1', ['get']],
    ['a cache that is read', 'cache-aside', ['get']],
    ['a cache from which keys are removed', 'cache-aside --with ratio=2:3', ['get', 'del']],
    ['several keys at once', 'cache-mget --with batch=20', ['mget']],
    ['the same in a cluster: a command for each slot', 'cache-mget --with batch=20 --cluster', []],
  ]
  for (const [name, line, expected] of cases)
    test(name, () => {
      const settings = settingsOf(`--strategy ${line} --items 2000`)
      const facts = { agents: [1], masters: 1, cluster: settings.cluster, variant: null }
      const { countingCommands, removesItemKeys } = strategyOf(planOf(settings, facts))
      assert.deepEqual([...countingCommands].sort(), [...expected].sort())
      assert.equal(removesItemKeys, expected.includes('del'))
    })

  test('all of them are counted', () => {
    const settings = settingsOf('--strategy lookup-mix --with ratio=1:1 --items 2000 --rate 4000')
    const plan = planOf(settings, { agents: [1], masters: 1, cluster: false, variant: null })
    const commands = { get: { calls: 530, usec: 1 }, set: { calls: 480, usec: 1 } }
    const found = shared({
      plan,
      strategy: strategyOf(plan),
      writers: beside(0),
      unsure: 0,
      stored: 1000,
      commands,
    })
    assert.deepEqual(found, { share: 1, all: 1010, foreign: null })
  })
})

describe('our share of what was stored', () => {
  const half = { stored: 500, unsure: 500, calls: 1000 }
  const few = { stored: 990, unsure: 10, calls: 1000 }
  /** @type {[string, { stored: number, unsure?: number, calls: number, writers?: ReturnType<typeof beside> }, number, number][]} */
  const cases = [
    ['alone', { stored: 1000, calls: 1000 }, 1, 1000],
    ['a batch of them came after the INFO that the CPU is of', { stored: 1000, calls: 750 }, 1, 750],
    ['one of before the window came after its first INFO', { stored: 1000, calls: 1040 }, 1, 1040],
    ['alone, and the statistics of the server were reset', { stored: 1000, calls: 300 }, 1, 1000],
    ['beside a writer of as much', { stored: 1000, calls: 2000, writers: beside(1) }, 0.5, 2000],
    ['beside an application that runs our command', { stored: 500, calls: 1000 }, 1, 500],
    ['the same, and a writer', { stored: 500, calls: 1500, writers: beside(1) }, 0.5, 1000],
    ['alone, and every tenth ZADD was refused', { stored: 900, unsure: 100, calls: 1000 }, 1, 1000],
    ['alone, and every ZADD was refused', { stored: 0, unsure: 1000, calls: 1000 }, 1, 1000],
    ['alone, and commands were sent again', { stored: 1000, unsure: 50, calls: 1040 }, 1, 1040],
    ['beside a writer, half refused to both', { ...half, writers: beside(1) }, 0.5, 1000],
    ['an application, after a few losses', { stored: 490, unsure: 10, calls: 1000 }, 1, 500],
    ['beside an unused lease, after a few losses', { ...few, writers: beside(1) }, 0.99, 1000],
    ['writers came and went', { stored: 500, calls: 1000, writers: unsteady }, 0.5, 1000],
    ['the same, and a batch came after the INFO', { stored: 1000, calls: 750, writers: unsteady }, 1, 750],
  ]
  for (const [name, { calls, ...counts }, expected, items] of cases)
    test(name, () => {
      const { share, all } = shared({ ...known(), commands: setex(calls), ...counts })
      assert.deepEqual([share, all], [expected, items])
    })

  /** Between so many items of ours at least and so many at most the servers counted these calls. */
  const between = (/** @type {number} */ least, /** @type {number} */ most, /** @type {number} */ calls) => ({
    ...{ counted: { least, most }, commands: setex(calls) },
  })
  test('where the first INFO came late, calls are compared with what was stored after it', () => {
    const late = { ...known(), stored: 1000, ...between(600, 600, 1200) }
    assert.deepEqual(shared({ ...late, writers: beside(1) }), { share: 0.5, all: 1200, foreign: null })
    assert.deepEqual(shared(late).foreign, { command: 'setex', calls: 600 })
    const alone = { ...known(), stored: 1000, ...between(390, 400, 400) }
    assert.deepEqual(shared(alone), { share: 1, all: 400, foreign: null })
    const fast = { ...known({ rate: 'max' }), writers: beside(1), stored: 300 }
    assert.equal(shared({ ...fast, ...between(180, 180, 600) }).share, 0.3)
    assert.equal(shared({ ...fast, ...between(0, 180, 600) }).share, 0.3)
    const { share } = shared({ ...fast, ...between(0, 600, 600) })
    assert.equal(share, 0.5, 'the leases, where nothing else is known')
  })

  test('items of before and after the window, between the two INFO, are no other application', () => {
    const beyond = { ...known(), stored: 1000, ...between(1190, 1200, 1200) }
    assert.deepEqual(shared(beyond), { share: 1, all: 1200, foreign: null })
  })

  test('writers that write as fast as they can are not equal: the servers count', () => {
    const at = { ...known({ rate: 'max' }), writers: beside(1) }
    assert.equal(shared({ ...at, stored: 300, commands: setex(1000) }).share, 0.3)
  })

  test('what another application ran of our command is a note', () => {
    const { foreign } = shared({ ...known(), stored: 500, commands: setex(1000) })
    assert.deepEqual(foreign, { command: 'setex', calls: 500 })
    assert.equal(shared({ ...known(), stored: 990, commands: setex(1000) }).foreign, null)
  })

  test('a script counts by the SETEX that it runs', () => {
    const at = { ...known({ strategy: 'script-batch' }), writers: unsteady }
    assert.equal(shared({ ...at, stored: 250, commands: setex(1000) }).share, 0.25)
  })

  test('a command that each item needs twice counts no items', () => {
    const at = known({ strategy: loadCommands(['SET a:{n} {value}', 'SET b:{n} {value}']) })
    const commands = { set: { calls: 1000, usec: 1000 } }
    assert.deepEqual(shared({ ...at, stored: 500, commands }), { share: 1, all: 500, foreign: null })
  })

  test('where no command stands for an item the leases tell', () => {
    const at = { ...known({ strategy: 'actual-value' }), writers: beside(3) }
    const commands = { zadd: { calls: 1, usec: 1 } }
    assert.deepEqual(shared({ ...at, stored: 100, commands }), { share: 0.25, all: 400, foreign: null })
  })
})

/** @typedef {Record<string, { calls: number, usec: number }>} Commands */
/** The server of run.json. @param {number} stored @param {number} cpuS @param {Commands} commands @param {any} [more] */
const costsIn = (stored, cpuS, commands, { watched = [], ...more } = {}) => {
  const masters = { nodes: 1, overS: watched[0]?.overS ?? 0, commands, asked: {}, connections: 0, pings: 0 }
  const zero = { net_bytes: 200_000, info_bytes: 0, evicted: 0, cpu_repeats: 0.1, each: [] }
  const roles = { masters, replicas: null }
  const totals = { ...zero, cpu_s: cpuS, masters_cpu_s: cpuS, watched, commands, roles }
  const memory = { memory_bytes_per_item: null, memory_note: 'nothing came' }
  const found = { ...known(), stored, totals, memory, idle: { why: 'not asked' }, ...more }
  const { server, costed } = serverCosts(found)
  return { ...server, ...costsOf(totals, costed) }
}

test('where others may have cost more than a twentieth, there is no net cost, and they are named', () => {
  const idle = { cpu_pct: 0.5, uncertainty_pct: 0.05, probes_pct: 0.02, samples: 3, by_node: { m: 0.5 } }
  const watched = [{ address: 'm', role: 'master', overS: 10 }]
  const costs = (/** @type {number} */ gets) =>
    costsIn(10_000, 0.1, { ...setex(10_000), hmget: { calls: gets, usec: gets } }, { idle, watched })
  const few = costs(10)
  assert.equal(few.foreign_calls, null)
  near(few.cpu_us_per_item_net, 5)
  // A tenth of 10 us, the idle cost within half a us, and ten calls of 42 us at most.
  near(few.cpu_us_per_item_net_uncertainty, Math.hypot(1, 0.5) + 0.042)
  near(few.cpu_us_per_item_uncertainty, 1)
  const many = costs(100)
  assert.deepEqual([many.cpu_us_per_item, many.cpu_us_per_item_net], [10, null])
  assert.equal(many.cpu_us_per_item_net_uncertainty, null)
  const { cpu_share_most: most, ...named } = many.foreign_calls ?? {}
  assert.deepEqual(named, { command: 'hmget', calls: 100, calls_per_s: 10, on: 'masters' })
  near(most, 0.042)
  assert.equal(many.idle, idle)
})

describe('others on the replicas alone', () => {
  const idle = { cpu_pct: 1, uncertainty_pct: 0.1, probes_pct: 0.02, samples: 3, by_node: { m: 0.5, r: 0.5 } }
  /** Seconds of commands. @param {Record<string, number>} ran */
  const ranFor = (ran) =>
    Object.fromEntries(Object.entries(ran).map(([name, s]) => [name, { calls: 1, usec: s * 1e6 }]))
  /** 10 s with 0.05 s of idle cost each, 10,000 items, 100,000 reads. @param {{ ran: Record<string, number>, replicaS?: number, master?: Record<string, number>, onMasters?: number, readsReplicas?: boolean }} of */
  const costs = ({ ran, replicaS = 1.1, master = { setex: 0.01 }, onMasters = 0, readsReplicas = false }) => {
    const nodes = ['master', 'replica'].map((role) => ({ address: role[0], role, shard: 1, overS: 10 }))
    const [cpuS, commands] = [
      [0.1, replicaS],
      [ranFor(master), ranFor(ran)],
    ]
    const totals = {
      ...{ cpu_s: 0.1 + replicaS, masters_cpu_s: 0.1, net_bytes: 0, info_bytes: 0, cpu_repeats: 0.1 },
      watched: nodes,
      each: nodes.map((node, at) => ({ ...node, cpuS: cpuS[at], commands: commands[at] })),
    }
    const others = { command: 'get', calls: 1e5, calls_per_s: 1e4, on: /** @type {const} */ ('replicas') }
    const beside = { ...others, cpu_s: 4, masters_cpu_s: onMasters }
    return costsOf(totals, { items: 10_000, idle, others: beside }, readsReplicas)
  }
  const ran = { set: 0.01, get: 0.2 }

  test('replication is a part of what the master used, or more', () => {
    const found = costs({ ran: { ...ran, 'client|setname': 9, eval: 9 } })
    near(found.masters_cpu_us_per_item_net, 5)
    // From 0.55 to 1.15 times the 5 us of the masters.
    near(found.cpu_us_per_item_net, 5 + 4.25)
    assert.equal(found.foreign_calls?.command, 'get')
    near(found.cpu_us_per_item_net_uncertainty, Math.hypot(1, 0.1 * 14.25) + 1.5)
    near(costs({ ran: { ...ran, set: 0.04 } }).cpu_us_per_item_net, 5 + (4 + 5.75) / 2)
  })

  test('what is left beside the time of the reads may be less than that', () => {
    near(costs({ ran, replicaS: 0.29 }).cpu_us_per_item_net, 5 + (2.75 + 4) / 2)
    near(costs({ ran, replicaS: 0.06 }).cpu_us_per_item_net, 5 + 1)
  })

  test('of scripts the effects are replicated, so what they cost a master says less', () => {
    near(costs({ ran, master: { evalsha: 0.01 } }).cpu_us_per_item_net, 5 + (1 + 5.75) / 2)
  })

  for (const [what, master] of /** @type {[string, Record<string, number>][]} */ ([
    ['reads', { setex: 0.01, get: 0.01 }],
    ['writes that change nothing', { setex: 0.01, sadd: 0.01 }],
  ]))
    test(`${what} are not replicated, so what they cost a master says less`, () => {
      near(costs({ ran, master }).cpu_us_per_item_net, 5 + (1 + 5.75) / 2)
      near(costs({ ran: { ...ran, del: 0 }, master }).cpu_us_per_item_net, 5 + (1 + 5.75) / 2)
    })

  test('PINGs, INFO and the scripts of leases are no work of the load', () => {
    const master = { setex: 0.01, ping: 1, info: 1, eval: 0.0009 }
    near(costs({ ran, master }).cpu_us_per_item_net, 5 + 4.25)
  })

  test('a run that reads from replicas has reads of its own there: none of its cost is taken for replication', () => {
    assert.equal(costs({ ran, readsReplicas: true }).cpu_us_per_item_net, null)
  })

  test('what they asked of the masters is between its bounds too, unless it is much', () => {
    const found = costs({ ran, onMasters: 0.01 })
    assert.equal(found.masters_cpu_us_per_item_net, null)
    near(found.cpu_us_per_item_net, 5 - 0.5 + 4.25)
    near(found.cpu_us_per_item_net_uncertainty, Math.hypot(1, 0.1 * 14.25) + 1.5 + 0.5)
    assert.equal(costs({ ran, onMasters: 0.02 }).cpu_us_per_item_net, null)
  })
})

test('a run that used less than the idle servers did has no net cost, and says why', () => {
  const idle = { cpu_pct: 0.58, uncertainty_pct: 0.04, probes_pct: 0.02, samples: 3, by_node: { m: 0.58 } }
  const watched = [{ address: 'm', role: 'master', overS: 6 }]
  const costs = (/** @type {number} */ cpuS) => costsIn(6000, cpuS, setex(6000), { idle, watched })
  const less = costs(0.0312)
  assert.equal(less.cpu_us_per_item_net, null)
  assert.deepEqual(less.idle, { why: 'the servers used more while idle than while items were written' })
  const more = costs(0.0348 + 0.006)
  assert.ok(Math.abs(Number(more.cpu_us_per_item_net) - 1) < 1e-9)
  assert.equal(more.idle, idle)
})

test('items that failed make no other writer of their commands', () => {
  const costs = costsIn(600, 0.002, setex(1000), { unsure: 400 })
  const { share, cpu_us_per_item: cpu, net_bytes_per_item: net, memory_note: note } = costs
  assert.deepEqual([share, cpu, net, note], [1, 2, 200, 'nothing came'])
})

test('a run that stored nothing has no costs, whatever its refused commands took', () => {
  const costs = costsIn(0, 0.002, setex(1000), { unsure: 1000 })
  const { cpu_us_per_item: cpu, memory_bytes_per_item: memory, net_bytes_per_item: net } = costs
  assert.deepEqual([cpu, memory, net], [null, null, null])
})

test('what was stored in a window that fell behind is what was acknowledged in it, never what was offered', () => {
  const of = (/** @type {object} */ plan, /** @type {number} */ acked) =>
    storedOf(/** @type {any} */ (plan), { acked, offered: 1000 }, 400)
  const scheduled = { schedule: 'even' }
  assert.equal(of(scheduled, 1000), 1000)
  assert.equal(of(scheduled, 300), 400)
  assert.equal(of({ schedule: 'none' }, 1000), 400)
})
