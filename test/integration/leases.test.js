// Who is which agent: the module with short leases, and the same command on two boxes.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { InterruptedError, TargetError } from '../../lib/base/errors.js'
import { isLease } from '../../lib/plan/ownership.js'
import { leaseKey, leases } from '../../lib/servers/leases.js'
import { runCommand } from '../helpers/command-here.js'
import { startHere } from '../helpers/here.js'
import { startHostileServer } from '../helpers/hostile-server.js'
import { assertDone, at, codesIn, oddIn, startProducer, until } from '../helpers/programs.js'
import { cli, startServer, suiteServer } from '../helpers/servers.js'

/** @import { TestServer } from '../helpers/servers.js' */
/** @import { TestContext } from 'node:test' */

// Longer than a machine stops for; where a lease is to run out or be renewed, shorter.
const longMs = 9000
const shortMs = 600

describe('leases', { concurrency: 8 }, () => {
  const server = suiteServer()

  /** @param {TestContext} t @param {{ prefix: string, totalAgents?: number, readers?: string, signal?: AbortSignal, here?: boolean, lastMs?: number, clock?: () => number, at?: TestServer }} change */
  const office = (
    t,
    {
      prefix,
      totalAgents = 2,
      readers,
      signal,
      here,
      lastMs = longMs,
      clock = () => performance.now(),
      at: { host, port, password } = server,
    },
  ) => {
    const group = { prefix, totalAgents, readers }
    const said = /** @type {string[]} */ ([])
    const lost = /** @type {string[]} */ ([])
    const topology = { masters: [`${host}:${port}`], owners: null }
    const one = leases({
      ...{ target: { kind: 'single', topology, access: { password } }, group, run: `secret-name-${prefix}` },
      say: (line) => said.push(line),
      onLost: (line) => lost.push(line),
      ...{ clock, signal, here, lastMs },
    })
    t.after(one.release)
    return { ...one, key: (/** @type {number} */ agent) => leaseKey(group, agent), said, lost }
  }

  test('one whose answer did not come in time is given back all the same', async (t) => {
    const slow = await startServer(t)
    const one = office(t, { prefix: 'slow:', at: slow })
    assert.equal(await one.otherWriters(), 0)
    process.kill(slow.pid, 'SIGSTOP')
    const claimed = assert.rejects(one.claim([1, 2]))
    await new Promise((resolve) => setImmediate(resolve)) // the command has gone out
    await one.release()
    process.kill(slow.pid, 'SIGCONT')
    await claimed
    assert.equal(await cli(slow, 'EXISTS', one.key(1), one.key(2)), '0')
    assert.match(await slow.redis.info('commandstats'), /cmdstat_set:calls=1,/)
  })

  test('each asker is the next free agent, and gives it back', async (t) => {
    const [first, second] = [office(t, { prefix: 'next:' }), office(t, { prefix: 'next:' })]
    assert.deepEqual(await first.claim('next'), [1])
    assert.deepEqual(await second.claim('next'), [2])
    assert.equal(await first.otherWriters(), 0, 'the other one has not begun to write')
    await second.begin()
    assert.equal(await first.otherWriters(), 1)
    await first.release()
    assert.equal(await cli(server, 'GET', first.key(1)), '')
    const third = office(t, { prefix: 'next:' })
    assert.deepEqual(await third.claim('next'), [1])
  })

  test('leases are of a prefix; consumers have their own; the name of the run is not in the key', async (t) => {
    const here = office(t, { prefix: 'load:' })
    assert.equal(here.key(1), 'load:millrace:lease:1')
    const more = office(t, { prefix: 'load:', totalAgents: 3 })
    const readers = office(t, { prefix: 'load:', readers: 'sorted-set' })
    assert.deepEqual(await here.claim('next'), [1])
    assert.deepEqual(await more.claim('next'), [2])
    assert.deepEqual(await readers.claim('next'), [1])
    for (const key of [here.key(1), readers.key(1)]) assert.ok(isLease(key), key)
  })

  test('a lease is renewed for as long as its holder lives', async (t) => {
    const one = office(t, { prefix: 'renew:', lastMs: shortMs })
    await one.claim([1])
    const fromMs = performance.now()
    await until('it would have run out', () => performance.now() - fromMs > 1.5 * shortMs)
    await until('it is held', async () => Number(await cli(server, 'PTTL', one.key(1))) > 0)
    assert.deepEqual(one.lost, [])
  })

  test('a server that paused for longer than a lease lasts takes none from its holder', async (t) => {
    const own = await startServer(t)
    const one = office(t, { prefix: 'paused:', at: own, lastMs: shortMs })
    await one.claim([1])
    process.kill(own.pid, 'SIGSTOP')
    const fromMs = performance.now()
    // Long enough for two renewals to wait at once.
    await until('it has run out', () => performance.now() - fromMs > 2 * shortMs)
    process.kill(own.pid, 'SIGCONT')
    await until('it is held again', async () => Number(await cli(own, 'PTTL', one.key(1))) > 0)
    const againMs = performance.now()
    await until('it would have run out again', () => performance.now() - againMs > 1.5 * shortMs)
    await until('it is still held', async () => Number(await cli(own, 'PTTL', one.key(1))) > 0)
    assert.deepEqual(one.lost, [])
  })

  test('all taken: waits one lease, then names the holders', async (t) => {
    const holder = office(t, { prefix: 'taken:' })
    await holder.claim([1, 2])
    let nowMs = 0
    const late = office(t, { prefix: 'taken:', clock: () => nowMs })
    const refused = assert.rejects(late.claim('next'), (error) => {
      assert.ok(error instanceof TargetError)
      assert.equal(error.exitCode, 3)
      const who = `pid ${process.pid} since [^;]+`
      assert.match(error.message, new RegExp(`writer 1: .+ ${who}; writer 2: .+ ${who}\\. Raise -t`))
      return true
    })
    await until('it waits', () => late.said.length > 0)
    // As if a lease had run out, but for those of the holder, who renews them.
    nowMs = 2 * longMs
    await refused
    assert.equal(late.said.length, 1)
    assert.match(late.said[0], /waiting 9 s for a lease to run out/)
  })

  test('where all are of this host, whoever asks for what one at work has is refused at once', async (t) => {
    const ours = { prefix: 'here:', totalAgents: 5, here: true }
    const [one, other] = [office(t, ours), office(t, ours)]
    await one.claim([1, 2, 3])
    await assert.rejects(other.claim([3, 4, 5]), (error) => {
      assert.ok(error instanceof TargetError)
      assert.match(error.message, /: writer 3: \S+ pid \d+ since [^;]+\. Share it .*, -t 5 -a 1-2 in one and/)
      assert.match(error.message, / in one and -t 5 -a 3-5 in the other, or take another --prefix$/)
      return true
    })
    assert.deepEqual(other.said, [], 'it did not wait')
    assert.deepEqual(await other.claim('next'), [4])
    assert.deepEqual(await office(t, ours).claim([5]), [5])
    await assert.rejects(office(t, ours).claim('next'), /writer 1: .*; writer 5: [^;]+\. Share it/)
  })

  test('a lease that nobody renews runs out, and the one who waits has it', async (t) => {
    const next = office(t, { prefix: 'dead:', lastMs: shortMs })
    await cli(server, 'SET', next.key(1), 'not even JSON', 'PX', '300')
    assert.deepEqual(await next.claim([1]), [1])
  })

  test('one who stood still for as long as a lease lasts tries once more before it gives up', async (t) => {
    let nowMs = 0
    const clock = () => {
      setImmediate(() => {
        nowMs = 2 * longMs
      })
      return nowMs
    }
    const next = office(t, { prefix: 'still:', clock })
    await cli(server, 'SET', next.key(1), 'somebody', 'PX', '450')
    assert.deepEqual(await next.claim([1]), [1])
  })

  test('one that expires between two answers is claimed again', async (t) => {
    let sets = 0
    const port = await startHostileServer(t, ([name]) =>
      name === 'SET' && ++sets === 1 ? '$-1\r\n' : undefined,
    )
    const one = office(t, { prefix: 'between:', at: { ...server, port } })
    assert.deepEqual(await one.claim('next'), [1])
    assert.equal(sets, 2)
  })

  test('several agents are claimed all or none', async (t) => {
    const second = office(t, { prefix: 'some:' })
    await second.claim([2])
    const stop = new AbortController()
    const both = office(t, { prefix: 'some:', signal: stop.signal })
    const claimed = both.claim([1, 2])
    await until('it waits', () => both.said.length > 0)
    await until('agent 1 is free meanwhile', async () => (await cli(server, 'EXISTS', both.key(1))) === '0')
    await second.release()
    assert.deepEqual(await claimed, [1, 2])
    const third = office(t, { prefix: 'some:', signal: stop.signal })
    const waiting = assert.rejects(third.claim('next'), InterruptedError)
    stop.abort()
    await waiting
  })

  test('one that was stolen is told once, and left to the thief', async (t) => {
    const one = office(t, { prefix: 'thief:', lastMs: shortMs })
    await one.claim([1])
    await cli(server, 'DEL', one.key(1))
    await cli(server, 'SET', one.key(1), 'thief')
    await until('the lease is lost', () => one.lost.length > 0)
    assert.match(one.lost[0], /^the lease of writer 1 was lost to another process/)
    await one.release()
    assert.equal(await cli(server, 'GET', one.key(1)), 'thief')
    assert.equal(one.lost.length, 1)
  })

  test('one that vanished is claimed again', async (t) => {
    const one = office(t, { prefix: 'gone:', lastMs: shortMs })
    await one.claim([1])
    await cli(server, 'DEL', one.key(1))
    await until('it is back', async () => (await cli(server, 'EXISTS', one.key(1))) === '1')
    assert.deepEqual(one.lost, [])
  })

  test('the same command on several boxes: they become agents 1 and 2, and store everything together', async (t) => {
    const server = await startServer(t)
    const env = at(server)
    const boxes = [
      startHere(t, 'write', '-q 101 -t 2 -c 5', { env }),
      startHere(t, 'write', '-q 101 -t 2 -c 5', { env }),
    ]
    for (const box of boxes) await until('it writes', () => box.intervals().length > 1)
    await until('all is there', async () => (await server.redis.zcard('latest-ids')) === 101)
    for (const box of boxes) box.kill('SIGINT')
    const ended = await Promise.all(boxes.map((box) => box.ended))
    const agents = ended.map(({ document }) => document.plan.agents[0]).sort((a, b) => a.agent - b.agent)
    assert.deepEqual(agents, [
      { agent: 1, first: 1, count: 50 },
      { agent: 2, first: 51, count: 51 },
    ])
    for (const { code, document, stderr } of ended) {
      assert.equal(code, 130, stderr)
      assert.ok(document.server.share > 0 && document.server.share < 1, `share ${document.server.share}`)
      assert.ok(document.warnings.some((/** @type {any} */ warning) => warning.code === 'share'))
      assert.match(stderr, /writer [12] of 2: 5[01] of 101 items\/s; -a all for everything/)
    }
    assert.equal(await cli(server, '--scan', '--pattern', 'millrace:lease:*'), '')
  })

  test('one that is alone is warned before its first item, with both ways out; told which it is, it is not', async (t) => {
    const server = await startServer(t)
    const warned =
      /only 1 of 8 writers is here, so the result will be PARTIAL: .* -a all, or start the same command on other boxes/
    const line = 'write -q 80 -t 8 --duration 3s'
    const { code, document, stderr } = await runCommand(t, line, server)
    const lines = stderr
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text))
    const { time } = lines.find(({ msg }) => warned.test(msg)) ?? assert.fail(stderr)
    assert.ok(time <= Date.parse(document.started), `said at ${time}, and begun ${document.started}`)
    assert.deepEqual(codesIn({ warnings: oddIn(document) }), ['absent-writers'])
    // Not valid: this machine was too busy besides.
    const reasons = document.warnings.filter((/** @type {any} */ { invalidates }) => invalidates)
    assert.deepEqual([code, document.state], [4, reasons.length === 1 ? 'partial' : 'not-valid'])
    assert.doesNotMatch((await runCommand(t, 'write -q 80 -t 8 -a 1 --duration 1s', server)).stderr, warned)
  })

  test('kill -9 frees an agent after its lease', async (t) => {
    const server = await startServer(t)
    const env = at(server)
    const first = startProducer(t, '-q 100 -t 2 -a 1-2', { env })
    await first.says(/all of 2 writers/)
    const life = () => server.redis.pttl('millrace:lease:1')
    await until('a lease of 30 s', async () => (await life()) > 20_000)
    first.kill('SIGKILL')
    await first.ended
    const next = startHere(t, 'write', '-q 100 -t 2 -a all -p 200 --intervals 2', { env })
    await next.says(/all writers are in use; waiting 30 s for a lease to run out/)
    // As if the 30 s had passed.
    for (const agent of [1, 2]) await server.redis.pexpire(`millrace:lease:${agent}`, 100)
    assertDone(await next.ended)
  })

  test('a stolen lease is a warning in the result, not a crash', async (t) => {
    const server = await startServer(t)
    const running = startHere(t, 'write', '-q 100 -p 200', server)
    await running.says(/the only writer/)
    const key = await cli(server, '--scan', '--pattern', 'millrace:lease:*')
    await cli(server, 'SET', key, 'thief')
    await running.says(/the lease of writer \d was lost to another process/)
    running.kill('SIGINT')
    const { code, document } = await running.ended
    assert.equal(code, 130)
    assert.deepEqual(oddIn(document), [])
    assert.ok(document.warnings.some((/** @type {any} */ warning) => warning.code === 'lease'))
    assert.equal(await cli(server, 'GET', key), 'thief')
  })
})
