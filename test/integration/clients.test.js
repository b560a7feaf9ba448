// The flow of clients against real servers: every operation has an outcome, whatever happens to connections and slots.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { machineWith } from '../../lib/base/timers.js'
import { clientsFlow } from '../../lib/loads/clients/flow.js'
import { operationsOf } from '../../lib/probes/operations.js'
import { addressOf, endpointOf } from '../../lib/servers/address.js'
import { dial } from '../../lib/servers/dial.js'
import { scheduleOf } from '../../lib/traffic/arrivals.js'
import { drawsOf, eachOnce } from '../../lib/traffic/items.js'
import { picksOf } from '../../lib/traffic/operations.js'
import { noTally } from '../../lib/wire/decode.js'
import { slotOf } from '../../lib/wire/slot.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { until } from '../helpers/programs.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { callsOf, cli, startCluster, startServer, suiteScope } from '../helpers/servers.js'

/**
 * @import { Scope, TestServer } from '../helpers/servers.js'
 * @import { Access } from '../../lib/servers/dial.js'
 */

const keys = 5000
const clock = () => performance.now()
const never = new AbortController().signal

/**
 * @param {Scope} t
 * @param {object} where
 * @param {string[]} where.masters
 * @param {Uint16Array | null} [where.owners]
 * @param {Access} where.access
 * @param {() => Promise<any>} [where.refresh]
 * @param {string} strategy
 * @param {{ clients?: number, pipeline?: number, draw?: () => number, weights?: number[], schedule?: any, maxBehindMs?: number }} how
 */
const play = async (t, { masters, owners = null, access, refresh }, strategy, how) => {
  const { clients = 10, pipeline = 5, weights = [1], schedule = null, maxBehindMs = 5000 } = how
  const plan = samplePlan({ strategy, quantity: keys, valueBytes: 32 }, { cluster: owners !== null })
  const bound = strategyOf(plan)
  const ledger = operationsOf({ isMeasured: () => true })
  const tally = noTally()
  const events = /** @type {string[]} */ ([])
  const latencies = { count: 0, max: 0 }
  const topology = { masters, owners }
  const flow = await clientsFlow({
    plan: { clients, pipeline, cluster: owners !== null, maxBehindMs },
    operations: bound.clientOperations(),
    pick: picksOf(weights, 1),
    draw: how.draw ?? drawsOf({ order: 'uniform', count: keys, seed: 3 }),
    schedule,
    target: {
      topology,
      dial: (at, events) => dial(endpointOf(at), access, events),
      refresh: refresh ?? (async () => topology),
      follows: () => true,
    },
    ledger,
    latency: {
      record: (dueMs, _, nowMs, n) => {
        latencies.count += n
        latencies.max = Math.max(latencies.max, nowMs - dueMs)
      },
    },
    onSent: () => {},
    tally,
    machine: machineWith(clock),
    onEvent: (kind, text) => events.push(`${kind}: ${text}`),
  })
  t.after(() => flow.close())
  const watch = setInterval(flow.watch, 200)
  t.after(() => clearInterval(watch))
  return { flow, ledger, tally, events, latencies }
}

/** @param {Awaited<ReturnType<typeof play>>} played */
const assertWhole = ({ ledger }) => {
  assert.ok(ledger.isBalanced(), JSON.stringify(ledger.whole))
  assert.ok(ledger.whole.offered > 0)
}

