// Several boxes and one server: what each reports of its part, plans that exclude each other, clocks that differ.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { TargetError } from '../../lib/base/errors.js'
import { announcementOf } from '../../lib/plan/announcement.js'
import { claimAgents } from '../../lib/run/agents.js'
import { plansOnTarget } from '../../lib/run/facts.js'
import { planKey } from '../../lib/servers/announcements.js'
import { openTarget } from '../../lib/servers/open.js'
import { startHere, writeHere } from '../helpers/here.js'
import { areSampled, at, ownFolder, runProducer, startProducer, until } from '../helpers/programs.js'
import { sampleSettings } from '../helpers/sample-plan.js'
import { cli, startServer, suiteScope } from '../helpers/servers.js'
import { writeUnattended } from '../helpers/unattended.js'

/** @import { Settings } from '../../settings.js' */
/** @import { TestServer } from '../helpers/servers.js' */
/** @import { Target } from '../../lib/servers/open.js' */
/** @import { TestContext } from 'node:test' */

/** @type {TestServer} */
let server
/** @type {Target} */
let target
const scope = suiteScope()
before(async () => {
  server = await startServer(scope)
  const { host, port, password } = server
  target = await openTarget(sampleSettings({ host, port, password }), { say: () => {} })
  scope.after(target.close)
})

/** @param {Partial<Settings>} change */
const settingsOf = (change) => sampleSettings({ host: server.host, port: server.port, ...change })

/** Resolves for so many when the last of them has asked. @param {number} several */
const gathering = (several) => {
  /** @type {() => void} */
  let open = () => {}
  const whole = new Promise((/** @type {(value: void) => void} */ resolve) => {
    open = resolve
  })
  return () => {
    if (--several === 0) open()
    return whole
  }
}

/** What a producer does with its leases. @param {Settings} settings @param {() => Promise<void>} [ready] waited for before the first item */
const boxOf = async (settings, ready = async () => {}) => {
  const plans = await plansOnTarget(settings, target)
  const announced = announcementOf(plans([]), 'test')
  /** @type {string[]} */
  const rivals = []
  const leased = await claimAgents({
    settings,
    announced,
    target,
    run: 'box',
    say: () => {},
    onLost: () => {},
    onRival: (message) => rivals.push(message),
    signal: new AbortController().signal,
  })
  scope.after(leased.release)
  const plan = plans(leased.agents)
  const announce = () => leased.announce(announced)
  /** @type {any[]} */
  const seconds = []
  return {
    ...{ leased, announce, seconds },
    write: () => {
      const begin = () => leased.begin().then(ready)
      const results = { interval: (/** @type {any} */ line) => void seconds.push(line), event: () => {} }
      return writeUnattended(plan, target, { announce, otherWriters: leased.otherWriters, begin, results })
    },
  }
}

describe('what boxes report of one server', { concurrency: 3 }, () => {
  for (const strategy of /** @type {const} */ (['actual-value', 'script-batch', 'sorted-set']))
    test(`three boxes of ${strategy} have a third each, also the last to end`, async () => {
      const prefix = `${strategy}:`
      const change = { strategy, prefix, quantity: 300, totalAgents: 3, periodMs: 100, intervals: 12 }
      // An answer that is late makes no box begin after the others.
      const allThere = gathering(3)
      const boxes = await Promise.all(
        [1, 2, 3].map((agent) => boxOf(settingsOf({ ...change, agent: [agent] }), allThere)),
      )
      const results = await Promise.all(
        boxes.map(async ({ write, leased, seconds }) => {
          const result = await write()
          const endMs = performance.now()
          await leased.release()
          return { ...result, seconds, endMs }
        }),
      )
      const ends = results.map(({ endMs }) => endMs)
      // One that this machine held up was alone at its end.
      const areTogether = Math.max(...ends) - Math.min(...ends) < 500
      for (const { server: costs, writers, seconds } of results) {
        assert.ok(costs.share > 1 / 3 - 0.02, `share ${costs.share}`)
        if (!areTogether) continue
        assert.deepEqual([writers?.fewest, writers?.absent_s], [3, 0])
        // Of a server that answered INFO too late not all commands are counted.
        assert.ok(costs.share < 1 / 3 + 0.02 || !areSampled(seconds), `share ${costs.share}`)
      }
    })

  test('a box alone of three is seen to be so, and has all that was stored', async () => {
    const plan = { strategy: /** @type {const} */ ('actual-value'), prefix: 'alone:', totalAgents: 3 }
    const { write, leased } = await boxOf(settingsOf({ ...plan, agent: [2], periodMs: 100, intervals: 12 }))
    const { server: costs, writers } = await write()
    await leased.release()
    assert.deepEqual([writers?.fewest, writers?.total, writers?.own], [1, 3, 1])
    assert.ok((writers?.absent_s ?? 0) > 0)
    assert.equal(costs.share, 1)
  })

  test('a box that has its lease and does not write yet is absent', async () => {
    const change = { strategy: 'actual-value', prefix: 'waits:', totalAgents: 2, periodMs: 100 }
    const [first, second] = await Promise.all(
      [1, 2].map((agent) => boxOf(settingsOf({ ...change, agent: [agent], intervals: 24 }))),
    )
    const { server: costs, writers } = await first.write()
    assert.deepEqual([writers?.fewest, writers?.mean], [1, 1])
    assert.equal(costs.share, 1)
    await second.leased.begin()
    assert.equal(await first.leased.otherWriters(), 1)
    for (const { leased } of [first, second]) await leased.release()
  })

  test("another application's SETEX in another database is no writer of ours", async () => {
    const own = await startServer(scope)
    const { host, port, password } = own
    const place = await openTarget(sampleSettings({ host, port, password }), { say: () => {} })
    scope.after(place.close)
    const other = new Redis({ host, port, password, db: 5 })
    scope.after(() => other.disconnect())
    const settings = settingsOf({ periodMs: 100, intervals: 12 })
    const writing = writeUnattended((await plansOnTarget(settings, place))([1]), place)
    let isOver = false
    const foreign = async () => {
      for (let i = 0; !isOver; i++, await sleep(20))
        await Promise.all(Array.from({ length: 100 }, (_, k) => other.setex(`users:${i}:${k}`, 60, 'x')))
    }
    const load = foreign()
    const { server: costs, sections, items } = await writing
    isOver = true
    await load
    assert.equal(costs.share, 1)
    assert.equal(items.acked, 1200)
    assert.equal(sections.server.foreign_calls?.command, 'setex')
  })
})

