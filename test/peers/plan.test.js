// A calibration of a cluster of another version, whose masters have replicas.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calibration } from '../../lib/answers/plan/calibration.js'
import { faultIn } from '../../lib/base/json-schema.js'
import { calibrate } from '../../lib/cli/calibration.js'
import { peer } from '../helpers/peers.js'
import { ownFolder } from '../helpers/programs.js'
import { cli, startCluster } from '../helpers/servers.js'

const small = {
  ...{ strategies: ['list'], files: {}, seed: 5, cells: 3, proofs: 1, limitS: 0, windowS: 1 },
  most: { items: 20_000, valueBytes: 2000 },
}

test('a cluster with replicas of redis-8.2 is calibrated, and is empty afterwards', async (t) => {
  const bin = peer(t, 'redis-8.2')
  if (bin === undefined) return
  const { nodes, access } = await startCluster(t, { shards: 2, replicas: 1, bin })
  const [{ host, port }] = nodes
  const where = { host, port, ...access, cluster: true }
  const asked = { ...small, where, out: ownFolder(t, 'calibrate-peer') }
  const { document } = await calibrate(asked, () => {}, t.signal)
  assert.equal(faultIn(document, calibration.schema), null)
  const [{ cpu, memory, proof }] = document.models
  assert.deepEqual(Object.keys(cpu).sort(), ['master', 'replica'])
  for (const { terms } of Object.values(cpu)) assert.ok(terms.length > 0)
  assert.ok(memory !== null)
  const [{ predicted, measured }] = proof
  assert.ok(measured)
  assert.ok(predicted.cpu_us.master.value > 0 && measured.cpu_us.master > 0)
  if (measured.memory_bytes !== null && predicted.memory_bytes) {
    const off = Math.abs(predicted.memory_bytes.value / measured.memory_bytes - 1)
    assert.ok(off < 0.25, JSON.stringify(memory))
  }
  // Masters that feed replicas send more than replies.
  assert.equal(measured.net_bytes, null)
  for (const node of nodes)
    assert.equal(await cli({ ...node, ...access }, 'DBSIZE'), '0', `${node.host}:${node.port}`)
})
