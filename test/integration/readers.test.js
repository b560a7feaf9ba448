// Readers with every option that changes how they read, and what they make of wrong keys.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { libraryOf } from '../../lib/base/libraries.js'
import { machineWith } from '../../lib/base/timers.js'
import { fetcherOf } from '../../lib/loads/fetches/fetch.js'
import { readPlanOf } from '../../lib/loads/fetches/plan.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { scriptSha } from '../../lib/workloads/lua.js'
import { startShared } from '../../scripts/test/shared-servers.js'
import { peer } from '../helpers/peers.js'
import {
  clock,
  drivers,
  itemsOf,
  openDriver,
  quantity,
  readBack,
  readerContract,
  settingsOf,
  sharedPlace,
  sorted,
  written,
} from '../helpers/reader-contract.js'
import { startServer } from '../helpers/servers.js'
import { openedTarget } from '../helpers/unattended.js'

/** @import { ReaderSettings } from '../../settings.js' */

const cases = [
  {
    line: '--strategy sorted-set',
    read: ['--read-with mget', '--verify', '--read-from primary', '--read-from any'],
  },
  { line: '--strategy sorted-set --value-size 20000 --stamp' },
  {
    line: '--strategy sorted-set --mode',
    read: ['--mode script', '--mode script --read-from primary'],
    cluster: false,
  },
  { line: '--ns 5', read: ['', '--read-with mget'] },
  { line: '--ns 4 --same-slot' },
  { line: '--ns 4 --spread' },
  { line: '--actual-value', read: ['--verify'] },
  { line: '--actual-value --ns 3' },
  { line: '--sl', read: ['--read-with mget'] },
  { line: '--ss', read: ['--read-with mget'] },
]

// Each waits for its intervals to pass.
const at = { concurrency: 3 }

describe('on one server with a replica', at, () => {
  const place = sharedPlace(false)
  readerContract('server', false, cases, place)

  test('GETs go to the replica', async (t) => {
    // Other files ask the shared servers meanwhile.
    const { address, close } = await startShared(false)
    t.after(close)
    const target = await openedTarget(t, address)
    const at = { target, cluster: false }
    const [master, replica] = target.nodes().map(({ address }) => address)
    const calls = async (/** @type {string} */ address) =>
      Number(/cmdstat_get:calls=(\d+)/.exec(await target.info(address))?.[1] ?? 0)
    const announced = await written(at, '--prefix replica:')
    const before = [await calls(master), await calls(replica)]
    await readBack(at, announced, '', quantity)
    assert.equal(await calls(master), before[0])
    assert.ok((await calls(replica)) >= before[1] + quantity)
  })

  test('a MOVED, a list that is another type, and a script that is no longer the same are causes, not crashes', async () => {
    const at = place()
    const { target } = at
    const announced = await written(at, '--prefix wrong:')
    await target.control(target.topology.masters[0]).set('wrong:latest-ids', 'no set')
    const settings = /** @type {ReaderSettings} */ (
      settingsOf('consumer', '--prefix wrong: --read-from primary', false)
    )
    const plan = readPlanOf(settings, { announced, agents: [1], cluster: false, masters: 1 })
    for (const name of drivers) {
      for (const [mode, cause] of /** @type {const} */ ([
        ['manual', 'WRONGTYPE'],
        ['script', 'NOSCRIPT'],
      ])) {
        const own = {
          ...plan,
          mode,
          driver: /** @type {typeof plan.driver} */ (name),
          library: libraryOf({ driver: name, driverOptions: [] }),
        }
        const driver = await openDriver({ plan: own, target, machine: machineWith(clock), onEvent: () => {} })
        const known = strategyOf(own).reader()
        const lost = (/** @type {string} */ arg) =>
          arg === scriptSha('fetch-latest-items') ? 'f'.repeat(40) : arg
        const reader = {
          ...known,
          asks: (/** @type {{ nowMs: number }} */ at) =>
            known.asks(at).map((ask) => ({ ...ask, args: ask.args.map(lost) })),
        }
        const fetch = fetcherOf({ plan: own, reader, driver, clock, nowAt: Date.now, inspector: null }, 0)
        const { failedBy } = await fetch()
        driver.close()
        assert.deepEqual(Object.keys(failedBy), [cause], `${mode} ${name}`)
      }
    }
  })
})

describe('on a cluster with replicas', at, () => {
  readerContract('cluster', true, cases, sharedPlace(true))
})

describe('fields with a lifetime of their own', () => {
  for (const name of ['valkey-9.1', 'redis-8.2']) {
    test(`${name}: --strategy hash-ttl`, async (t) => {
      const bin = peer(t, name)
      if (!bin) return
      const server = await startServer(t, { bin })
      const target = await openedTarget(t, server)
      const at = { target, cluster: false }
      const announced = await written(at, '--strategy hash-ttl --prefix h:')
      for (const driver of drivers) {
        const { seen } = await readBack(at, announced, `--driver ${driver}`, quantity)
        assert.deepEqual(sorted(seen), sorted(itemsOf(announced)))
      }
    })
  }
})
