// A model of reads and writes at their shares on a real cluster: what is filled, sent and cleaned up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { assertDone, at, runProducer, startProgram } from '../helpers/programs.js'
import { cli, startCluster } from '../helpers/servers.js'

const shop = fileURLToPath(new URL('../../docs/examples/shop.yaml', import.meta.url))

test('a mix fills a cluster, and sends its reads and writes at their shares', async (t) => {
  const { nodes, access } = await startCluster(t, { replicas: 0 })
  const servers = nodes.map((node) => ({ ...node, ...access }))
  const env = at(servers[0])
  const written = await runProducer(
    t,
    `--cluster --prefix own: --fill --model ${shop} --requests 4000 --connections 4`,
    { env },
  )
  assertDone(written)
  assert.equal(written.document.items.acked, 4000)
  const sizes = await Promise.all(servers.map((server) => cli(server, 'DBSIZE')))
  const there = sizes.reduce((sum, size) => sum + Number(size), 0)
  // 6,001 of the fill, 3 % of the commands make a session, and the plan and its lease.
  assert.ok(Math.abs(there - 6121) <= 6, `${there} keys`)
  assert.equal(await cli(servers[0], '-c', 'ZCARD', 'own:bestsellers'), '2000')
  assert.equal(await cli(servers[0], '-c', 'HLEN', 'own:cart:3:items'), '5')
  const cleaned = await startProgram(t, 'scripts/cleanup.js', '--cluster --prefix own: --yes', {
    env,
    out: false,
  }).ended
  assert.equal(cleaned.code, 0, cleaned.stderr)
  for (const server of servers) assert.equal(await cli(server, 'DBSIZE'), '0')
})
