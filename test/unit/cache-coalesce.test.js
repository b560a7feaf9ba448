// With coalesce a request may be served by the reading of another client, which then has to be looked after.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { test } from 'node:test'
import { machineWith } from '../../lib/base/timers.js'
import { cacheOperationsOf, phases } from '../../lib/loads/clients/cache.js'
import { clientsFlow } from '../../lib/loads/clients/flow.js'
import { operationsOf } from '../../lib/probes/operations.js'
import { endpointOf } from '../../lib/servers/address.js'
import { dial } from '../../lib/servers/dial.js'
import { noTally } from '../../lib/wire/decode.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { samplePlan } from '../helpers/sample-plan.js'

test('every client of a closed loop goes on when a fill of another client serves it', async () => {
  const server = net.createServer((s) =>
    s
      .on('error', () => {})
      .on('data', (b) => {
        for (const [name] of String(b).matchAll(/\b(CLIENT|GET|SET)\b/g))
          s.write(name === 'GET' ? '$-1\r\n' : '+OK\r\n')
      }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = `127.0.0.1:${/** @type {any} */ (server.address()).port}`
  const strategy = strategyOf(samplePlan({ strategy: 'cache-aside', quantity: 10, valueBytes: 8 }))
  const topology = { masters: [address], owners: null }
  const counts = /** @type {any} */ ({
    hits: 0,
    misses: 0,
    fills: 0,
    coalesced: 0,
    invalidated: 0,
    sourced: 0,
    sourceMs: 0,
    atOnce: 0,
    stampede: 0,
    late: {},
    decile: null,
    hitTimes: null,
    missTimes: null,
    isMeasuring: true,
    startMeasuring() {},
  })
  const served = [0, 0, 0, 0]
  const flow = await clientsFlow({
    plan: { clients: 4, pipeline: 1, cluster: false, maxBehindMs: 1000 },
    operations: Object.keys(phases).map(strategy.operation),
    pick: () => phases.serve,
    draw: (_, client) => {
      served[client]++
      return 1
    },
    schedule: null,
    making: (needs, routing) =>
      cacheOperationsOf(
        needs,
        routing,
        /** @type {any} */ ({
          cache: { batch: 1, coalesce: true, missTime: '2ms', missConcurrency: null },
          many: null,
          counts,
          draw: () => 1,
        }),
      ),
    target: {
      topology,
      dial: (at, e) => dial(endpointOf(at), {}, e),
      refresh: async () => topology,
      follows: () => true,
    },
    ledger: operationsOf({ isMeasured: () => true }),
    latency: { record: () => {} },
    onSent: () => {},
    tally: noTally(),
    machine: machineWith(() => performance.now()),
    onEvent: () => {},
  })
  flow.start()
  await new Promise((r) => setTimeout(r, 500))
  flow.stop()
  flow.abandon()
  flow.close()
  server.close()
  assert.ok(Math.min(...served) > 20)
})
