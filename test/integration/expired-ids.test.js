import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removeExpiredIds } from '../../lib/run/stored-data.js'
import { startServer } from '../helpers/servers.js'

test('what is dead goes, a thousand at a time, and what lives stays', async (t) => {
  const { redis } = await startServer(t)
  const dead = Array.from({ length: 2500 }, (_, i) => [String(1000 + i), `item:${i}`]).flat()
  await redis.zadd('latest-ids', ...dead, '5000', 'item:living')
  const target = { topology: { masters: ['only'], owners: null }, control: () => redis }

  const removed = await removeExpiredIds(target, ['latest-ids', 'no-such-set'], 5000)

  assert.equal(removed, 2500)
  assert.deepEqual(await redis.zrange('latest-ids', '0', '-1'), ['item:living'])
  const calls = /cmdstat_zrem:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]
  assert.equal(Number(calls), 3)
})
