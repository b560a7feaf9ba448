// Every reader under one contract: what its strategy wrote is read back item by item, on one server and on a
// cluster, by both drivers.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readSettings } from '../../lib/cli/options.js'
import { ioredisReadDriver } from '../../lib/drivers/read-ioredis.js'
import { socketReadDriver } from '../../lib/drivers/read-socket.js'
import { clocksOf } from '../../lib/measure/clocks.js'
import { payloadOf } from '../../lib/plan/payload.js'
import { planOf } from '../../lib/plan/plan.js'
import { cardOf } from '../../lib/plan/plan-card.js'
import { readPlanOf } from '../../lib/plan/read-plan.js'
import { factsOf } from '../../lib/run/facts.js'
import { fetcherOf } from '../../lib/run/fetch.js'
import { startEmbedded } from '../../lib/target/embedded.js'
import { openTarget } from '../../lib/target/open.js'
import { strategyNamed, strategyNames } from '../../lib/workloads/index.js'
import { scriptSha } from '../../lib/workloads/lua.js'
import { strategyOf } from '../../lib/workloads/of-plan.js'
import { peer } from '../helpers/peers.js'
import { until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'
import { writeUnattended } from '../helpers/unattended.js'

/**
 * @typedef {import('../../lib/target/open.js').Target} Target
 * @typedef {{ target: Target, cluster: boolean }} Place
 * @typedef {import('../../settings.js').ReaderSettings} ReaderSettings
 */

const quantity = 300
const clock = () => performance.now()
const epochMs = () => performance.timeOrigin + performance.now()
const drivers = { socket: socketReadDriver, ioredis: ioredisReadDriver }

/** @param {'producer' | 'consumer'} program @param {string} line @param {boolean} cluster */
const settingsOf = (program, line, cluster) => {
  const argv = `${line} --host 127.0.0.1${cluster ? ' --cluster' : ''}`.split(' ').filter(Boolean)
  const settings = readSettings({ program, argv, env: {} })
  assert.ok('given' in settings)
  return settings
}

/** Writes every item twice; returns the card that a reader would find. @param {Place} at @param {string} line */
const written = async ({ target, cluster }, line) => {
  const load = `-q ${quantity} -t 2 -c 2 -p 300 --intervals 2 --ttl 100 --max-members 7`
  const settings = settingsOf('producer', `${load} ${line}`, cluster)
  const plan = planOf(settings, await factsOf(settings, target, [1, 2]))
  const startedMs = Date.now()
  const { items } = await writeUnattended(plan, target)
  assert.equal(items.acked, 2 * quantity)
  return { ...cardOf(plan, 'test'), startedMs, renewedMs: Date.now(), ended: false }
}

/**
 * Fetches until everything is there (replicas follow by themselves), and returns what the last fetch brought.
 * @param {Place} at
 * @param {import('../../lib/plan/plan-card.js').PlanCard} card
 * @param {string} line
 * @param {number} expected items
 * @param {(plan: import('../../lib/plan/read-plan.js').ReadPlan) => void} [look]
 */
const readBack = async ({ target, cluster }, card, line, expected, look) => {
  const settings = /** @type {ReaderSettings} */ (
    settingsOf('consumer', `--prefix ${card.prefix} ${line}`, cluster)
  )
  const plan = readPlanOf(settings, {
    card,
    agents: [1],
    cluster,
    masters: target.topology.masters.length,
  })
  look?.(plan)
  const reader = strategyOf(plan).reader()
  const driver = await drivers[plan.driver]({ plan, target, clock, random: Math.random, onEvent: () => {} })
  try {
    // Whoever has lost the script is given it again.
    if (plan.mode === 'script')
      for (const address of driver.servers()) await target.control(address).script('FLUSH')
    const clocks = clocksOf({
      time: async (address) => /** @type {any} */ (await target.control(address).time()),
      epochMs,
    })
    await clocks.measure(driver.servers())
    /** @type {Map<string, string>} */
    let seen = new Map()
    /** @type {Map<string, number>} */
    const scores = new Map()
    const inspector = {
      inspect: (/** @type {import('../../lib/wire/id-list.js').IdList} */ list) => {
        const mine = new Map()
        seen = mine
        return {
          value: (
            /** @type {number} */ i,
            /** @type {Buffer} */ bytes,
            /** @type {number} */ from,
            /** @type {number} */ to,
          ) => {
            const value = bytes.toString('latin1', from, to)
            mine.set(i < 0 ? value : list.text(i), value)
            if (i >= 0) scores.set(list.text(i), list.scoreOf(i))
          },
          nil: (/** @type {number} */ i) => mine.set(list.text(i), null),
        }
      },
    }
    const fetch = fetcherOf({ plan, reader, driver, consumer: 0, clock, nowAt: clocks.now, inspector })
    const fetched = await until(`${expected} items`, async () => {
      const one = await fetch()
      assert.deepEqual(one.failedBy, {})
      return one.ids >= expected && one.nils === 0 ? one : null
    })
    return { fetched, seen, scores, reader }
  } finally {
    driver.close()
  }
}

/** What every item must be, by its id. @param {import('../../lib/plan/plan-card.js').PlanCard} card @param {number} [last] */
const itemsOf = (card, last = quantity) => {
  const parts = payloadOf(card)
  const tags = card.sets.map((set) => (card.taggedItems ? set.slice(set.indexOf('{')) : ''))
  return new Map(
    Array.from({ length: last }, (_, i) => {
      const n = i + 1
      const value = Buffer.concat(
        parts(n).map((part) =>
          Buffer.from(
            typeof part === 'object' && 'hole' in part ? '0'.repeat(part.width) : /** @type {any} */ (part),
          ),
        ),
      ).toString('latin1')
      const name = card.strategy === 'hash' ? 'latest-hash' : 'item'
      const id = `${card.prefix}${name}:${n}${card.taggedItems ? tags[n % tags.length] : ''}`
      return /** @type {const} */ ([card.strategy === 'actual-value' ? value : id, value])
    }),
  )
}

const sorted = (/** @type {Map<string, string>} */ map) => [...map].sort(([a], [b]) => (a < b ? -1 : 1))

/** @type {{ line: string, read?: string[], cluster?: boolean, single?: boolean }[]} */
const cases = [
  { line: '--strategy sorted-set', read: ['', '--fetch mget', '--verify', '--reads master', '--reads any'] },
  { line: '--strategy sorted-set --value-size 20000 --stamp', read: [''] },
  {
    line: '--strategy sorted-set --mode',
    read: ['--mode script', '--mode script --reads master'],
    cluster: false,
  },
  { line: '--ns 5', read: ['', '--fetch mget'] },
  { line: '--ns 4 --same-slot' },
  { line: '--ns 4 --spread' },
  { line: '--actual-value', read: ['', '--verify'] },
  { line: '--actual-value --ns 3' },
  { line: '--ws', cluster: false },
  { line: '--sk', cluster: false },
  { line: '--ws --ns 4 --spread' },
  { line: '--sk --ns 4 --spread' },
  { line: '--sl', read: ['', '--fetch mget'] },
  { line: '--slh' },
  { line: '--ss', read: ['', '--fetch mget'] },
  { line: '--strategy hash' },
  { line: '--strategy stream' },
]

/** @param {string} name @param {boolean} cluster @param {() => Place} place */
const contract = (name, cluster, place) => {
  for (const [i, { line, read = [''], ...only }] of cases.entries()) {
    if (cluster && only.cluster === false) continue
    const write = line.replace(' --mode', '')
    test(`${name}: ${line}`, async () => {
      const at = place()
      const card = await written(at, `${write} --prefix c${i}:`)
      for (const driver of Object.keys(drivers)) {
        for (const options of read) {
          const expected = itemsOf(card)
          const how = `${options} --driver ${driver}`
          const { seen, reader, fetched } = await readBack(at, card, how, quantity)
          const withoutStamp = new Map(
            [...seen].map(([id, value]) => [id, card.stamp ? `${'0'.repeat(13)}${value.slice(13)}` : value]),
          )
          assert.deepEqual(sorted(withoutStamp), sorted(expected), how)
          assert.equal(fetched.ids, quantity)
          // A stream is cut to about the length asked for.
          const { cardinality } = fetched.numbers
          assert.ok(cardinality === quantity || (card.strategy === 'stream' && cardinality > quantity), how)
          if (reader.dated) assert.ok(fetched.ageMs !== null && fetched.ageMs > -50 && fetched.ageMs < 60_000)
        }
        await limited(at, card, driver)
      }
    })
  }
}

/** The newest so many, where there is an order. @param {Place} at @param {import('../../lib/plan/plan-card.js').PlanCard} card @param {string} driver */
const limited = async (at, card, driver) => {
  const limit = 40
  const { seen, reader, fetched } = await readBack(at, card, `--limit ${limit} --driver ${driver}`, limit)
  assert.equal(fetched.ids, limit)
  assert.equal(seen.size, limit)
  const all = itemsOf(card)
  for (const [id, value] of seen) {
    assert.ok(all.has(id), id)
    if (!card.stamp) assert.equal(value, all.get(id))
  }
  if (!reader.dated || card.strategy === 'actual-value') return
  const { scores } = await readBack(at, card, `--verify --driver ${driver}`, quantity)
  const threshold = [...scores.values()].sort((one, other) => other - one)[limit - 1]
  for (const id of seen.keys()) assert.ok(Number(scores.get(id)) >= threshold, `${id} is none of the newest`)
}

/**
 * Servers of the suite that calls it.
 * @param {{ cluster: boolean, replicas: number }} kind
 * @returns {() => Place}
 */
const placeOf = ({ cluster, replicas }) => {
  /** @type {Place} */
  let place
  /** @type {(() => Promise<void>)[]} */
  const closers = []
  before(async () => {
    const servers = await startEmbedded({ cluster, replicas, stateDir: null, log: () => {} })
    closers.push(servers.close)
    const { host, port } = servers.nodes[0]
    const settings = { ...settingsOf('producer', '', cluster), host, port, ...servers.access }
    const target = await openTarget(settings, { say: () => {} })
    closers.unshift(target.close)
    assert.equal(target.nodes().length, servers.nodes.length)
    place = { target, cluster }
  })
  after(async () => {
    for (const close of closers) await close()
  })
  return () => place
}

test('every strategy has a reader', () => {
  for (const name of strategyNames()) assert.ok(strategyNamed(name).fetch, name)
})

describe('on one server with a replica', () => {
  const place = placeOf({ cluster: false, replicas: 1 })
  contract('server', false, place)

  test('GETs go to the replica', async () => {
    const at = place()
    const { target } = at
    const [master, replica] = target.nodes().map(({ address }) => address)
    const calls = async (/** @type {string} */ address) =>
      Number(/cmdstat_get:calls=(\d+)/.exec(await target.info(address))?.[1] ?? 0)
    const card = await written(at, '--prefix replica:')
    const before = [await calls(master), await calls(replica)]
    await readBack(at, card, '', quantity)
    assert.equal(await calls(master), before[0])
    assert.ok((await calls(replica)) >= before[1] + quantity)
  })

  test('a MOVED, a list that is another type, and a script that is no longer the same are causes, not crashes', async () => {
    const at = place()
    const { target } = at
    const card = await written(at, '--prefix wrong:')
    await target.control(target.topology.masters[0]).set('wrong:latest-ids', 'no set')
    const settings = /** @type {ReaderSettings} */ (
      settingsOf('consumer', '--prefix wrong: --reads master', false)
    )
    const plan = readPlanOf(settings, {
      card,
      agents: [1],
      cluster: false,
      masters: 1,
    })
    for (const driverOf of Object.values(drivers)) {
      for (const [mode, cause] of /** @type {const} */ ([
        ['manual', 'WRONGTYPE'],
        ['script', 'NOSCRIPT'],
      ])) {
        const own = { ...plan, mode }
        const driver = await driverOf({ plan: own, target, clock, random: Math.random, onEvent: () => {} })
        const known = strategyOf(own).reader()
        const lost = (/** @type {string} */ arg) =>
          arg === scriptSha('fetch-latest-items') ? 'f'.repeat(40) : arg
        const reader = {
          ...known,
          asks: (/** @type {{ nowMs: number }} */ at) =>
            known.asks(at).map((ask) => ({ ...ask, args: ask.args.map(lost) })),
        }
        const fetch = fetcherOf({
          plan: own,
          reader,
          driver,
          consumer: 0,
          clock,
          nowAt: Date.now,
          inspector: null,
        })
        const { failedBy } = await fetch()
        driver.close()
        assert.deepEqual(Object.keys(failedBy), [cause], `${mode} ${driverOf.name}`)
      }
    }
  })
})

describe('on a cluster with replicas', () => {
  contract('cluster', true, placeOf({ cluster: true, replicas: 1 }))

  test('--mode script is refused on several masters, with the reason', async () => {
    const settings = /** @type {ReaderSettings} */ (settingsOf('consumer', '--mode script', true))
    const facts = { card: null, agents: [1], cluster: true, masters: 3, fetchScript: '' }
    assert.throws(() => readPlanOf(settings, facts), /--mode script on 3 masters: .*use --mode manual/)
  })
})

describe('fields with a lifetime of their own', () => {
  for (const name of ['valkey-9.1', 'redis-8.2']) {
    test(`${name}: --strategy hash-ttl`, async (t) => {
      const bin = peer(t, name)
      if (!bin) return
      const server = await startServer(t, { bin })
      const settings = { ...settingsOf('producer', '', false), ...server, password: server.password }
      const target = await openTarget(settings, { say: () => {} })
      t.after(() => target.close())
      const at = { target, cluster: false }
      const card = await written(at, '--strategy hash-ttl --prefix h:')
      for (const driver of Object.keys(drivers)) {
        const { seen } = await readBack(at, card, `--driver ${driver}`, quantity)
        assert.deepEqual(sorted(seen), sorted(itemsOf(card)))
      }
    })
  }
})
