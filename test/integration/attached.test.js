// Embedded servers that more than one program uses: who may attach, with which options, and what is left of them.
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { describe, test } from 'node:test'
import { controlConnections } from '../../lib/servers/control.js'
import { asTargetError } from '../../lib/servers/reason.js'
import { ownRuntime, runCommand, startCommand } from '../helpers/command-here.js'
import { assertDone } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

/** @import { Scope } from '../helpers/servers.js' */

/** A folder in which programs find each other's servers, of this process while the test lasts. @param {Scope} t */
const placeOf = (t) => {
  const runtimeDir = ownRuntime(t)
  return {
    runtimeDir,
    /** @param {string} line */
    start: (line) => startCommand(t, line),
    /** @param {string} line @param {NodeJS.ProcessEnv} [env] */
    run: (line, env) => runCommand(t, line, { env }),
    /** @param {string} line */
    verify: (line) => runCommand(t, `verify ${line}`, { out: false }),
  }
}

/** The first program there, at work. @param {Scope} t @param {string} line */
const owner = async (t, line) => {
  const place = placeOf(t)
  const producer = place.start(`write ${line}`)
  await producer.says(/the only writer/)
  return { ...place, producer }
}

const once = 'write -q 300 -p 200 --intervals 2 --once --ttl 10m'

describe('options of servers to be started, typed where some run', () => {
  test('of a cluster: what they contradict is told', async (t) => {
    const { run } = await owner(t, '--cluster --shards 2 --replicas 0 -q 100')
    const second = (/** @type {string} */ line) =>
      run(`write -q 50 --prefix b: --intervals 1 --log error --cluster ${line}`)
    const runs =
      'a local cluster of --shards 2 --replicas 0 runs here already, on \\S+, and would be attached to'
    for (const [line, name] of [
      ['--shards 3', '--shards'],
      ['--shards 2 --replicas 1', '--replicas'],
    ]) {
      const { code, stderr, folder } = await second(line)
      assert.deepEqual([code, folder], [2, ''], stderr)
      const typed = `${name} \\d: ${runs}; end its writer, or leave out ${name}`
      assert.match(stderr, new RegExp(`^${typed}\\n$`))
    }
    const same = await second('--shards 2 --replicas 0')
    assert.equal(same.document?.target.origin, 'attached', same.stderr)
    // A variable is of whichever run starts some.
    const line = 'write -q 50 --prefix c: --intervals 1 --cluster'
    const runsElsewhere = await run(line, { MILLRACE_SHARDS: '1' })
    assert.equal(runsElsewhere.document?.target.origin, 'attached', runsElsewhere.stderr)
  })

  test('another program than the one that runs is not promised', async (t) => {
    const { run } = await owner(t, '-q 100')
    const line = 'write -q 50 --prefix b: --intervals 1 --log error --server-bin /nonexistent'
    const { code, stderr } = await run(line)
    assert.equal(code, 2)
    assert.match(
      stderr,
      /^--server-bin \/nonexistent: a local server runs here already, on .*--server-bin\n$/,
    )
    const limited = await run('write cache-aside -q 50 --prefix b: --duration 1s --maxmemory 10MB')
    assert.equal(limited.code, 2)
    assert.match(
      limited.stderr,
      /^--maxmemory 10MB: a local server runs here already, on .*leave out --maxmemory\n$/,
    )
  })
})

describe('the same command in a second terminal', () => {
  test('is refused at once, and told how two share the items', async (t) => {
    const { run } = await owner(t, '-q 100')
    const { code, stderr, folder } = await run('write -q 100')
    assert.deepEqual([code, folder], [3, ''], stderr)
    const holder = `writer 1: ${hostname()} pid ${process.pid} since \\S+`
    assert.match(
      stderr,
      new RegExp(
        `${holder}\\. Share it between two terminals, -t 2 -a 1 in one and -t 2 -a 2 in the other, or take another --prefix`,
      ),
    )
    assert.doesNotMatch(stderr, /waiting/)
  })

  test('as advised they share them', async (t) => {
    const { start, run } = placeOf(t)
    await start('write -q 101 -t 2 -a 1').says(/writer 1 of 2/)
    const { document, stderr } = await run('write -q 101 -t 2 -a 2 --intervals 2')
    assert.deepEqual(document?.plan.agents, [{ agent: 2, first: 51, count: 51 }], stderr)
  })
})

