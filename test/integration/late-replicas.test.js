// Replicas that a cluster's map has later than its masters: before a run they are waited for, and one that joins while it runs
// has gaps before it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Redis } from 'ioredis'
import { addServers } from '../../lib/servers/embedded-changes.js'
import { startHere, writeHere } from '../helpers/here.js'
import { at, until, warningIn } from '../helpers/programs.js'
import { startCluster } from '../helpers/servers.js'

/** Masters and an empty server that can join the first of them as its replica. @param {import('../helpers/servers.js').Scope} t */
const youngCluster = async (t) => {
  const cluster = await startCluster(t, { replicas: 0 })
  const [added] = await addServers(cluster, { count: 1 })
  const [master] = cluster.nodes
  const clients = new Map(
    [added, master].map((node) => {
      const client = new Redis({ host: node.host, port: node.port, ...cluster.access })
      t.after(() => client.disconnect())
      return [node.port, client]
    }),
  )
  const ask = async (
    /** @type {{ port: number }} */ { port },
    /** @type {[string, ...string[]]} */ ...words
  ) => String(await clients.get(port)?.call(...words))
  return {
    env: at({ ...master, ...cluster.access }),
    replica: `${added.host}:${added.port}`,
    /** The master names it; the map has it when the master has pinged it, up to 10 s later. */
    async join() {
      const id = await ask(master, 'CLUSTER', 'MYID')
      const port = String(added.port)
      await ask(master, 'CLUSTER', 'MEET', added.host, port, String(added.busPort))
      await until('it knows its master', async () => (await ask(added, 'CLUSTER', 'NODES')).includes(id))
      await until(
        'it is a replica',
        async () => (await ask(added, 'CLUSTER', 'REPLICATE', id).catch(() => '')) === 'OK',
      )
      await until('its master names it', async () =>
        /slave0:.*state=online/.test(await ask(master, 'INFO', 'replication')),
      )
    },
  }
}

/** @param {any} document @param {string} replica */
const nodeIn = ({ nodes }, replica) =>
  nodes.find((/** @type {{ address: string }} */ { address }) => address === replica)

test('a replica that only INFO of its master names is waited for, and its CPU is counted', async (t) => {
  const { env, join, replica } = await youngCluster(t)
  await join()
  const { document, stderr } = await writeHere(t, '--cluster -q 1000 -c 10 -a all --duration 3s', { env })
  assert.match(stderr, /1 replica that INFO of the masters names is not in the cluster's map yet: waiting/)
  assert.match(stderr, /: 3 masters, 1 replica/)
  const { role, gaps, cpu_pct: pct, sampled_s: sampledS } = nodeIn(document, replica)
  assert.deepEqual([role, gaps], ['replica', 0], stderr)
  assert.ok(pct > 0 && sampledS > 2.5, `${pct} % in ${sampledS} s`)
})

test('a replica that joins while a run measures has gaps before it', async (t) => {
  const { env, join, replica } = await youngCluster(t)
  const line = '--cluster -q 1000 -c 10 -a all --warm-up 0 --duration 20s'
  const run = startHere(t, 'write', line, { env })
  await until('its second second', () => run.intervals().length > 1)
  await join()
  const { document, stderr } = await run.ended
  const { gaps, sampled_s: sampledS } = nodeIn(document, replica) ?? {}
  assert.ok(
    sampledS < 19 && gaps > 0 && Math.abs(sampledS + gaps - 20) < 2.5,
    `${sampledS} s, ${gaps} gaps: ${stderr}`,
  )
  const gap = warningIn(document, 'gaps')
  assert.match(gap?.message, /samples missing of .*: the figures of the nodes leave those seconds out/)
})
