import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { othersIn, othersText } from '../../lib/probes/others.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @import { RoleTotals } from '../../lib/probes/others.js' */

/** Calls by name, of a microsecond each. @param {Record<string, number>} calls */
const ran = (calls) =>
  Object.fromEntries(Object.entries(calls).map(([name, n]) => [name, { calls: n, usec: n }]))

// What a run of ten seconds alone showed on its master, and what of it its own connections counted.
const alone = { ping: 501, setex: 200_000, zadd: 200, time: 13, info: 12, pexpire: 4, hlen: 2, hset: 2 }
const scripts = { getrange: 2, eval: 6, pttl: 2, hget: 2, zcount: 1, expire: 1, replconf: 10 }
const sent = { time: 11, info: 12, eval: 6 }

/** @param {Record<string, number>} more @param {Partial<RoleTotals>} [how] @returns {RoleTotals} */
const masterWith = (more, how) => ({
  ...{ nodes: 1, overS: 10, asked: sent, connections: 0, pings: 500, loadBytes: 60e6, besideBytes: 40_000 },
  commands: ran({ ...alone, ...scripts, ...more }),
  ...how,
})

/** @param {RoleTotals} masters @param {RoleTotals | null} [replicas] @param {number} [processes] */
const othersOf = (masters, replicas = null, processes = 1) => {
  const plan = samplePlan({ quantity: 1000 })
  return othersIn(
    { masters, replicas },
    { plan, strategy: strategyOf(plan), processes, opensConnections: false },
  )
}

describe('who else was at work on the masters', () => {
  test('nobody beside a run alone, nor beside another writer of it', () => {
    assert.equal(othersOf(masterWith({})), null)
    assert.equal(othersOf(masterWith({ ping: 1002, info: 24, time: 24, getrange: 20 }), null, 2), null)
  })

  /** @type {[string, Record<string, number>, string][]} */
  const cases = [
    ['a command that no item needs', { hmget: 1000 }, '100 HMGET/s'],
    ['one that the scripts of leases run too', { hget: 1000 }, '100 HGET/s'],
    ['PINGs beyond our own', { ping: 2000 }, '150 PING/s'],
    ['INFO beyond our own', { info: 1012 }, '100 INFO/s'],
    ['a value that consumers read as well, without what they ask first', { get: 15_000 }, '1,500 GET/s'],
    ['several, by the one that ran most', { get: 15_000, hmget: 1000 }, '1,600 GET/s'],
  ]
  for (const [name, more, text] of cases)
    test(name, () => {
      const others = othersOf(masterWith(more))
      assert.equal(others?.on, 'masters')
      assert.equal(others?.by, undefined)
      assert.equal(others && othersText(others), text)
    })

  test('a call may cost what it takes to wake a server, and what it executes', () => {
    const { cpu_s: cpuS } = othersOf(masterWith({ hmget: 1000 })) ?? {}
    assert.ok(Math.abs(Number(cpuS) - 1000 * 42e-6) < 1e-9, `${cpuS}`)
    const slow = masterWith({})
    slow.commands.keys = { calls: 1, usec: 500_000 }
    assert.ok(Number(othersOf(slow)?.cpu_s) > 1)
  })

  test('connections that come and go without a command', () => {
    const others = othersOf(masterWith({}, { connections: 1018 }))
    assert.equal(others && othersText(others), '100 new connections/s')
    assert.equal(othersOf(masterWith({}, { connections: 5 })), null)
  })

  test('bytes that no call explains: a client that only listens', () => {
    const others = othersOf(masterWith({}, { besideBytes: 33e6 }))
    assert.equal(others && othersText(others), '2.68 MB/s of other traffic')
    assert.ok(Math.abs(Number(others?.cpu_s) - 1.61) < 0.01, `${others?.cpu_s}`)
    assert.equal(othersOf(masterWith({}, { besideBytes: 6e6 })), null, 'what is on its way at the edges')
    assert.equal(othersOf(masterWith({}, { besideBytes: null })), null, 'not counted')
    assert.equal(othersOf(masterWith({}, { besideBytes: 33e6 }), null, 2), null, 'of another box')
    const named = othersOf(masterWith({ hmget: 1000 }, { besideBytes: 6.9e6 }))
    assert.equal(named && othersText(named), '100 HMGET/s', 'values that were asked for')
    assert.ok(Number(othersOf(masterWith({ zrangebyscore: 100 }, { besideBytes: 33e6 }))?.cpu_s) < 0.01)
  })

  test('consumers of the model ask for ids before they read values', () => {
    const others = othersOf(masterWith({ zrangebyscore: 100, get: 30_000 }))
    assert.equal(others?.by, 'consumers')
    assert.equal(othersOf(masterWith({ zrangebyscore: 100, hmget: 30_000 }))?.by, undefined)
  })

  test('PINGs of a bystander that had stalled', () => {
    assert.equal(othersOf(masterWith({ ping: 594 }, { pings: 590 })), null)
    assert.equal(othersOf(masterWith({ ping: 594 }, { pings: 500 }))?.command, 'ping')
  })

  test('a run that did not count what it sent had some more of its own', () => {
    assert.equal(othersOf(masterWith({ hget: 400, info: 300 }, { asked: null })), null)
    assert.equal(othersOf(masterWith({ hget: 4000 }, { asked: null }))?.command, 'hget')
  })
})

describe('who else was at work on the replicas', () => {
  const replica = (/** @type {Record<string, number>} */ more) => ({
    ...{ nodes: 1, overS: 10, asked: { info: 12 }, connections: 0, pings: 0, loadBytes: 0, besideBytes: 400 },
    // A SETEX arrives as SET, an EXPIRE as PEXPIREAT; keys that expire as DEL.
    commands: ran({ set: 200_000, zadd: 200, pexpireat: 4, hset: 2, del: 5000, info: 12, ping: 1, ...more }),
  })

  test('what a run reads from masters is of others there, and its own where it reads from replicas', () => {
    const of = (/** @type {'any' | undefined} */ reads) => {
      const plan = samplePlan({ strategy: 'lookup-get', quantity: 1000 })
      const roles = {
        masters: masterWith({ setex: 0, zadd: 0, zcount: 0, get: 10_000 }),
        replicas: replica({ get: 300_000 }),
      }
      const known = { strategy: strategyOf(plan), processes: 1, opensConnections: false }
      return othersIn(roles, { plan: { ...plan, ...(reads && { reads }) }, ...known })
    }
    assert.deepEqual([of(undefined)?.on, of(undefined)?.command], ['replicas', 'get'])
    assert.equal(of('any'), null)
  })

  test('nobody, where they apply what their masters ran, under whatever name', () => {
    assert.equal(othersOf(masterWith({}), replica({})), null)
    // Effects of another application on the masters are theirs.
    assert.equal(othersOf(masterWith({ sadd: 5000 }), replica({ sadd: 5000 }))?.on, 'masters')
  })

  test('reads there, which cost the masters nothing', () => {
    const others = othersOf(masterWith({}), replica({ get: 300_000 }))
    assert.deepEqual([others?.on, others?.calls_per_s, others?.masters_cpu_s], ['replicas', 30_000, 0])
  })
})
