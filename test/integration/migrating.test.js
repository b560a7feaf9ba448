// Slots that migrate from one real server to another under load: what was sent is taken where ASK leads it, and each operation has
// one outcome. Other faults of these loads: test/simulation, and whole runs that lose connections or are refused.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { machineWith } from '../../lib/base/timers.js'
import { bundlesFlow } from '../../lib/loads/bundles/flow.js'
import { socketCarrier } from '../../lib/loads/bundles/socket-carrier.js'
import { clientsFlow } from '../../lib/loads/clients/flow.js'
import { operationsOf } from '../../lib/probes/operations.js'
import { addressOf, endpointOf } from '../../lib/servers/address.js'
import { dial } from '../../lib/servers/dial.js'
import { drawsOf } from '../../lib/traffic/items.js'
import { picksOf } from '../../lib/traffic/operations.js'
import { noTally } from '../../lib/wire/decode.js'
import { slotOf } from '../../lib/wire/slot.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { until } from '../helpers/programs.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { cli, startCluster, suiteScope } from '../helpers/servers.js'

/** @import { Access } from '../../lib/servers/dial.js' */

const clock = () => performance.now()
const never = new AbortController().signal

describe('a slot that migrates', () => {
  /** @type {Awaited<ReturnType<typeof startCluster>>} */
  let cluster
  const scope = suiteScope()
  before(async () => {
    cluster = await startCluster(scope, { replicas: 0 })
  })

  const access = () => /** @type {Access & { password: string }} */ (cluster.access)
  const node = (/** @type {string} */ address) => ({ ...endpointOf(address), password: access().password })
  const layout = async () => {
    const owners = new Uint16Array(16_384)
    const masters = /** @type {string[]} */ ([])
    const at = node(addressOf(cluster.nodes[0]))
    for (const [from, to, [host, port]] of JSON.parse(await cli(at, '--json', 'CLUSTER', 'SLOTS'))) {
      const address = addressOf({ host, port })
      if (!masters.includes(address)) masters.push(address)
      owners.fill(masters.indexOf(address), from, to + 1)
    }
    return { masters, owners }
  }
  const targetOf = async () => {
    const target = {
      topology: await layout(),
      dial: (/** @type {string} */ address, /** @type {any} */ handlers) =>
        dial(endpointOf(address), access(), handlers),
      refresh: async () => {
        target.topology = await layout()
        return target.topology
      },
      follows: () => true,
      loadScripts: async () => {},
    }
    return target
  }

  /**
   * Moves the slot of a key to another master while a flow is at work; every key of it goes at once.
   * @param {Awaited<ReturnType<typeof targetOf>>} target
   * @param {{ start: () => void, stop: () => void, settle: Function, close: () => void }} flow
   * @param {ReturnType<typeof operationsOf>} ledger
   * @param {string} key
   * @returns the node that has it then
   */
  const moved = async ({ topology: { masters, owners } }, flow, ledger, key) => {
    const more = async (/** @type {string} */ what) => {
      const { acked } = ledger.whole
      await until(what, () => ledger.whole.acked > acked + 1000)
    }
    const slot = String(slotOf(key))
    const from = masters[owners[Number(slot)]]
    const to = masters.find((address) => address !== from) ?? ''
    const [fromId, toId] = await Promise.all([from, to].map((one) => cli(node(one), 'CLUSTER', 'MYID')))
    flow.start()
    await more('answers')
    await cli(node(to), 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId)
    await cli(node(from), 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId)
    const { host, port, password } = node(to)
    const names = await cli(node(from), 'CLUSTER', 'GETKEYSINSLOT', slot, '1000')
    for (const name of names.split('\n').filter(Boolean))
      await cli(node(from), 'MIGRATE', host, String(port), name, '0', '5000', 'AUTH', password)
    await until('an ASK', () => (ledger.repeatedBy.ASK ?? 0) > 0)
    await more('answers where ASK leads')
    assert.equal(ledger.repeatedBy.MOVED, undefined, JSON.stringify(ledger.repeatedBy))
    for (const address of [to, from, ...masters])
      await cli(node(address), 'CLUSTER', 'SETSLOT', slot, 'NODE', toId)
    await until('a MOVED', () => (ledger.repeatedBy.MOVED ?? 0) > 0)
    await more('answers after the move')
    flow.stop()
    assert.ok(await flow.settle(10_000, never))
    flow.close()
    assert.ok(
      ledger.isBalanced() && ledger.whole.acked === ledger.whole.offered,
      JSON.stringify(ledger.whole),
    )
    return node(to)
  }

  for (const [strategy, delivery] of /** @type {const} */ ([
    ['counter-pipeline', 'pipeline'],
    ['counter-transaction', 'transaction'],
  ]))
    test(`${strategy}: each increment of a bundle is executed once`, async () => {
      const items = 1e6
      const plan = samplePlan({ strategy, quantity: items, prefix: `${delivery}:` }, { cluster: true })
      const bound = strategyOf(plan)
      const key = bound.keyOf(1)
      const target = await targetOf()
      const ledger = operationsOf({ isMeasured: () => true })
      const flow = await bundlesFlow({
        plan: { bundleSize: 100, items, maxBehindMs: 5000 },
        ...{ key, target, ledger, machine: machineWith(clock), scripts: [] },
        commandsOf: (count) => count,
        carrier: socketCarrier({ delivery, bundle: bound.bundle('add'), clock }),
        latency: { record: () => {} },
        onEvent: () => {},
      })
      const to = await moved(target, flow, ledger, key)
      const scores = (await cli(to, 'ZRANGE', key, '0', '-1', 'WITHSCORES')).split('\n')
      const stored = scores.reduce((sum, score, i) => sum + (i % 2 ? Number(score) : 0), 0)
      assert.equal(stored, ledger.whole.acked)
    })

  test('lookup-set: operations of clients go to the owners, and follow', async () => {
    const bound = strategyOf(
      samplePlan({ strategy: 'lookup-set', quantity: 5000, valueBytes: 32 }, { cluster: true }),
    )
    const target = await targetOf()
    const ledger = operationsOf({ isMeasured: () => true })
    const flow = await clientsFlow({
      plan: { clients: 4, pipeline: 10, cluster: true, maxBehindMs: 5000 },
      operations: bound.clientOperations(),
      pick: picksOf([1], 1),
      draw: drawsOf({ order: 'uniform', count: 5000, seed: 3 }),
      ...{ schedule: null, target, ledger, tally: noTally(), machine: machineWith(clock) },
      latency: { record: () => {} },
      onSent: () => {},
      onEvent: () => {},
    })
    const watch = setInterval(flow.watch, 200)
    await moved(target, flow, ledger, 'key:17').finally(() => clearInterval(watch))
  })
})
