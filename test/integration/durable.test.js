// What is acknowledged by --wait, and what is left of it when the master is killed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand, startCommand } from '../helpers/command-here.js'
import { peer } from '../helpers/peers.js'
import { assertDone, at, ownFolder, sumOf, until } from '../helpers/programs.js'
import { callsOf, startReplica, startServer } from '../helpers/servers.js'

/** A master and its replica. @param {import('../helpers/servers.js').Scope} t @param {Parameters<typeof startServer>[1]} [options] */
const pairOf = async (t, options) => {
  const master = await startServer(t, options)
  return { master, replica: await startReplica(t, master, options) }
}

// More than the buffers of a connection take, so that what the replica does not read is lost with the master.
const load =
  '--strategy actual-value --once --ttl 10m --value-size 20kB --rate 1000 -a all --warm-up 0 --duration 60s'

/** What its replica has not acknowledged, in bytes. @param {import('../helpers/servers.js').TestServer} master */
const aheadOf = async ({ redis }) => {
  const text = String(await redis.info('replication'))
  const [, sent, got] = /offset=(\d+).*master_repl_offset:(\d+)/s.exec(text) ?? []
  return Number(got) - Number(sent)
}

/**
 * The replica stops, the master is killed 2 s later, and the replica becomes the master: what `millrace verify` finds of a run.
 * @param {import('node:test').TestContext} t
 * @param {string} wait
 */
const killed = async (t, wait) => {
  const { master, replica } = await pairOf(t)
  const run = startCommand(t, `write ${load} --wait ${wait}`, master)
  await until('its second second', () => run.intervals().length > 1)
  process.kill(replica.pid, 'SIGSTOP')
  await sleep(2000)
  // A busy machine writes slowly.
  if (wait === '0') await until('more than what buffers hold', async () => (await aheadOf(master)) > 25e6)
  process.kill(master.pid, 'SIGKILL')
  run.kill('SIGINT')
  const { document, folder } = await run.ended
  process.kill(replica.pid, 'SIGCONT')
  await replica.redis.replicaof('NO', 'ONE')
  const line = `verify ${folder} --json --host ${replica.host} --port ${replica.port}`
  const { stdout } = await runCommand(t, line, { env: at(replica), out: false })
  return { document, found: JSON.parse(stdout) }
}

test('acknowledged by the master alone: its death loses what the replica had not read', async (t) => {
  const { document, found } = await killed(t, '0')
  assert.equal(found.acked, document.items.acked)
  assert.ok(found.lost > 100, JSON.stringify(found))
})

test('acknowledged when a replica has it: the death of the master loses none of it', async (t) => {
  const { document, found } = await killed(t, '1')
  assert.equal(found.acked, document.items.acked)
  assert.ok(found.acked > 100, JSON.stringify(found))
  assert.equal(found.lost, 0, JSON.stringify(found))
})

test('items that no replica confirms in time are uncertain, and those after them are acknowledged', async (t) => {
  const { master, replica } = await pairOf(t)
  const options = '--wait 1 --max-behind 300ms -q 500 -c 10 -a all --warm-up 0'
  const run = startCommand(t, `write ${options}`, master)
  await until('its first second', () => run.intervals().length > 0)
  process.kill(replica.pid, 'SIGSTOP')
  await until('some are uncertain', () => sumOf(run.intervals(), 'items.uncertain') > 0)
  process.kill(replica.pid, 'SIGCONT')
  const before = run.intervals().length
  await until('items after it', () => sumOf(run.intervals().slice(before + 1), 'items.acked') > 0)
  run.kill('SIGINT')
  const { document, stdout } = await run.ended
  const { acked, uncertain, failed } = document.items
  assert.deepEqual(Object.keys(document.items.failed_by), ['WAIT'])
  assert.ok(uncertain > 0 && failed === 0 && acked > 0, JSON.stringify(document.items))
  assert.match(stdout, /WAIT/)
})

test('of lookups, each write waits and no read does; hits and misses are counted as ever', async (t) => {
  const { master } = await pairOf(t)
  const options =
    '--strategy lookup-mix --with ratio=1:3 --items 1000 --rate 2000 --wait 1 --warm-up 0 --duration 3s'
  const { document, code, stderr } = await runCommand(t, `write ${options}`, master)
  assertDone({ code, document, stderr })
  const { hit, miss } = document.counts
  const [sets, gets, waits] = await Promise.all(['set', 'get', 'wait'].map((name) => callsOf(master, name)))
  const written = document.items.acked - hit - miss
  // The run's plan and its presence are keys too; the preflight check asks once.
  assert.ok(Math.abs(gets - hit - miss) < 10 && Math.abs(sets - written) < 10, `${sets} SET, ${gets} GET`)
  assert.ok(hit > 1000 && miss > 100, `${hit} hits, ${miss} misses`)
  assert.equal(waits, written + 1)
  assert.equal(document.server.foreign_calls, null)
})

test('aof: on the disk of the master, so that it comes back with all', async (t) => {
  const bin = peer(t, 'valkey-9.1')
  if (!bin) return
  const server = await startServer(t, {
    bin,
    config: { appendonly: 'yes', appendfsync: 'everysec', dir: ownFolder(t, 'aof') },
  })
  const options = '--wait aof --once --ttl 10m -q 300 -c 3 -a all --warm-up 0 --duration 4s'
  const { document, code, stderr, folder } = await runCommand(t, `write ${options}`, server)
  assertDone({ code, document, stderr })
  assert.ok((await callsOf(server, 'waitaof')) >= document.ticks.count, 'each batch waits')
  await server.restart()
  const { stdout } = await runCommand(t, `verify ${folder} --json`, { env: at(server), out: false })
  const { acked, present } = JSON.parse(stdout)
  assert.deepEqual([acked, present], [document.items.acked, document.items.acked])
})

test('what cannot be waited for is refused before the first write, in one line', async (t) => {
  const server = await startServer(t)
  const said = async (/** @type {string} */ wait) => {
    const { code, stderr } = await runCommand(t, `write --wait ${wait} --duration 1s`, server)
    return `${code} ${stderr.trim().split('\n').at(-1)}`
  }
  assert.match(await said('1'), /^3 .*--wait 1: 127\.0\.0\.1:\d+ has 0 replicas that answer in time/)
  assert.match(
    await said('aof'),
    /^3 .*--wait aof: 127\.0\.0\.1:\d+: ERR (unknown command|WAITAOF cannot be used)/,
  )
})
