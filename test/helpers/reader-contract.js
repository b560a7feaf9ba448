// What every reader must do: what its strategy wrote is read back item by item, by both drivers.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { machineWith } from '../../lib/base/timers.js'
import { fetcherOf } from '../../lib/loads/fetches/fetch.js'
import { readPlanOf } from '../../lib/loads/fetches/plan.js'
import { announcementOf } from '../../lib/plan/announcement.js'
import { clocksOf } from '../../lib/probes/clocks.js'
import { libraryReadDriver } from '../../lib/transport/library-reader.js'
import { socketReadDriver } from '../../lib/transport/socket-reader.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { plainPayload } from './payload.js'
import { until } from './programs.js'
import { suiteScope } from './servers.js'
import { sharedServers } from './shared-servers.js'
import { openedTarget, planOn, settingsOf as settingsIn, writeUnattended } from './unattended.js'

/**
 * @import { Target } from '../../lib/servers/open.js'
 * @import { ReaderSettings } from '../../settings.js'
 * @import { ReadDriverOptions } from '../../lib/transport/read-driver.js'
 * @import { AnnouncedPlan } from '../../lib/plan/announcement.js'
 * @import { ReadPlan } from '../../lib/loads/fetches/plan.js'
 * @import { IdList } from '../../lib/wire/id-list.js'
 *
 * @typedef {{ target: Target, cluster: boolean }} Place
 * @typedef {{ line: string, read?: string[], cluster?: boolean, single?: boolean }} Case
 */

export const quantity = 300
const noStamp = '0'.repeat(13)
export const clock = () => performance.now()
const epochMs = () => performance.timeOrigin + performance.now()
export const drivers = ['socket', 'ioredis']
export const openDriver = (/** @type {ReadDriverOptions} */ options) =>
  options.plan.driver === 'socket' ? socketReadDriver(options) : libraryReadDriver(options)

/** @param {'producer' | 'consumer'} program @param {string} line @param {boolean} cluster */
export const settingsOf = (program, line, cluster) => settingsIn(line, cluster, program)

/** Writes every item twice; returns the announcement that a reader would find. @param {Place} at @param {string} line */
export const written = async ({ target, cluster }, line) => {
  const load = `-q ${quantity} -t 2 -c 2 -p 100 --intervals 2 --ttl 100 --max-members 7 --max-behind 60s`
  const plan = await planOn(settingsIn(`${load} ${line}`, cluster), target, [1, 2])
  const startedMs = Date.now()
  const { items } = await writeUnattended(plan, target)
  assert.equal(items.acked, 2 * quantity)
  return { ...announcementOf(plan, 'test'), startedMs, renewedMs: Date.now(), ended: false }
}

/**
 * Fetches until everything is there (replicas follow by themselves), and returns what the last fetch brought.
 * @param {Place} at
 * @param {AnnouncedPlan} announced
 * @param {string} line
 * @param {number} expected items
 * @param {(plan: ReadPlan) => void} [look]
 */
export const readBack = async ({ target, cluster }, announced, line, expected, look) => {
  const settings = /** @type {any} */ (
    settingsIn(`--prefix ${announced.prefix} ${line}`, cluster, 'consumer')
  )
  const masters = target.topology.masters.length
  const plan = readPlanOf(settings, { announced, agents: [1], cluster, masters })
  look?.(plan)
  const reader = strategyOf(plan).reader()
  const driver = await openDriver({ plan, target, machine: machineWith(clock), onEvent: () => {} })
  try {
    // Whoever has lost the script is given it again.
    if (plan.mode === 'script')
      for (const address of driver.servers()) await target.control(address).script('FLUSH')
    const clocks = clocksOf({ time: target.time, epochMs })
    await clocks.measure(driver.servers())
    let seen = /** @type {Map<string, string>} */ (new Map())
    const scores = /** @type {Map<string, number>} */ (new Map())
    const inspector = {
      inspect: (/** @type {IdList} */ list) => {
        const mine = new Map()
        seen = mine
        return {
          /** @param {number} i @param {Buffer} bytes @param {number} from @param {number} to */
          value: (i, bytes, from, to) => {
            const value = bytes.toString('latin1', from, to)
            mine.set(i < 0 ? value : list.text(i), value)
            if (i >= 0) scores.set(list.text(i), list.scoreOf(i))
          },
          nil: (/** @type {number} */ i) => mine.set(list.text(i), null),
        }
      },
    }
    const fetch = fetcherOf({ plan, reader, driver, clock, nowAt: clocks.now, inspector }, 0)
    const fetched = await until(`${expected} items`, async () => {
      const one = await fetch()
      assert.deepEqual(one.failedBy, {})
      // Counted before the items are asked for: a replica may receive some between the two.
      const { cardinality, scard_minute_before: before = 0 } = one.numbers
      const counted = cardinality === undefined || cardinality + before >= expected
      return one.ids >= expected && one.nils === 0 && counted ? one : null
    })
    return { fetched, seen, scores, reader }
  } finally {
    driver.close()
  }
}

