// Policies as sides of a comparison: limits of memory are the servers', not the writer's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cellOf, commonRequest, sideRequests } from '../../lib/compare/request.js'

/** @param {Record<string, string>} typed */
const cellsOf = (typed) => {
  const common = commonRequest(new Map(Object.entries(typed)))
  const sides = sideRequests(['cache-aside policy=allkeys-lru', 'cache-aside policy=allkeys-lfu'])
  return sides.map((side) => cellOf(side, side.id, common))
}

test('each side has a server with its limit and its policy', () => {
  const cells = cellsOf({ maxmemory: '4MB', keys: '20k', rate: '4k' })
  const found = cells.map(({ place }) => (place.config ?? []).join(' '))
  const policies = ['allkeys-lru', 'allkeys-lfu']
  const wanted = policies.map((policy) => `maxmemory,4000000 maxmemory-policy,${policy}`)
  assert.deepEqual(found, wanted)
  for (const { legs } of cells) assert.ok(!('maxmemory' in legs[0].options) && !('policy' in legs[0].options))
})

test('a policy without a limit, and a limit for a target, are refused', () => {
  assert.throws(() => cellsOf({ keys: '20k' }), /needs .*maxmemory/)
  assert.throws(() => cellsOf({ keys: '20k', maxmemory: '4MB', host: 'cache.example' }), /of the run's own/)
})

test('keys of a cache have the lifetime that was given, and else none', () => {
  const ttlOf = (/** @type {Record<string, string>} */ typed) =>
    cellsOf({ maxmemory: '4MB', keys: '20k', rate: '4k', ...typed }).map(({ legs }) => legs[0].options.ttl)
  assert.deepEqual(ttlOf({}), [undefined, undefined])
  assert.deepEqual(ttlOf({ ttl: '9s' }), ['9s', '9s'])
})
