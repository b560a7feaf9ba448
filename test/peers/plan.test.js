// Calibrations on other servers: Valkey alone, and a cluster of Redis 8 whose masters have replicas.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { calibration } from '../../lib/answers/plan/calibration.js'
import { faultIn } from '../../lib/base/json-schema.js'
import { calibrate } from '../../lib/cli/calibration.js'
import { peer } from '../helpers/peers.js'
import { ownFolder } from '../helpers/programs.js'
import { cli, startCluster, startServer } from '../helpers/servers.js'

const small = {
  ...{ strategies: ['list'], files: {}, seed: 5, cells: 5, proofs: 1, limitS: 1, windowS: 1 },
  most: { items: 20_000, valueBytes: 2000 },
}

describe('calibrations of other servers', { concurrency: 2 }, () => {
  for (const [name, topology, serverRoles] of /** @type {const} */ ([
    ['valkey-9.1', 'one server', ['master']],
    ['redis-8.2', 'a cluster with replicas', ['master', 'replica']],
  ]))
    test(`${topology} of ${name} is calibrated, and is empty afterwards`, async (t) => {
      const bin = peer(t, name)
      if (bin === undefined) return
      const isCluster = serverRoles.length > 1
      const { nodes, password } = isCluster
        ? await startCluster(t, { shards: 2, replicas: 1, bin }).then(({ nodes, access }) => ({
            nodes,
            ...access,
          }))
        : await startServer(t, { bin }).then((server) => ({ nodes: [server], password: server.password }))
      const [{ host, port }] = nodes
      const where = { host, port, password, ...(isCluster && { cluster: true }) }
      const asked = { ...small, where, out: ownFolder(t, 'calibrate-peer') }
      const { document } = await calibrate(asked, () => {}, t.signal)
      assert.equal(faultIn(document, calibration.schema), null)
      const [{ cpu, memory, proof }] = document.models
      assert.deepEqual(Object.keys(cpu).sort(), serverRoles)
      for (const { terms } of Object.values(cpu)) assert.ok(terms.length > 0)
      assert.ok(memory !== null)
      const [{ predicted, measured }] = proof
      const offPct = (/** @type {number} */ value, /** @type {number} */ truth) =>
        100 * Math.abs(value / truth - 1)
      assert.ok(measured)
      assert.ok(predicted.cpu_us.master.value > 0 && measured.cpu_us.master > 0)
      if (measured.memory_bytes !== null && predicted.memory_bytes)
        assert.ok(offPct(predicted.memory_bytes.value, measured.memory_bytes) < 25, JSON.stringify(memory))
      // Masters that feed replicas send more than replies.
      if (isCluster) assert.equal(measured.net_bytes, null)
      // INFO may come between the bytes of a batch and its commands.
      else
        assert.ok(
          offPct(predicted.net_bytes, Number(measured.net_bytes)) < 4,
          `${predicted.net_bytes}, ${measured.net_bytes} B`,
        )
      for (const node of nodes)
        assert.equal(await cli({ ...node, password }, 'DBSIZE'), '0', `${node.host}:${node.port}`)
    })
})