/** What every item must be, by its id. @param {AnnouncedPlan} announced @param {number} [last] */
export const itemsOf = (announced, last = quantity) => {
  const textOf = plainPayload(announced)
  const tags = announced.sets.map((set) => (announced.taggedItems ? set.slice(set.indexOf('{')) : ''))
  return new Map(
    Array.from({ length: last }, (_, i) => {
      const n = i + 1
      const value = `${announced.stamp ? noStamp : ''}${textOf(n)}`
      const name = announced.strategy === 'hash' ? 'latest-hash' : 'item'
      const id = `${announced.prefix}${name}:${n}${announced.taggedItems ? tags[n % tags.length] : ''}`
      return /** @type {const} */ ([announced.strategy === 'actual-value' ? value : id, value])
    }),
  )
}

export const sorted = (/** @type {Map<string, string>} */ map) =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1))

/** @param {string} name @param {boolean} cluster @param {readonly Case[]} cases @param {() => Place} place @param {readonly string[]} [by] drivers */
export const readerContract = (name, cluster, cases, place, by = drivers) => {
  for (const [i, { line, read = [''], ...only }] of cases.entries()) {
    if (cluster && only.cluster === false) continue
    const write = line.replace(' --mode', '')
    test(`${name}: ${line}`, async () => {
      const at = place()
      // Other files have their keys on the same servers.
      const announced = await written(at, `${write} --prefix c${i}-${process.pid}-${by.join('-')}:`)
      for (const driver of by) {
        for (const options of read) {
          const expected = itemsOf(announced)
          const how = `${options} --driver ${driver}`
          const { seen, reader, fetched } = await readBack(at, announced, how, quantity)
          const bare = (/** @type {string} */ value) =>
            announced.stamp ? `${noStamp}${value.slice(13)}` : value
          const withoutStamp = new Map([...seen].map(([id, value]) => [id, bare(value)]))
          assert.deepEqual(sorted(withoutStamp), sorted(expected), how)
          assert.equal(fetched.ids, quantity)
          // A stream is cut to about the length asked for; a new minute may have begun another set, which has few yet.
          const { cardinality, scard_minute_before: before = 0 } = fetched.numbers
          const most =
            announced.strategy === 'stream' ? Number.POSITIVE_INFINITY : quantity * (before > 0 ? 2 : 1)
          const all = cardinality + before
          assert.ok(all >= quantity && all <= most, `${cardinality} ${before} ${how}`)
          if (reader.dated) assert.ok(fetched.ageMs !== null && fetched.ageMs > -50 && fetched.ageMs < 60_000)
        }
        await limited(at, announced, driver)
      }
    })
  }
}

/** The newest so many, where there is an order. @param {Place} at @param {AnnouncedPlan} announced @param {string} driver */
const limited = async (at, announced, driver) => {
  const limit = 40
  const how = `--limit ${limit} --driver ${driver}`
  const { seen, reader, fetched } = await readBack(at, announced, how, limit)
  assert.equal(fetched.ids, limit)
  assert.equal(seen.size, limit)
  const all = itemsOf(announced)
  for (const [id, value] of seen) {
    assert.ok(all.has(id), id)
    if (!announced.stamp) assert.equal(value, all.get(id))
  }
  if (!reader.dated || announced.strategy === 'actual-value') return
  const { scores } = await readBack(at, announced, `--verify --driver ${driver}`, quantity)
  const threshold = [...scores.values()].sort((one, other) => other - one)[limit - 1]
  for (const id of seen.keys()) assert.ok(Number(scores.get(id)) >= threshold, `${id} is none of the newest`)
}

/** A target on the shared servers, of the suite that calls it. @param {boolean} cluster @returns {() => Place} */
export const sharedPlace = (cluster) => {
  /** @type {Place} */
  let place
  const scope = suiteScope()
  before(
    async () =>
      (place = { target: await openedTarget(scope, await sharedServers(scope, cluster), cluster), cluster }),
  )
  return () => place
}
