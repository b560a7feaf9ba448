// A local cluster that forms while one of its masters stands still, as on a busy machine.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { formCluster, formingConfig } from '../../lib/servers/embedded.js'
import { findServerBinary } from '../../lib/servers/embedded-binary.js'
import { restartServer } from '../../lib/servers/embedded-changes.js'
import { answering, baseConfig, freePorts, inServerGroup } from '../../lib/servers/embedded-servers.js'
import { until } from '../helpers/programs.js'
import { cli, startCluster } from '../helpers/servers.js'

const password = 'secret'
const roles = /** @type {const} */ (['master', 'master', 'master', 'replica'])
// More than the node timeout while it forms.
const stillMs = 3000

test('a master that stands still while the cluster forms stays one, and later a replica may take over', async (t) => {
  const { group, result: members } = await inServerGroup(findServerBinary(), async (servers) => {
    const ports = await freePorts(roles.length, 'any')
    return Promise.all(
      roles.map(async (role, i) => {
        const { port, busPort } = ports[i]
        const server = servers.launch(`${role}-${i}`, port, [
          ...baseConfig({ port, password }),
          ['cluster-enabled', 'yes'],
          ['cluster-config-file', 'nodes.conf'],
          ['cluster-announce-ip', '127.0.0.1'],
          ['cluster-port', busPort],
          ...formingConfig,
        ])
        const redis = await answering(server, password, AbortSignal.timeout(100_000))
        return { ...server, busPort, role, shard: role === 'master' ? i + 1 : 1, redis }
      }),
    )
  })
  t.after(() => {
    for (const { redis } of members) redis.disconnect()
    return group.close()
  })
  const [{ pid }, , , replica] = members
  const standing = (async () => {
    await until('the replica follows its master', async () =>
      (await replica.redis.info('replication')).includes('master_link_status:up'),
    )
    process.kill(pid, 'SIGSTOP')
    await sleep(stillMs)
    process.kill(pid, 'SIGCONT')
  })()
  await Promise.all([
    formCluster(members, { slotRanges: true, signal: AbortSignal.timeout(100_000) }),
    standing,
  ])
  for (const { redis, role } of members) {
    assert.match(
      await redis.info('replication'),
      new RegExp(`^role:${role === 'master' ? 'master' : 'slave'}`, 'm'),
    )
    assert.deepEqual(await redis.config('GET', 'cluster-replica-no-failover'), [
      'cluster-replica-no-failover',
      'no',
    ])
  }
})

test('a server of a cluster that starts again may take over, as before', async (t) => {
  const cluster = await startCluster(t, { shards: 1, replicas: 1 })
  const [, replica] = cluster.nodes
  const mayNot = () =>
    cli({ ...replica, ...cluster.access }, 'CONFIG', 'GET', 'cluster-replica-no-failover').then((text) =>
      text.split('\n').at(-1),
    )
  assert.equal(await mayNot(), 'no')
  process.kill(replica.pid, 'SIGKILL')
  await until('it is away', () =>
    mayNot().then(
      (text) => text === 'gone',
      () => true,
    ),
  )
  await restartServer(cluster, replica.port)
  assert.equal(await mayNot(), 'no')
})