describe('two plans on one prefix', () => {
  test('another one is refused while the first is written, and at the very moment of its start', async () => {
    const change = { prefix: 'rival:' }
    const first = await boxOf(settingsOf(change))
    // Both have looked before either began.
    const other = await boxOf(settingsOf({ ...change, totalAgents: 2, ttlS: 600 }))
    await first.announce()
    const refusal = (/** @type {unknown} */ error) => {
      assert.ok(error instanceof TargetError)
      assert.equal(error.exitCode, 3)
      assert.match(
        error.message,
        /another plan is being written under prefix rival:: sorted-set of 100 items, with -t 1 \(here 2\)/,
      )
      return true
    }
    await assert.rejects(other.announce(), refusal)
    await other.leased.release()
    assert.equal(await cli(server, 'HLEN', planKey('rival:')), '1')
    await assert.rejects(boxOf(settingsOf({ ...change, totalAgents: 2, ttlS: 600 })), refusal)
    await first.leased.release()
    const next = await boxOf(settingsOf({ ...change, ttlS: 600 }))
    await next.announce()
    await next.leased.release()
  })

  test('a plan has ended when its last writer has', async () => {
    const change = { prefix: 'last:', totalAgents: 2 }
    const ended = async () => JSON.parse((await cli(server, 'HVALS', planKey('last:'))).split('\n')[0]).ended
    const boxes = [await boxOf(settingsOf(change)), await boxOf(settingsOf(change))]
    for (const { announce } of boxes) await announce()
    await boxes[0].leased.release()
    assert.equal(await ended(), false)
    await boxes[1].leased.release()
    assert.equal(await ended(), true)
  })

  test('the program ends with 3 before its first write, and ids of the other stay', async (t) => {
    const env = at(server)
    const line = '--prefix two:'
    const first = startHere(t, 'write', `-q 100 -p 200 --once --ttl 600 ${line}`, { env })
    await until('ids', () => server.redis.exists('two:latest-ids'))
    const second = await writeHere(t, `-q 50 -p 200 --ttl 3 --intervals 2 ${line}`, { env })
    assert.equal(second.code, 3, second.stderr)
    assert.match(
      second.stderr,
      /another plan is being written under prefix two:: .*each item once, with -q 100 \(here 50\), --once/,
    )
    first.kill('SIGINT')
    const { document } = await first.ended
    assert.equal(await server.redis.zcard('two:latest-ids'), document.items.acked)
  })
})

describe('a box whose clock is wrong', () => {
  /** @param {TestContext} t @param {number} aheadMs */
  const clockOf = (t, aheadMs) => {
    const file = join(ownFolder(t, 'clock'), 'ahead-ms')
    const set = (/** @type {number} */ ms) => writeFileSync(file, String(ms))
    set(aheadMs)
    const loader = new URL('../helpers/set-clock.js', import.meta.url).href
    const env = { ...at(server), TEST_CLOCK_FILE: file, NODE_OPTIONS: `--import ${loader}` }
    return { env, set }
  }
  const line = '-q 100 -p 200 --prefix clock: --quiet'
  // By more than an answer that is late takes off.
  const anHourAheadMs = 3_650_000

  test('is refused', async (t) => {
    const { env } = clockOf(t, anHourAheadMs)
    const { code, stderr } = await runProducer(t, `${line} --intervals 2`, { env })
    assert.equal(code, 3, stderr)
    assert.match(stderr, /^this box's clock is 3,6\d\d\.\d s ahead of that of .*--allow clock$/m)
  })

  test("writes by the servers' time where that is allowed; a jump midway is not valid", async (t) => {
    const { env, set } = clockOf(t, anHourAheadMs)
    const { redis } = server
    // An id that is alive by the servers' time, whatever this box believes.
    await redis.zadd('clock:latest-ids', String(Date.now() + 30 * 60_000), 'clock:item:5000')
    const running = startProducer(t, `${line} --allow clock,foreign-keys`, { env })
    await until('it writes', () => running.intervals().length > 0)
    set(0)
    await running.says(/this box's clock jumped by −36\d\d\.\d s/)
    const score = Number(await redis.zscore('clock:latest-ids', 'clock:item:1'))
    assert.ok(Math.abs(score - Date.now()) < 10 * 60_000, `scores are by the servers' time: ${score}`)
    assert.ok(await redis.zscore('clock:latest-ids', 'clock:item:5000'), 'it was not removed')
    running.kill('SIGINT')
    const { document } = await running.ended
    const codes = document.warnings.map((/** @type {any} */ { code }) => code)
    assert.ok(codes.includes('clock') && codes.includes('clock-jump'), String(codes))
    assert.deepEqual([document.valid, document.state], [false, 'not-valid'])
    assert.ok(document.events.some((/** @type {any} */ { kind }) => kind === 'clock'))
  })
})
