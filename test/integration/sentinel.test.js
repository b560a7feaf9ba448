// One server with sentinels: the primary is found through them, and again after it has gone.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Redis } from 'ioredis'
import { findServerBinary } from '../../lib/servers/embedded-binary.js'
import { freePorts, serverGroup, spawnServer } from '../../lib/servers/embedded-servers.js'
import { startHere, writeHere } from '../helpers/here.js'
import { outcomesOf, until } from '../helpers/programs.js'
import { witnessed } from '../helpers/queries.js'
import { startReplica, startServer } from '../helpers/servers.js'

/** @import { TestServer } from '../helpers/servers.js' */

const name = 'my-primary'
// A primary that stands still on a busy machine is not away.
const patientMs = 60_000

/** @param {{ after(fn: () => any): void }} t @param {number} port @param {TestServer} primary */
const startSentinel = async (t, port, primary) => {
  const group = serverGroup(findServerBinary())
  t.after(() => group.close())
  // A sentinel is the server with another word in its command line.
  const { child } = spawnServer(
    findServerBinary(),
    join(group.dir, 'sentinel'),
    [
      ['port', port],
      ['bind', '127.0.0.1'],
      ['sentinel', 'monitor', name, primary.host, primary.port, 1],
      ['sentinel', 'auth-pass', name, primary.password],
      ['sentinel', 'down-after-milliseconds', name, patientMs],
      ['sentinel', 'failover-timeout', name, 5000],
    ],
    ['--sentinel'],
  )
  t.after(() => child.kill('SIGKILL'))
  const redis = new Redis({ host: '127.0.0.1', port, maxRetriesPerRequest: 1 })
  redis.on('error', () => {})
  t.after(() => redis.disconnect())
  await until('the sentinel answers', () => redis.ping())
  // On a busy machine its timer is late, and it would do nothing for 30 s; before Redis 7 this cannot be set.
  await redis.call('SENTINEL', 'DEBUG', 'tilt-trigger', 60_000).catch(() => {})
  return redis
}

/** @param {Redis} sentinel @param {number} replicas */
const knowsReplicas = (sentinel, replicas) =>
  until('the sentinel knows the replicas', async () => {
    const list = await sentinel.call('SENTINEL', 'REPLICAS', name)
    return /** @type {unknown[]} */ (list).length === replicas
  })

describe('servers behind sentinels', { concurrency: 2 }, () => {
  for (const driver of ['socket', 'ioredis'])
    test(`${driver}: follows the primary that the sentinels name`, async (t) => {
      const primary = await startServer(t)
      const replica = await startReplica(t, primary)
      const [{ port }] = await freePorts(1, 'none')
      const sentinel = await startSentinel(t, port, primary)
      await knowsReplicas(sentinel, 1)

      const producer = startHere(
        t,
        'write',
        `-q 300 -c 10 --ttl 60 --max-behind 60s --driver ${driver} --sentinel ${name} --host 127.0.0.1 --port ${port}`,
        { env: { REDIS_PASSWORD: primary.password } },
      )
      await until('items arrive', () => primary.redis.exists('item:1'))
      await until('they are replicated', () => replica.redis.exists('item:1'))
      process.kill(primary.pid, 'SIGKILL')
      await sentinel.call('SENTINEL', 'SET', name, 'down-after-milliseconds', 1000)
      await until('the replica is promoted', async () =>
        (await replica.redis.info('replication')).includes('role:master'),
      )
      const before = await replica.redis.zscore('latest-ids', 'item:1')
      await until(
        'the writer follows',
        async () => (await replica.redis.zscore('latest-ids', 'item:1')) !== before,
      )
      await producer.says(/is a master now/)
      producer.kill('SIGINT')
      const { code, document, stderr } = await producer.ended
      assert.equal(code, 130, stderr)
      const { items, nodes, events } = document
      assert.equal(items.offered, outcomesOf(items))
      assert.equal(items.uncertain + items.failed + items.unsettled, 0)
      assert.ok(items.acked > 0)
      const address = `127.0.0.1:${replica.port}`
      assert.ok(nodes.some((/** @type {any} */ node) => node.address === address))
      const kinds = events.map((/** @type {any} */ event) => event.kind)
      assert.ok(kinds.includes('disconnected'), kinds.join())
      assert.ok(
        events.some((/** @type {any} */ { kind, text }) => kind === 'new-master' && text.includes(address)),
        kinds.join(),
      )
    })

  test('documents change on a primary with two replicas', async (t) => {
    const primary = await startServer(t)
    const replicas = [await startReplica(t, primary), await startReplica(t, primary)]
    const [{ port }] = await freePorts(1, 'none')
    await knowsReplicas(await startSentinel(t, port, primary), 2)
    for (const [strategy, mayLose] of /** @type {[string, boolean][]} */ ([
      ['update-get-set', true],
      ['update-watch', false],
      ['update-hash', false],
    ])) {
      const prefix = `${strategy}:`
      const { document, stderr } = await writeHere(
        t,
        `--strategy ${strategy} --items 3 --connections 10 --with requests=600 --prefix ${prefix} --sentinel ${name} --host 127.0.0.1 --port ${port}`,
        { env: { REDIS_PASSWORD: primary.password } },
      )
      assert.ok(document, stderr)
      const { items, documents, nodes } = document
      assert.deepEqual([items.acked, documents.updates, documents.uncertain], [600, 600, 0])
      assert.equal(documents.survived + documents.lost, 600)
      assert.equal(documents.lost > 0, mayLose, JSON.stringify(documents))
      const roles = nodes.map((/** @type {any} */ { role }) => role)
      assert.deepEqual(roles.toSorted(), ['master', 'replica', 'replica'])
      for (const replica of replicas) {
        const address = { ...replica, password: primary.password }
        await until(
          'the replica shows them',
          async () => (await witnessed(address, prefix, [])).updates === documents.survived,
        )
      }
    }
  })

  test('what is wrong with the sentinels is said in a line', async (t) => {
    const primary = await startServer(t)
    const [{ port }] = await freePorts(1, 'none')
    await startSentinel(t, port, primary)
    const env = { REDIS_PASSWORD: primary.password }
    const wrongName = await startHere(t, 'write', `--sentinel other --host 127.0.0.1 --port ${port}`, { env })
      .ended
    assert.equal(wrongName.code, 3)
    assert.match(wrongName.stderr, /it watches no primary named other; correct --sentinel/)
    const [{ port: nobody }] = await freePorts(1, 'none')
    const away = await startHere(t, 'write', `--sentinel ${name} --host 127.0.0.1 --port ${nobody}`, { env })
      .ended
    assert.equal(away.code, 3)
    assert.match(away.stderr, /no sentinel answers/)
  })
})
