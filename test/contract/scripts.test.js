// Scripts that the quick tests need a real server for: a lifetime for every item, and leases of their holder alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leaseKey, leases } from '../../lib/servers/leases.js'
import { scriptBody } from '../../lib/workloads/lua.js'
import { startServer } from '../helpers/servers.js'

test('store-items gives each item its lifetime, by keys and by arguments, and ranks it', async (t) => {
  const { redis } = await startServer(t)
  const store = scriptBody('store-items')
  assert.equal(await redis.eval(store, 3, 'byKeys', 'a', 'b', '60', '5', 'x', 'y'), 2)
  assert.equal(await redis.eval(store, 1, 'byArguments', '60', '5', 'c', 'x', 'd', 'y'), 2)
  for (const [item, value] of Object.entries({ a: 'x', b: 'y', c: 'x', d: 'y' })) {
    assert.equal(await redis.get(item), value)
    const lifetimeS = await redis.ttl(item)
    assert.ok(lifetimeS > 0 && lifetimeS <= 60, `${item}: ${lifetimeS}`)
  }
  assert.deepEqual(await redis.zrange('byKeys', '0', '-1', 'WITHSCORES'), ['a', '5', 'b', '5'])
  assert.deepEqual(await redis.zrange('byArguments', '0', '-1'), ['c', 'd'])
})

test('a lease is given back and renewed by its holder alone, and a release gives all of them back', async (t) => {
  const { redis, host, port, password } = await startServer(t)
  await redis.set('lease', '0,"token":"ours"}', 'PX', 60_000)
  const ended = async (/** @type {string} */ name, /** @type {(string | number)[]} */ ...args) =>
    redis.eval(scriptBody(name), 1, 'lease', ...args)
  assert.equal(await ended('renew-lease', '"token":"theirs"}', 90_000), 0)
  assert.equal(await ended('release-lease', '"token":"theirs"}'), 0)
  assert.equal(await redis.exists('lease'), 1)
  assert.equal(await ended('renew-lease', '"token":"ours"}', 90_000), 1)
  assert.ok((await redis.pttl('lease')) > 60_000)
  assert.equal(await ended('release-lease', '"token":"ours"}'), 1)
  assert.equal(await redis.exists('lease'), 0)

  const group = { prefix: 'p:', totalAgents: 2 }
  const topology = { masters: [`${host}:${port}`], owners: null }
  const own = leases({
    target: { kind: 'single', topology, access: { password } },
    ...{ group, run: 'run', say: () => {}, onLost: () => {}, clock: () => performance.now() },
  })
  t.after(own.release)
  assert.deepEqual(await own.claim('next'), [1])
  assert.equal(await redis.exists(leaseKey(group, 1)), 1)
  await own.release()
  assert.equal(await redis.exists(leaseKey(group, 1)), 0)
})
