// `millrace reshard` where clients may change the cluster: the commands of docs/servers.md, on real servers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOf, endpointOf } from '../../lib/servers/address.js'
import { clusterNodes } from '../../lib/servers/cluster-nodes.js'
import { controlConnections } from '../../lib/servers/control.js'
import { findEmbedded } from '../../lib/servers/embedded.js'
import { addServers } from '../../lib/servers/embedded-changes.js'
import { ownRuntime, startCommand } from '../helpers/command-here.js'
import { at } from '../helpers/programs.js'
import { startCluster } from '../helpers/servers.js'

/**
 * @import { TestContext } from 'node:test'
 * @import { Access } from '../../lib/servers/dial.js'
 */

/** Masters with their slots, and how many replicas there are, as a node reports them. @param {TestContext} t @param {{ address: string, access: Access }} of */
const shapeOf = async (t, { address, access }) => {
  const control = controlConnections(access)
  t.after(() => control.close())
  const nodes = clusterNodes(
    String(await control.clientOf(endpointOf(address)).call('CLUSTER', 'NODES')),
    '127.0.0.1',
  )
  const masters = nodes.filter(({ role }) => role === 'master')
  const slots = masters.map((node) => node.slots.reduce((sum, [from, to]) => sum + to - from + 1, 0))
  return { slots: slots.sort((a, b) => b - a), replicas: nodes.length - masters.length }
}

/** @param {TestContext} t @param {string} line @param {NodeJS.ProcessEnv} [env] */
const reshard = (t, line, env) => startCommand(t, `reshard ${line}`, { env, out: false }).ended

test('a shard of started servers joins the local cluster of a writer, gets slots, and leaves', async (t) => {
  ownRuntime(t)
  const writer = startCommand(t, 'write --cluster --shards 3 --replicas 0 -q 100')
  await writer.says(/the only writer/)
  const { code, stdout, stderr } = await reshard(t, 'add-shard --replicas 1')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^4,096 slots with \d+ keys? moved in /)
  const local = findEmbedded({ cluster: true })
  assert.ok(local)
  assert.deepEqual(await shapeOf(t, local), { slots: [4096, 4096, 4096, 4096], replicas: 1 })
  const gone = await reshard(t, 'remove-shard --shard 1')
  assert.equal(gone.code, 0, gone.stderr)
  assert.match(gone.stdout, /^4,096 slots with .*; not part of the cluster any more: 127\.0\.0\.1:\d+/)
  writer.kill('SIGINT')
  const { document } = await writer.ended
  assert.equal(document?.items.failed, 0)
})

test('servers named by --servers become a shard of the cluster at an address', async (t) => {
  const cluster = await startCluster(t, { shards: 3, replicas: 0 })
  const [{ host, port }] = cluster.endpoints
  const env = at({ host, port, password: cluster.access.password })
  const away = await reshard(t, 'add-shard --servers 127.0.0.1:1', env)
  assert.equal(away.code, 3)
  assert.match(away.stderr, /127\.0\.0\.1:1: .*\n$/)
  const nodes = await shapeOf(t, cluster)
  assert.deepEqual(nodes, { slots: [5462, 5461, 5461], replicas: 0 })
  const servers = (await addServers(cluster, { count: 2 })).map(addressOf)
  const { code, stdout, stderr } = await reshard(t, `add-shard --servers ${servers}`, env)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^4,096 slots with 0 keys moved in /)
  assert.deepEqual(await shapeOf(t, cluster), { slots: [4096, 4096, 4096, 4096], replicas: 1 })
})
