// Bundles of increments while their slot migrates from one real server to another, and after: each is executed once.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { machineWith } from '../../lib/base/timers.js'
import { bundlesFlow } from '../../lib/loads/bundles/flow.js'
import { socketCarrier } from '../../lib/loads/bundles/socket-carrier.js'
import { operationsOf } from '../../lib/probes/operations.js'
import { addressOf, endpointOf } from '../../lib/servers/address.js'
import { dial } from '../../lib/servers/dial.js'
import { slotOf } from '../../lib/wire/slot.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { until } from '../helpers/programs.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { cli, startCluster, suiteScope } from '../helpers/servers.js'

/** @import { Access } from '../../lib/servers/dial.js' */

const clock = () => performance.now()
const items = 1e6

describe('a slot that migrates', () => {
  /** @type {Awaited<ReturnType<typeof startCluster>>} */
  let cluster
  const scope = suiteScope()
  before(async () => {
    cluster = await startCluster(scope, { replicas: 0 })
  })

  for (const [strategy, delivery] of /** @type {const} */ ([
    ['counter-pipeline', 'pipeline'],
    ['counter-transaction', 'transaction'],
  ]))
    test(`${strategy}: every command of a bundle is taken where ASK leads it`, async () => {
      const access = /** @type {Access} */ (cluster.access)
      const [{ port }] = cluster.nodes
      const at = { host: '127.0.0.1', port, password: String(access.password) }
      const layout = async () => {
        const owners = new Uint16Array(16_384)
        const masters = /** @type {string[]} */ ([])
        for (const [from, to, [host, nodePort]] of JSON.parse(await cli(at, '--json', 'CLUSTER', 'SLOTS'))) {
          const address = addressOf({ host, port: nodePort })
          if (!masters.includes(address)) masters.push(address)
          owners.fill(masters.indexOf(address), from, to + 1)
        }
        return { masters, owners }
      }
      const prefix = `${delivery}:`
      const bound = strategyOf(samplePlan({ strategy, quantity: items, prefix }, { cluster: true }))
      const key = bound.keyOf(1)
      const target = {
        topology: await layout(),
        dial: (/** @type {string} */ address, /** @type {any} */ handlers) =>
          dial(endpointOf(address), access, handlers),
        refresh: async () => {
          target.topology = await layout()
          return target.topology
        },
        follows: () => true,
        loadScripts: async () => {},
      }
      const ledger = operationsOf({ isMeasured: () => true })
      const flow = await bundlesFlow({
        plan: { bundleSize: 100, items, maxBehindMs: 5000 },
        ...{ key, target, ledger, machine: machineWith(clock), scripts: [] },
        commandsOf: (count) => count,
        carrier: socketCarrier({ delivery, bundle: bound.bundle('add'), clock }),
        latency: { record: () => {} },
        onEvent: () => {},
      })
      flow.start()
      const more = async (/** @type {string} */ what, /** @type {number} */ by) => {
        const { acked } = ledger.whole
        await until(what, () => ledger.whole.acked > acked + by)
      }
      await more('increments', 1000)
      const { masters, owners } = target.topology
      const slot = slotOf(key)
      const from = masters[owners[slot]]
      const to = masters.find((address) => address !== from) ?? ''
      const node = (/** @type {string} */ address) => ({
        ...endpointOf(address),
        password: String(access.password ?? ''),
      })
      const ids = {
        from: await cli(node(from), 'CLUSTER', 'MYID'),
        to: await cli(node(to), 'CLUSTER', 'MYID'),
      }
      await cli(node(to), 'CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', ids.from)
      await cli(node(from), 'CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', ids.to)
      const { host, port: toPort } = endpointOf(to)
      await cli(
        node(from),
        'MIGRATE',
        host,
        String(toPort),
        key,
        '0',
        '5000',
        'AUTH',
        String(access.password),
      )
      await until('an ASK', () => (ledger.repeatedBy.ASK ?? 0) > 0)
      await more('increments where ASK leads', 2000)
      assert.equal(ledger.repeatedBy.MOVED, undefined, JSON.stringify(ledger.repeatedBy))
      for (const address of [to, from, ...masters])
        await cli(node(address), 'CLUSTER', 'SETSLOT', String(slot), 'NODE', ids.to)
      await until('a MOVED', () => (ledger.repeatedBy.MOVED ?? 0) > 0)
      await more('increments after the move', 2000)
      flow.stop()
      assert.ok(await flow.settle(10_000, new AbortController().signal))
      flow.close()
      const { offered, acked } = ledger.whole
      assert.equal(acked, offered, JSON.stringify(ledger.whole))
      const scores = (await cli(node(to), 'ZRANGE', key, '0', '-1', 'WITHSCORES')).split('\n')
      const stored = scores.reduce((sum, score, i) => sum + (i % 2 ? Number(score) : 0), 0)
      assert.equal(stored, acked)
    })
})