describe('one server', () => {
  /** @type {TestServer} */
  let server
  const scope = suiteScope()
  before(async () => {
    server = await startServer(scope)
  })
  const at = async (/** @type {Scope} */ t) => {
    t.after(() => server.redis.flushall())
    return { masters: [addressOf(server)], access: { password: server.password } }
  }

  test('a fill writes each key once; lookups find all of them, and count what is gone', async (t) => {
    const where = await at(t)
    const fill = await play(t, where, 'lookup-set', { clients: 2, pipeline: 500, draw: eachOnce(keys) })
    fill.flow.start()
    await fill.flow.offered
    assert.ok(await fill.flow.settle(10_000, never))
    assertWhole(fill)
    assert.deepEqual([fill.ledger.whole.acked, await cli(server, 'DBSIZE')], [keys, String(keys)])
    assert.equal((await cli(server, 'GET', 'key:17')).length, 32)
    assert.equal(await cli(server, 'EXISTS', 'key:0', `key:${keys + 1}`), '0')

    await server.redis.del('key:1', 'key:2')
    const before = await callsOf(server, 'get')
    const get = await play(t, where, 'lookup-get', { draw: eachOnce(keys) })
    get.flow.start()
    await get.flow.offered
    assert.ok(await get.flow.settle(10_000, never))
    assertWhole(get)
    assert.equal(get.ledger.whole.acked, keys)
    assert.deepEqual([get.tally.bulk, get.tally.nil], [keys - 2, 2])
    assert.equal(get.latencies.count, keys)
    assert.equal((await callsOf(server, 'get')) - before, keys)
  })

  test('a mix has its ratio, by the server too', async (t) => {
    const where = await at(t)
    const before = [await callsOf(server, 'set'), await callsOf(server, 'get')]
    const mix = await play(t, where, 'lookup-mix', { weights: [1, 4], draw: eachOnce(keys) })
    mix.flow.start()
    await mix.flow.offered
    assert.ok(await mix.flow.settle(10_000, never))
    const sets = (await callsOf(server, 'set')) - before[0]
    const gets = (await callsOf(server, 'get')) - before[1]
    assert.equal(sets + gets, keys)
    assert.ok(Math.abs(sets - keys / 5) < 150, String(sets))
  })

  test('connections that are killed under load: nothing is lost, and each comes back', async (t) => {
    const where = await at(t)
    const played = await play(t, where, 'lookup-set', { clients: 20, pipeline: 20 })
    played.flow.start()
    for (let round = 0; round < 5; round++) {
      const acked = played.ledger.whole.acked
      await until('more answers', () => played.ledger.whole.acked > acked + 500)
      await server.redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    }
    await until('a retry', () => (played.ledger.repeatedBy.CLOSED ?? 0) > 0)
    played.flow.stop()
    assert.ok(await played.flow.settle(20_000, never))
    assertWhole(played)
    assert.equal(played.ledger.whole.acked, played.ledger.whole.offered)
  })

  test('an open rate offers what is due, and drops what a silent server keeps waiting too long', async (t) => {
    const where = await at(t)
    const schedule = scheduleOf({ rateHz: 2000, arrivals: 'constant', seed: 1, durationMs: 3000 })
    const played = await play(t, where, 'lookup-get', { schedule, maxBehindMs: 500 })
    played.flow.start()
    await until('answers', () => played.ledger.whole.acked > 200)
    const before = played.ledger.whole.acked
    process.kill(server.pid, 'SIGSTOP')
    try {
      await new Promise((resolve) => setTimeout(resolve, 1200))
    } finally {
      process.kill(server.pid, 'SIGCONT')
    }
    await played.flow.offered
    assert.ok(await played.flow.settle(10_000, never))
    assertWhole(played)
    const { offered, acked, dropped } = played.ledger.whole
    assert.equal(offered, 6000)
    assert.equal(acked + dropped, offered)
    assert.ok(dropped > 0 && acked > before, JSON.stringify(played.ledger.whole))
    assert.ok(played.latencies.max > 400, 'latency is from the due time')
  })

  test('a refusal is a failure with its cause, and what has no answer at the end is unsettled', async (t) => {
    const where = await at(t)
    await server.redis.rpush('key:3', 'a list')
    const get = await play(t, where, 'lookup-get', { draw: eachOnce(10) })
    get.flow.start()
    await get.flow.offered
    assert.ok(await get.flow.settle(10_000, never))
    assertWhole(get)
    assert.deepEqual(get.ledger.failedBy, { WRONGTYPE: 1 })

    const cut = await play(t, where, 'lookup-get', { clients: 3, pipeline: 4 })
    process.kill(server.pid, 'SIGSTOP')
    try {
      cut.flow.start()
      cut.flow.stop()
      assert.equal(await cut.flow.settle(50, never), false)
      cut.flow.abandon()
    } finally {
      process.kill(server.pid, 'SIGCONT')
    }
    assertWhole(cut)
    assert.equal(cut.ledger.whole.unsettled, 12)
  })
})

test('a cluster: operations go to the owners, and follow slots that move', async (t) => {
  const cluster = await startCluster(t, { replicas: 0 })
  const access = /** @type {any} */ (cluster.access)
  const [{ port }] = cluster.nodes
  const at = { host: '127.0.0.1', port, password: access.password }
  const layout = async () => {
    const rows = JSON.parse(await cli(at, '--json', 'CLUSTER', 'SLOTS'))
    const masters = /** @type {string[]} */ ([])
    const owners = new Uint16Array(16384)
    for (const [from, to, [host, nodePort]] of rows) {
      const address = addressOf({ host, port: nodePort })
      if (!masters.includes(address)) masters.push(address)
      owners.fill(masters.indexOf(address), from, to + 1)
    }
    return { masters, owners }
  }
  const topology = await layout()
  const played = await play(t, { ...topology, access, refresh: layout }, 'lookup-set', {
    clients: 4,
    pipeline: 10,
  })
  played.flow.start()
  await until('answers', () => played.ledger.whole.acked > 1000)

  const slot = slotOf('key:17')
  const from = topology.masters[topology.owners[slot]]
  const to = topology.masters.find((address) => address !== from) ?? ''
  const node = (/** @type {string} */ address) => ({ ...endpointOf(address), password: access.password })
  const idOf = async (/** @type {string} */ address) => cli(node(address), 'CLUSTER', 'MYID')
  const ids = { from: await idOf(from), to: await idOf(to) }
  await cli(node(to), 'CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', ids.from)
  await cli(node(from), 'CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', ids.to)
  const { host, port: toPort } = endpointOf(to)
  const names = (await cli(node(from), 'CLUSTER', 'GETKEYSINSLOT', String(slot), '1000'))
    .split('\n')
    .filter(Boolean)
  for (const name of names)
    await cli(node(from), 'MIGRATE', host, String(toPort), name, '0', '5000', 'AUTH', String(access.password))
  await until('an ASK', () => (played.ledger.repeatedBy.ASK ?? 0) > 0)
  for (const address of [to, from, ...topology.masters])
    await cli(node(address), 'CLUSTER', 'SETSLOT', String(slot), 'NODE', ids.to)
  await until('a MOVED', () => (played.ledger.repeatedBy.MOVED ?? 0) > 0)
  const acked = played.ledger.whole.acked
  await until('answers after the move', () => played.ledger.whole.acked > acked + 1000)
  played.flow.stop()
  assert.ok(await played.flow.settle(10_000, never))
  assertWhole(played)
  assert.equal(played.ledger.whole.acked, played.ledger.whole.offered)
})