describe('servers that end with their writer', () => {
  test('before the first write of another: a line that names them', async (t) => {
    const { start, producer } = await owner(t, '-q 100 --prefix b:')
    const second = start('write -q 100 --idle-cost always')
    await second.says(/measuring the CPU of the idle servers/)
    producer.kill('SIGINT')
    const { code, stderr } = await second.ended
    assert.equal(code, 3, stderr)
    assert.match(stderr, /^127\.0\.0\.1:\d+: the server is gone \(connection lost\)\n$/m)
  })

  test('a question to a server that is gone, or never was there', async (t) => {
    const { host, port, password, stop } = await startServer(t)
    const control = controlConnections({ password, tls: null })
    t.after(() => control.close())
    const client = control.clientOf({ host, port })
    await client.ping()
    await stop()
    const said = (/** @type {unknown} */ error) => /** @type {Error} */ (asTargetError(error)).message
    assert.equal(await client.ping().catch(said), `${host}:${port}: the server is gone (connection lost)`)
    assert.equal(
      await control.clientOf({ host, port: 1 }).ping().catch(said),
      `${host}:1: nothing answers there; correct the address, or start the server (no connection)`,
    )
  })
})

describe('verify', () => {
  test("does not take another producer's servers for those of a run that had its own", async (t) => {
    const { folder } = await placeOf(t).run(once)
    const { verify } = await owner(t, '-q 100 --prefix b:')
    for (const line of [folder, `${folder} --cluster`]) {
      const { code, stdout, stderr } = await verify(line)
      assert.deepEqual([code, stdout], [3, ''])
      assert.match(stderr, /^\S+ wrote to local servers, which ended with their producer; .*--host.*\n$/)
    }
  })

  test('looks where a run was attached, for as long as those servers are there', async (t) => {
    const { start, run, verify, producer } = await owner(t, '-q 100 --prefix b:')
    const cluster = start('write --cluster --shards 1 --replicas 0 -q 100 --prefix b:')
    await cluster.says(/the only writer/)
    const { folder, stderr } = await run(once)
    for (const line of [folder, `--json ${folder}`]) {
      const found = await verify(line)
      assert.deepEqual([found.code, found.stderr], [0, ''], stderr)
      assert.match(found.stdout, /600 items acknowledged, 600 there byte by byte|"present": 600/)
    }
    producer.kill('SIGINT')
    await producer.ended
    await start('write -q 100 --prefix b:').says(/the only writer/)
    const gone = await verify(folder)
    assert.equal(gone.code, 3, gone.stdout)
    assert.match(gone.stderr, /which ended with their producer/)
  })
})

test('the server of a queue stays for its workers, and the producer ends with them', async (t) => {
  const { start, run } = placeOf(t)
  const producer = start('write --strategy queue-list -q 12 --duration 10s')
  await producer.says(/jobs a second|jobs\/s|the only writer/)
  // More work than the producer's seconds have room for.
  const workers = await run('read --strategy queue-list --workers 2 --work sleep:190ms --with drain')
  assert.ok(workers.document, workers.stderr)
  const { produced, done, lost } = workers.document.jobs.account
  assert.deepEqual([produced, done, lost], [120, 120, 0], workers.stderr)
  // On a busy machine sleep lasts longer than was asked for.
  const late = workers.document.warnings.filter((/** @type {any} */ one) => one.code !== 'work')
  assertDone({ ...workers, document: { warnings: late } })
  const ended = await producer.ended
  assertDone(ended)
  const { stderr } = ended
  assert.match(stderr, /workers take from the queue: its local server stays until they have ended/)
})
