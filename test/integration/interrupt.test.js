// How a run is stopped by hand, and what happens when its servers go away.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { processStart } from '../../lib/base/lock.js'
import { ownRuntime, startCommand } from '../helpers/command-here.js'
import {
  assertNoneLost,
  at,
  laterSecond,
  linesOf,
  oddIn,
  outcomesOf,
  startProducer,
  sumOf,
  until,
} from '../helpers/programs.js'
import { cli, startCluster, startServer } from '../helpers/servers.js'

/** @param {string} stderr */
const assertNoStack = (stderr) => assert.ok(!/^ {4}at |internal error of Millrace/m.test(stderr), stderr)

/** A second in which items are offered and none is answered. @param {Pick<ReturnType<typeof startCommand>, 'intervals'>} running */
const itemsWait = (running) => laterSecond(running, ({ items }) => items.offered > 0 && items.acked === 0)

describe('a run by hand', { concurrency: true }, () => {
  describe('interrupted', { concurrency: 6 }, () => {
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
      test(`${signal}: drains, writes the result, and ends with 130`, async (t) => {
        const running = startProducer(t, '-q 500 -c 4')
        await until('a second has passed', () => running.intervals().length > 0)
        running.kill(signal)
        const { code, document, folder, stdout, stderr } = await running.ended
        assert.equal(code, 130, stderr)
        assert.equal(document.interrupted, true)
        const { items, latency_us: latency } = document
        assertNoneLost(items)
        // A server that stands still on a busy machine is not waited for.
        const isStill = (/** @type {any} */ { nodes }) =>
          nodes.some((/** @type {any} */ { gap }) => gap === 'silent')
        const wasStill = latency.intended.max > 1e6 || linesOf(join(folder, 'intervals.ndjson')).some(isStill)
        assert.ok(items.unsettled === 0 || wasStill, JSON.stringify(items))
        assert.deepEqual(
          oddIn(document).filter((/** @type {any} */ { code }) => code !== 'unsettled'),
          [],
        )
        assert.ok(document.warnings.some((/** @type {any} */ warning) => warning.code === 'interrupted'))
        assert.match(stdout, /stopped by hand/)
      })

    test('the rate is that of its plan: the last tick counts until the next one would have been due', async (t) => {
      const running = startProducer(t, '-q 2000 -c 1 -p 1s --warm-up 1s')
      await until('two seconds were measured', () => running.intervals().length > 2)
      running.kill('SIGINT')
      const { document } = await running.ended
      const { offered, acked } = document.items
      // A busy machine may be late for it.
      const lateS = Math.max(0, document.latency_us.intended.max / 1e6 - 1)
      const off = Math.abs(document.measured_s * 2000 - (offered - 2000))
      assert.ok(off < 200 + 2000 * lateS, `${off} off, ${lateS} s: ${JSON.stringify(document.items)}`)
      if (acked === offered)
        assert.ok(Math.abs(document.rate.achieved - 2000) < 200, `${document.rate.achieved}`)
    })

    for (const driver of ['socket', 'ioredis'])
      test(`${driver}: a second one does not wait for answers, and there is a result`, async (t) => {
        const server = await startServer(t)
        const running = startCommand(t, `write -q 200 -p 200 --driver ${driver}`, {
          env: at(server),
          pages: true,
        })
        await until('a second has passed', () => running.intervals().length > 0)
        process.kill(server.pid, 'SIGSTOP')
        await itemsWait(running)
        running.kill('SIGINT')
        await new Promise((resolve) => setImmediate(resolve))
        running.kill('SIGINT')
        const { code, document, folder, stderr } = await running.ended
        assert.equal(code, 130, stderr)
        assertNoStack(stderr)
        assert.match(readFileSync(`/proc/${server.pid}/stat`, 'utf8'), /\) T /, 'the server is still silent')
        assert.ok(document.items.unsettled > 0)
        assert.ok(!existsSync(join(folder, 'report.html')), 'after one signal it draws its page')
        assert.equal(outcomesOf(document.items), document.items.offered)
        assert.equal(document.valid, false)
      })

    test('while the servers are still starting', async (t) => {
      const running = startProducer(t, '-q 100 --cluster')
      const children = await until('servers are being started', () =>
        readFileSync(`/proc/${running.pid}/task/${running.pid}/children`, 'utf8').trim(),
      )
      running.kill('SIGINT')
      const { code, stderr } = await running.ended
      assert.equal(code, 130, stderr)
      assertNoStack(stderr)
      await until('no server is left', () =>
        children.split(' ').every((pid) => processStart(Number(pid)) === undefined),
      )
    })

    test('while a server says nothing', async (t) => {
      const server = await startServer(t)
      process.kill(server.pid, 'SIGSTOP')
      const running = startCommand(t, 'write -q 100', server)
      await until('its folder is there', () => existsSync(running.out) && readdirSync(running.out).length > 0)
      running.kill('SIGINT')
      const { code, stderr, folder } = await running.ended
      assert.equal(code, 130, stderr)
      assert.equal(stderr, 'interrupted before anything was sent\n')
      assert.equal(folder, '')
    })

    test('while a master of a cluster does not answer, whose address is printed', async (t) => {
      const cluster = await startCluster(t, { shards: 3, replicas: 0 })
      const [seed, frozen] = cluster.nodes.map((node) => ({ ...node, ...cluster.access }))
      const env = { ...at(seed), REDIS_CLUSTER: 'true' }
      const asked = async () =>
        Number(/slots:calls=(\d+)/.exec(await cli(seed, 'INFO', 'commandstats'))?.[1] ?? 0)
      const before = await asked()
      process.kill(frozen.pid, 'SIGSTOP')
      const stopped = startCommand(t, 'write -q 100', { env })
      await until('it has the map', async () => (await asked()) > before)
      stopped.kill('SIGINT')
      const patient = startCommand(t, 'write -q 100', { env })
      const { code, stderr, folder } = await stopped.ended
      assert.equal(code, 130, stderr)
      assert.equal(stderr, 'interrupted before anything was sent\n')
      assert.equal(folder, '')
      const refused = await patient.ended
      assert.equal(refused.code, 3, refused.stderr)
      assert.match(
        refused.stderr,
        new RegExp(`1 of 3 masters does not answer.*127\\.0\\.0\\.1:${frozen.port}: no answer.*\\n$`),
      )
      assert.equal(refused.folder, '')
      for (const node of [seed, { ...cluster.nodes[2], ...cluster.access }])
        assert.equal(await cli(node, 'DBSIZE'), '0')
    })

    for (const driver of ['socket', 'ioredis'])
      test(`${driver}: while commands are encoded, and nothing of it is left in the target`, async (t) => {
        const server = await startServer(t)
        // It interrupts itself: a test that is late would find it writing.
        const { code, stderr, folder } = await startProducer(t, `-q 3000000 -c 1500 --driver ${driver}`, {
          env: {
            ...at(server),
            TEST_INTERRUPT_AT: 'the only writer',
            NODE_OPTIONS: `--import ${new URL('../helpers/interrupt-at.js', import.meta.url)}`,
          },
        }).ended
        assert.equal(code, 130, stderr)
        assert.match(stderr, /\ninterrupted before anything was sent\n$/)
        assertNoStack(stderr)
        assert.equal(folder, '')
        assert.equal(await cli(server, '--scan'), '')
      })

    for (const [line, printed, words] of /** @type {[string, RegExp, string][]} */ ([
      [
        'calibrate --strategy list --cells 6+1 --seconds 1 --time 1s --items 20k --value-size 1kB',
        /cell 1 of 6/,
        'interrupted after 1 cell: no model has all of its cells, so nothing is kept',
      ],
      [
        'choose list stream --rate 100 --time 60s',
        /round 1: /,
        'interrupted after 1 run (round 1): an unfinished choice has no answer, so nothing is kept',
      ],
    ]))
      test(`${line.split(' ')[0]}: what was done is reported, and no folder is left`, async (t) => {
        const running = startCommand(t, line)
        await running.says(printed)
        running.kill('SIGINT')
        const { code, stderr, folder } = await running.ended
        assert.equal(code, 130, stderr)
        assert.ok(stderr.endsWith(`\n${words}\n`), stderr)
        assertNoStack(stderr)
        assert.equal(folder, '')
      })

    test('while it waits for a lease', async (t) => {
      const server = await startServer(t)
      const first = startCommand(t, 'write -q 100', server)
      await first.says(/the only writer/)
      const second = startCommand(t, 'write -q 100', server)
      await second.says(/waiting 30 s for a lease/)
      second.kill('SIGINT')
      const { code, stderr, folder } = await second.ended
      assert.equal(code, 130, stderr)
      assertNoStack(stderr)
      assert.equal(folder, '')
      first.kill('SIGINT')
      assert.equal((await first.ended).code, 130)
      assert.equal(await cli(server, '--scan', '--pattern', 'millrace:lease:*'), '')
    })
  })

  describe('a consumer is interrupted', { concurrency: true }, () => {
    /** Before a server has had its time to answer, for then the code would be 3. @param {ReturnType<typeof startCommand>} running */
    const assertPrompt = async (running) => {
      running.kill('SIGINT')
      const { code, stderr, folder } = await running.ended
      assert.equal(code, 130, stderr)
      assertNoStack(stderr)
      assert.equal(folder, '')
    }

    test('while a server says nothing', async (t) => {
      const server = await startServer(t)
      process.kill(server.pid, 'SIGSTOP')
      const running = startCommand(t, 'read', server)
      await until('its folder is there', () => existsSync(running.out) && readdirSync(running.out).length > 0)
      await assertPrompt(running)
    })

    for (const driver of ['socket', 'ioredis'])
      test(`${driver}: while the replica that it reads from says nothing`, async (t) => {
        const cluster = await startCluster(t, { shards: 1, replicas: 1 })
        const [master, replica] = cluster.nodes
        process.kill(replica.pid, 'SIGSTOP')
        const env = { ...at({ ...master, ...cluster.access }), REDIS_CLUSTER: 'true' }
        const running = startCommand(t, `read --driver ${driver}`, { env })
        await running.says(/found no plan/)
        await assertPrompt(running)
      })

    test('while it waits for a lease', async (t) => {
      const server = await startServer(t)
      const first = startCommand(t, 'read -a auto', server)
      await first.says(/the only reader: 1 consumer/)
      const second = startCommand(t, 'read -a auto', server)
      await second.says(/all readers are in use/)
      await assertPrompt(second)
      first.kill('SIGINT')
      assert.equal((await first.ended).code, 130)
    })
  })

  describe('servers that go away', { concurrency: true }, () => {
    test('attached runs outlive the one that owns the servers, and end with a result', async (t) => {
      const owner = startProducer(t, '-q 100 --prefix a: --no-report', { runtimeDir: ownRuntime(t) })
      await owner.says(/the only writer/)
      const others = ['socket', 'ioredis'].map((driver) =>
        startCommand(t, `write -q 100 -p 200 --prefix ${driver}: --driver ${driver}`),
      )
      for (const other of others) {
        await other.says(/attached to the local server/)
        await until('it writes', () => sumOf(other.intervals(), 'items.acked') > 0)
      }
      owner.kill('SIGINT')
      assert.equal((await owner.ended).code, 130)
      for (const other of others) {
        await itemsWait(other)
        other.kill('SIGINT')
        const { code, document, stderr } = await other.ended
        assertNoStack(stderr)
        assert.equal(code, 130, stderr)
        assert.equal(document.valid, false)
        assert.equal(document.target.origin, 'attached')
        assert.equal(outcomesOf(document.items), document.items.offered)
        assert.ok(document.items.offered > document.items.acked)
        assert.ok(document.events.length > 0)
      }
    })

    for (const driver of ['socket', 'ioredis'])
      test(`${driver}: a server that is killed and comes back costs nothing that is not told`, async (t) => {
        const server = await startServer(t)
        const running = startCommand(t, `write -q 100 -p 200 --driver ${driver}`, server)
        await until('it writes', () => running.intervals().some(({ items }) => items.acked > 0))
        await cli(server, 'CLIENT', 'KILL', 'TYPE', 'normal')
        await laterSecond(running, ({ items }) => items.acked > 0)
        running.kill('SIGINT')
        const { code, document, stderr } = await running.ended
        assert.equal(code, 130, stderr)
        assertNoStack(stderr)
        assert.equal(outcomesOf(document.items), document.items.offered)
        // SETEX and ZADD may be repeated.
        assertNoneLost(document.items)
        if (driver === 'socket') assert.ok(document.events.length > 0)
      })

    test('a log that was closed ends no run', async (t) => {
      const server = await startServer(t)
      const running = startProducer(t, '-q 100 -p 200 --no-report', server)
      await until('it writes', () => running.intervals().some(({ items }) => items.acked > 0))
      running.closeLog()
      // Lost connections are reported in the log.
      await cli(server, 'CLIENT', 'KILL', 'TYPE', 'normal')
      await laterSecond(running, () => true)
      running.kill('SIGINT')
      const { document } = await running.ended
      assert.ok(document, 'there is a result')
      assert.ok(document.events.length > 0)
      assertNoneLost(document.items)
    })
  })
})
