// Embedded servers that more than one program uses: who may attach, with which options, and what is left of them.
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { describe, test } from 'node:test'
import { assertDone, ownFolder, runProducer, startProducer, startProgram } from '../helpers/programs.js'

/** @import { Scope } from '../helpers/servers.js' */

/** The first of them, at work. @param {Scope} t @param {string} line */
const owner = async (t, line) => {
  const runtimeDir = ownFolder(t, 'runtime')
  const producer = startProducer(t, line, { runtimeDir })
  await producer.says(/the only writer/)
  return { runtimeDir, producer }
}

const once = '-q 300 -p 200 --intervals 2 --once --ttl 10m'

describe('options of servers to be started, typed where some run', { concurrency: 3 }, () => {
  test('of a cluster: what they contradict is told', async (t) => {
    const { runtimeDir } = await owner(t, '--cluster --shards 2 --replicas 0 -q 100')
    const second = (/** @type {string} */ line) =>
      runProducer(t, `-q 50 --prefix b: --intervals 1 --log-level error --cluster ${line}`, { runtimeDir })
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
    const runsElsewhere = await runProducer(t, '-q 50 --prefix c: --intervals 1 --cluster', {
      runtimeDir,
      env: { MILLRACE_SHARDS: '1' },
    })
    assert.equal(runsElsewhere.document?.target.origin, 'attached', runsElsewhere.stderr)
  })

  test('another program than the one that runs is not promised', async (t) => {
    const { runtimeDir } = await owner(t, '-q 100')
    const line = '-q 50 --prefix b: --intervals 1 --log-level error --server-bin /nonexistent'
    const { code, stderr } = await runProducer(t, line, { runtimeDir })
    assert.equal(code, 2)
    assert.match(
      stderr,
      /^--server-bin \/nonexistent: a local server runs here already, on .*--server-bin\n$/,
    )
  })
})

describe('the same command in a second terminal', { concurrency: 3 }, () => {
  test('is refused at once, and told how two share the items', async (t) => {
    const { runtimeDir, producer } = await owner(t, '-q 100')
    const { code, stderr, folder } = await runProducer(t, '-q 100', { runtimeDir })
    assert.deepEqual([code, folder], [3, ''], stderr)
    const holder = `writer 1: ${hostname()} pid ${producer.pid} since \\S+`
    assert.match(
      stderr,
      new RegExp(
        `${holder}\\. Share it between two terminals, -t 2 -a 1 in one and -t 2 -a 2 in the other, or take another --prefix`,
      ),
    )
    assert.doesNotMatch(stderr, /waiting/)
  })

  test('as advised they share them', async (t) => {
    const runtimeDir = ownFolder(t, 'runtime')
    const first = startProducer(t, '-q 101 -t 2 -a 1', { runtimeDir })
    await first.says(/writer 1 of 2/)
    const { document, stderr } = await runProducer(t, '-q 101 -t 2 -a 2 --intervals 2', { runtimeDir })
    assert.deepEqual(document?.plan.agents, [{ agent: 2, first: 51, count: 51 }], stderr)
  })

  test('after a kill -9 of the one before it waits until the lease has run out', async (t) => {
    const { runtimeDir } = await owner(t, '-q 100')
    const killed = startProducer(t, '-q 50 --prefix b:', { runtimeDir })
    await killed.says(/the only writer/)
    killed.kill('SIGKILL')
    await killed.ended
    const next = startProducer(t, '-q 50 --prefix b: --intervals 1', { runtimeDir })
    await next.says(/waiting 30 s for a lease to run out/)
    next.kill('SIGINT')
    assert.equal((await next.ended).code, 130)
  })
})

describe('scripts/verify.js', { concurrency: 3 }, () => {
  /** @param {Scope} t @param {string} line @param {string} runtimeDir */
  const verify = (t, line, runtimeDir) =>
    startProgram(t, 'scripts/verify.js', line, { runtimeDir, out: false }).ended

  test("does not take another producer's servers for those of a run that had its own", async (t) => {
    const { folder } = await runProducer(t, once)
    const { runtimeDir } = await owner(t, '-q 100 --prefix b:')
    for (const line of [folder, `${folder} --cluster`]) {
      const { code, stdout, stderr } = await verify(t, line, runtimeDir)
      assert.deepEqual([code, stdout], [3, ''])
      assert.match(stderr, /^\S+ wrote to local servers, which ended with their producer; .*--host.*\n$/)
    }
  })

  test('looks where a run was attached, for as long as those servers are there', async (t) => {
    const { runtimeDir, producer } = await owner(t, '-q 100 --prefix b:')
    const cluster = startProducer(t, '--cluster --shards 1 --replicas 0 -q 100 --prefix b:', { runtimeDir })
    await cluster.says(/the only writer/)
    const { folder, stderr } = await runProducer(t, once, { runtimeDir })
    for (const line of [folder, `--json ${folder}`]) {
      const found = await verify(t, line, runtimeDir)
      assert.deepEqual([found.code, found.stderr], [0, ''], stderr)
      assert.match(found.stdout, /600 items acknowledged, 600 there byte by byte|"present": 600/)
    }
    producer.kill('SIGINT')
    await producer.ended
    const other = startProducer(t, '-q 100 --prefix b:', { runtimeDir })
    await other.says(/the only writer/)
    const gone = await verify(t, folder, runtimeDir)
    assert.equal(gone.code, 3, gone.stdout)
    assert.match(gone.stderr, /which ended with their producer/)
  })
})

test('the server of a queue stays for its workers, and the producer ends with them', async (t) => {
  const runtimeDir = ownFolder(t, 'runtime')
  const producer = startProducer(t, '--strategy queue-list -q 90 --duration 10s', { runtimeDir })
  await producer.says(/jobs a second|jobs\/s|the only writer/)
  // More work than ten seconds have room for.
  const line = '--strategy queue-list --workers 2 --work sleep:24ms --drain'
  const workers = await startProgram(t, 'consumer.js', line, { runtimeDir }).ended
  assert.ok(workers.document, workers.stderr)
  const { produced, done, lost } = workers.document.jobs.account
  assert.deepEqual([produced, done, lost], [900, 900, 0], workers.stderr)
  // On a busy machine sleep lasts longer than was asked for.
  const late = workers.document.warnings.filter((/** @type {any} */ one) => one.code !== 'work')
  assertDone({ ...workers, document: { warnings: late } })
  const ended = await producer.ended
  assertDone(ended)
  const { stderr } = ended
  assert.match(stderr, /workers take from the queue: its local server stays until they have ended/)
})
