// Steps about one key, transactions, and commands of several keys of one slot, as a real server counts them.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startHere, writeHere } from '../helpers/here.js'
import { assertDone, assertNoneLost, laterSecond, ownFolder, until } from '../helpers/programs.js'
import { callsOf, cli, startCluster, startServer } from '../helpers/servers.js'

/** @param {import('node:test').TestContext} t @param {string} text */
const fileOf = (t, text) => {
  const path = join(ownFolder(t, 'steps'), 'steps.yaml')
  writeFileSync(path, text)
  return path
}

const locks = `
keys:
  'lock:{id}': { type: string, keys: 1, bytes: 20, lifetime: 600 }
mix:
  - { steps: ['SET lock:{own} {bytes} EX {lifetime}', 'pause 300ms', 'GET lock:{own}', 'DEL lock:{own}'], share: 1 }
`

test('each step once for each operation, the pause between them, and no part of it in the latency', async (t) => {
  const server = await startServer(t)
  const monitor = await server.redis.monitor()
  const times = /** @type {Map<string, number[]>} */ (new Map())
  monitor.on('monitor', (time, [name, key]) => {
    if (/^lock:/.test(key ?? ''))
      times.set(key, [...(times.get(key) ?? []), ...(/^(set|get)$/i.test(name) ? [Number(time)] : [])])
  })
  const options = [
    '--model',
    fileOf(t, locks),
    ...'--rate 150 --connections 100 --warm-up 0 --duration 4s'.split(' '),
  ]
  const { document, code, stderr } = await writeHere(t, options, server)
  assertNoneLost(document.items)
  assert.ok(code === 0 || code === 4, stderr)
  const { acked } = document.items
  assert.ok(acked > 400)
  for (const name of ['set', 'del']) assert.ok(Math.abs((await callsOf(server, name)) - acked) < 20, name)
  assert.equal(await cli(server, '--raw', 'KEYS', 'lock:2*'), '')
  monitor.disconnect()
  const gaps = [...times.values()].flatMap(([set, get]) => (get === undefined ? [] : [(get - set) * 1000]))
  assert.ok(gaps.length > 400 && Math.min(...gaps) >= 299, `${gaps.length}, ${Math.min(...gaps)} ms`)
  assert.ok(document.latency_us.service.p50 < 299_000, JSON.stringify(document.latency_us.service))
})

const orders = `
keys:
  'n:{{{id}}}': { type: string, keys: 100, value: number }
  'at:{{{id}}}': { type: string, keys: 100, bytes: 9 }
mix:
  - { transaction: ['INCR n:{{{live}}}', 'SET at:{{{live}}} {bytes}'], share: 3 }
  - { command: 'MGET n:{{{live}}} at:{{{live}}}', share: 1 }
`

test('transactions and commands of several keys of one slot, on a cluster', async (t) => {
  const cluster = await startCluster(t, { replicas: 0 })
  const servers = cluster.nodes.map((node) => ({ ...node, ...cluster.access }))
  const options = [
    '--cluster',
    '--model',
    fileOf(t, orders),
    ...'--fill --rate 1000 --warm-up 0 --duration 2s'.split(' '),
  ]
  const { document, code, stderr } = await writeHere(t, options, /** @type {any} */ (servers[0]))
  assertDone({ code, document, stderr })
  const sumOf = async (/** @type {string} */ name) =>
    (await Promise.all(servers.map((server) => callsOf(/** @type {any} */ (server), name)))).reduce(
      (a, b) => a + b,
      0,
    )
  const [incr, exec, mget] = [await sumOf('incr'), await sumOf('exec'), await sumOf('mget')]
  assert.equal(incr + mget, document.items.acked)
  assert.ok(exec >= incr && Math.abs(incr / mget - 3) < 0.1, `${incr} INCR, ${exec} EXEC, ${mget} MGET`)
  assert.equal(document.server.foreign_calls, null)
})

test('keys that may be in different slots are refused on a cluster', async (t) => {
  const path = fileOf(t, orders.replaceAll('{{{', '{').replaceAll('}}}', '}'))
  const { code, stderr } = await writeHere(t, ['--cluster', '--model', path, '--duration', '1s'])
  assert.deepEqual(
    [code, /n:\{live\} and at:\{live\} are in different slots of a cluster/.test(stderr)],
    [2, true],
    stderr,
  )
})

test('a command that fails within a transaction makes the operation fail, by its name', async (t) => {
  const server = await startServer(t)
  await server.redis.rpush('x:1', 'a')
  const path = fileOf(
    t,
    "keys:\n  'x:{id}': { type: string, keys: 1 }\nmix:\n  - { transaction: ['INCR x:{live}', 'EXISTS x:{live}'], share: 1 }\n",
  )
  const { document } = await writeHere(
    t,
    ['--model', path, ...'--allow foreign-keys --rate 100 --warm-up 0 --duration 1s'.split(' ')],
    server,
  )
  assert.deepEqual(Object.keys(document.items.failed_by), ['WRONGTYPE'])
  assert.equal(document.items.failed, document.items.offered)
})

test('when connections are lost in a pause or between steps, each operation has its outcome', async (t) => {
  const server = await startServer(t)
  const options = [
    '--model',
    fileOf(t, locks),
    ...'--rate 150 --connections 100 --warm-up 0 --duration 10m'.split(' '),
  ]
  const run = startHere(t, 'write', options, server)
  const inInfo = async (/** @type {string} */ name) =>
    Number(new RegExp(`${name}:(\\d+)`).exec(await server.redis.info())?.[1])
  for (let i = 0; i < 3; i++) {
    await until('another second', () => run.intervals().length > i)
    // A busy machine takes a while to connect a hundred anew, and only what is there can be lost.
    await until('all are connected', async () => (await inInfo('connected_clients')) >= 100)
    await cli(server, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  }
  // A hundred of them, and as many anew after each loss; not asked by cli, which has a connection each time.
  await until('connected anew', async () => (await inInfo('total_connections_received')) > 350)
  await laterSecond(run, ({ items }) => items.acked > 0)
  run.kill('SIGINT')
  const { document } = await run.ended
  const { offered, acked, dropped } = document.items
  assert.equal(offered, acked + dropped, JSON.stringify(document.items))
  assert.equal(await cli(server, '--raw', 'KEYS', 'lock:2*'), '')
})
