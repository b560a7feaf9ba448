// Replicas that a cluster's map has later than its masters: before a run they are waited for, and one that joins while it runs
// has gaps before it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Redis } from 'ioredis'
import { addServers } from '../../lib/servers/embedded-changes.js'
import { startHere } from '../helpers/here.js'
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
  const pingEvery = (/** @type {number} */ s) =>
    ask(master, 'CONFIG', 'SET', 'repl-ping-replica-period', String(s))
  return {
    env: at({ ...master, ...cluster.access }),
    replica: `${added.host}:${added.port}`,
    pingEvery,
    /** The master names it; the map has it when the master has pinged it: every so many seconds. @param {number} everyS */
    async join(everyS) {
      await pingEvery(everyS)
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

/** Seconds in which a node did not answer in time, as on a busy machine. @param {any[]} seconds @param {string} node */
const silentIn = (seconds, node) =>
  seconds.filter(({ nodes }) =>
    nodes.some((/** @type {any} */ { address, gap }) => address === node && gap === 'silent'),
  ).length

test('a replica that only INFO of its master names is waited for, and its CPU is counted', async (t) => {
  const { env, join, pingEvery, replica } = await youngCluster(t)
  await join(3600)
  const run = startHere(t, 'write', '--cluster -q 1000 -c 10 -a all --duration 3s', { env })
  await run.says(/1 replica that INFO of the masters names is not in the cluster's map yet: waiting/)
  await pingEvery(1)
  const { document, seconds, stderr } = await run.ended
  assert.match(stderr, /: 3 masters, 1 replica/)
  const { role, gaps, cpu_pct: pct, sampled_s: sampledS } = nodeIn(document, replica)
  const silent = silentIn(seconds, replica)
  assert.equal(role, 'replica', stderr)
  assert.ok(gaps <= silent, `${gaps} gaps, ${silent} s silent: ${stderr}`)
  assert.ok(pct > 0 && sampledS > 2.5 - silent, `${pct} % in ${sampledS} s, ${silent} s silent`)
})

test('a replica that joins while a run measures has gaps before it', async (t) => {
  const { env, join, replica } = await youngCluster(t)
  const line = '--cluster -q 1000 -c 10 -a all --warm-up 0 --duration 10m'
  const run = startHere(t, 'write', line, { env })
  await until('its second second', () => run.intervals().length > 1)
  await join(1)
  const isSampled = (/** @type {any} */ second) => nodeIn(second, replica)?.over_ms !== undefined
  await until('three seconds of it', () => run.intervals().filter(isSampled).length > 2)
  run.kill('SIGINT')
  const { document, seconds, stderr } = await run.ended
  const { gaps, sampled_s: sampledS } = nodeIn(document, replica) ?? {}
  const within = 2.5 + silentIn(seconds, replica)
  assert.ok(
    sampledS < document.duration_s - 1 &&
      gaps > 0 &&
      Math.abs(sampledS + gaps - document.duration_s) < within,
    `${sampledS} s, ${gaps} gaps in ${document.duration_s} s: ${stderr}`,
  )
  const gap = warningIn(document, 'gaps')
  assert.match(gap?.message, /samples missing of .*: the figures of the nodes leave those seconds out/)
})
