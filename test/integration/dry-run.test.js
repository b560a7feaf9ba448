// --dry-run and doctor: what a run would do, without doing any of it.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import { runCommand } from '../helpers/command-here.js'
import { at, ownFolder, startProgram } from '../helpers/programs.js'
import { suiteServer } from '../helpers/servers.js'

/** @import { TestServer } from '../helpers/servers.js' */
/** @import { TestContext } from 'node:test' */

// What a look at a target may send. CLIENT SETNAME and AUTH are of the connection.
const reads = [
  ...['info', 'scan', 'type', 'pttl', 'time', 'hgetall', 'dbsize', 'command|info', 'client|setname'],
  ...['auth', 'hello', 'select', 'ping', 'cluster|slots', 'cluster|nodes'],
]

describe('--dry-run', () => {
  const server = suiteServer()

  /** Calls of every command so far. */
  const calls = async () =>
    Object.fromEntries(
      [...(await server.redis.info('commandstats')).matchAll(/cmdstat_(\S+):calls=(\d+)/g)].map(
        ([, name, n]) => [name, Number(n)],
      ),
    )

  /** The end of a command that must have sent only reads. @param {TestContext} t @param {string} line */
  const looked = async (t, line) => {
    const [sizeBefore, before] = [await server.redis.dbsize(), await calls()]
    const ended = await runCommand(t, line, server)
    const [size, now] = [await server.redis.dbsize(), await calls()]
    assert.equal(size, sizeBefore)
    const sent = Object.keys(now).filter((name) => now[name] !== before[name])
    assert.deepEqual(
      sent.filter((name) => !reads.includes(name)),
      [],
      line,
    )
    assert.ok(sent.includes('info'), 'it has asked the server')
    assert.equal(ended.folder, '', 'there are no results')
    return ended
  }

  test('of a writer: plan, share, target, memory and the first commands', async (t) => {
    const { code, stdout, stderr } = await looked(t, 'write --rate 50k --items 200k -t 8 --dry-run')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^ {2}plan +50,000 items\/s at an even rate \(--rate\), until Ctrl-C$/m)
    assert.match(stdout, /the next free of 8 writers \(0 at work now\): about 25,000 of 200,000 items/)
    assert.match(stdout, /a master, 0 replicas, version 7\.0/)
    assert.match(stdout.replace(/\s+/g, ' '), /this plan takes about 8\d\.\d MB/)
    assert.match(stdout, /SETEX item:1 3 <128 B>$/m)
    assert.match(stdout, /ZADD latest-ids \d{13} item:1 /)
    assert.match(stdout, /nothing was written/)
  })

  test('of one writer of several: its own first item', async (t) => {
    const { stdout } = await looked(t, 'write -q 1000 -t 4 -a 3 -c 5 --sl --duration 9 --dry-run')
    assert.match(stdout, /1,000 items\/s in bursts of 200 every 200 ms/)
    assert.match(stdout, /writer 3 of 4: 250 of 1,000 items\/s/)
    assert.match(stdout, /SETEX item:501 /)
  })

  test('of every data model and of lookups', async (t) => {
    const models = 'actual-value script-batch script-item set hash stream list-hll lookup-mix'
    for (const strategy of models.split(' ')) {
      const line = `write --strategy ${strategy} --dry-run --json --log error`
      const { code, stdout, stderr } = await looked(t, line)
      assert.equal(code, 0, stderr)
      const { dry_run: isDry, plan, commands, found } = JSON.parse(stdout)
      assert.deepEqual([isDry, plan.strategy], [true, strategy])
      assert.ok(commands.length > 0 && found.nodes.length === 1)
      assert.doesNotMatch(commands.join('\n'), /undefined|object|NaN/)
    }
    const { stdout } = await looked(t, 'write --strategy lookup-mix --rate 20k --keys 500 --dry-run')
    assert.match(stdout, /20,000 operations\/s at an even rate/)
    assert.match(stdout, /50 clients over 500 keys/)
    assert.match(stdout, /SET key:1 <128 B>\n +GET key:1$/m)
  })

  test('of a reader', async (t) => {
    const { code, stdout, stderr } = await looked(t, 'read --limit 100 --read-with mget --dry-run')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /ZREVRANGEBYSCORE latest-ids \+inf \d+ .*LIMIT 0 100$/m)
    assert.match(stdout, /then MGET of each value/)
  })

  test('what would be refused is named, with exit code 3', async (t) => {
    await server.redis.set('of-somebody', 'x')
    t.after(() => server.redis.del('of-somebody'))
    const { code, stdout } = await looked(t, 'write -q 50 --dry-run')
    assert.equal(code, 3)
    assert.match(stdout, /^ {2}REFUSED +\S+ has keys that no plan of Millrace covers/m)
    const doctor = await runCommand(t, `doctor --port ${server.port}`, { env: at(server), out: false })
    assert.equal(doctor.code, 3)
    assert.match(doctor.stdout, /^ {2}a run +would be refused$/m)
    assert.doesNotMatch(doctor.stdout, new RegExp(server.password))
  })

  test('doctor says that a run would start', async (t) => {
    const ended = await looked(t, 'doctor -q 500')
    assert.equal(ended.code, 0, ended.stderr)
    assert.match(ended.stdout, /^ {2}a run +would start with these options$/m)
  })
})

test('of a local server: it is started for the look and ended', async (t) => {
  const TMPDIR = ownFolder(t, 'tmp')
  const { code, stdout, stderr } = await startProgram(t, 'producer.js', '-q 500 --dry-run', {
    env: { TMPDIR },
  }).ended
  assert.equal(code, 0, stderr)
  assert.match(stdout, /found 127\.0\.0\.1:\d+: a master/)
  assert.deepEqual(readdirSync(TMPDIR), [], 'the folder of the server is gone')
})
