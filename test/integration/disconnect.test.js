import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { startCluster } from '../helpers/servers.js'

/** A program that ends its client while the client asks for the slots, and has nothing else to do. */
const program = `
  import { Cluster } from 'ioredis'
  import { disconnect } from './lib/servers/disconnect.js'
  const [host, port, password] = process.env.TARGET.split(' ')
  const client = new Cluster([{ host, port: Number(port) }], {
    lazyConnect: true, slotsRefreshInterval: 1, redisOptions: { password },
  })
  await client.connect()
  const refresh = client.refreshSlotsCache
  client.refreshSlotsCache = (then) => {
    client.refreshSlotsCache = refresh
    client.refreshSlotsCache(then)
    disconnect(client)
  }
`

test('a cluster client that is ended while it asks for the slots keeps no program alive', async (t) => {
  const { nodes, access } = await startCluster(t, { replicas: 0 })
  const { status, signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: new URL('../..', import.meta.url),
    env: { ...process.env, TARGET: `${nodes[0].host} ${nodes[0].port} ${access.password}` },
    encoding: 'utf8',
    timeout: 20_000,
  })
  assert.deepEqual([status, signal], [0, null], stderr)
})
