// Calibrations on other servers: Valkey alone, and a cluster of Redis 8 whose masters have replicas.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { faultIn } from '../../lib/base/json-schema.js'
import { calibrationSchema } from '../../lib/result/plan-schemas.js'
import { peer } from '../helpers/peers.js'
import { ownFolder, startProgram } from '../helpers/programs.js'
import { cli, startCluster, startServer } from '../helpers/servers.js'

const short = '--strategy list --cells 6 --held-out 1 --seconds 1 --cell-time 1s --most-items 50k --json'

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
      const root = ownFolder(t, 'calibrate-peer')
      const { code, stdout, stderr } = await startProgram(
        t,
        'lib/cli/millrace.js',
        `calibrate --url redis://${host}:${port} ${isCluster ? '--cluster ' : ''}${short} --out ${root}`,
        { out: false, env: { REDIS_PASSWORD: password } },
      ).ended
      assert.equal(code, 0, stderr)
      const document = JSON.parse(stdout)
      assert.equal(faultIn(document, calibrationSchema), null)
      const [{ cpu, memory, proof }] = document.models
      assert.deepEqual(Object.keys(cpu).sort(), serverRoles)
      for (const { terms } of Object.values(cpu)) assert.ok(terms.length > 0)
      assert.ok(memory !== null)
      const [{ predicted, measured }] = proof
      const offPct = (/** @type {number} */ value, /** @type {number} */ truth) =>
        100 * Math.abs(value / truth - 1)
      assert.ok(predicted.cpu_us.master.value > 0 && measured.cpu_us.master > 0)
      if (measured.memory_bytes !== null)
        assert.ok(offPct(predicted.memory_bytes.value, measured.memory_bytes) < 25, JSON.stringify(memory))
      // Masters that feed replicas send more than replies.
      if (isCluster) assert.equal(measured.net_bytes, null)
      else assert.ok(offPct(predicted.net_bytes, measured.net_bytes) < 2, `${measured.net_bytes} B`)
      for (const node of nodes)
        assert.equal(await cli({ ...node, password }, 'DBSIZE'), '0', `${node.host}:${node.port}`)
    })
})
