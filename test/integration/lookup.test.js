// Lookups as a user starts them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { delayProxy } from '../../lib/servers/delay.js'
import { runCommand } from '../helpers/command-here.js'
import { readHere, startHere, writeHere } from '../helpers/here.js'
import { assertDone, at, outcomesOf, until, warningIn } from '../helpers/programs.js'
import { callsOf, cli, startServer } from '../helpers/servers.js'

const lookup = (/** @type {string} */ strategy) => `--strategy ${strategy} --keys 3000 --value-size 40`

describe('lookups', { concurrency: 4 }, () => {
  test('filled, looked up, counted by the server too, and cleaned up', async (t) => {
    const server = await startServer(t)
    const env = at(server)
    const get = await writeHere(
      t,
      `${lookup('lookup-get')} --fill --connections 8 --pipeline 4 --duration 300ms --warm-up 0 --prefix p:`,
      { env },
    )
    assertDone(get)
    const { items, counts, rate, plan } = get.document
    assert.equal(items.acked, items.offered)
    assert.equal(outcomesOf(items), items.offered)
    assert.deepEqual(counts, { hit: items.acked, miss: 0 })
    assert.equal(rate.nominal, null)
    assert.equal(plan.flow, 'clients')
    // The fill's sample is a hundred GETs more.
    assert.equal(await callsOf(server, 'get'), items.acked + 100)
    // And a lease is two SETs more: when it is taken, and when the writer begins.
    assert.equal(await callsOf(server, 'set'), 3002)
    assert.match(get.stdout, /hit [\d,]+ · miss 0/)
    assert.match(get.stderr, /filled 3,000 keys/)

    // The keys are known: another strategy of the workload goes over them, at an open rate.
    const mix = await writeHere(
      t,
      `${lookup('lookup-mix')} --with ratio=1:1 --rate 500 --connections 8 --duration 1s --prefix p:`,
      { env },
    )
    assertDone(mix)
    assert.equal(mix.document.items.offered, 500)
    assert.equal(mix.document.rate.nominal, 500)

    const missing = await writeHere(t, `${lookup('lookup-get')} --rate 100 --duration 1s --prefix none:`, {
      env,
    })
    assertDone(missing)
    assert.equal(missing.document.counts.hit, 0)

    await runCommand(t, 'cleanup --prefix p: --yes', { env, out: false })
    assert.equal(await cli(server, 'KEYS', 'p:*'), '')
  })

  test('a run warns of lookups whose keys nothing has written, and not of keys that are there', async (t) => {
    const server = await startServer(t)
    const warned = async (/** @type {string} */ line) =>
      (await writeHere(t, `${line} --rate 100 --duration 1s --warm-up 0`, server)).document.warnings
        .filter((/** @type {{ code: string }} */ { code }) => code === 'not-filled')
        .map((/** @type {{ message: string }} */ { message }) => message)
    const message =
      'the servers had 0 keys of the 3,000 that the commands are about, so most of them met none; --fill writes them first'
    assert.deepEqual(await warned(lookup('lookup-get')), [message])
    assert.deepEqual(await warned(`${lookup('lookup-get')} --fill`), [])
    assert.deepEqual(await warned(lookup('lookup-get')), [])
    assert.deepEqual(await warned(`${lookup('lookup-set')} --prefix own:`), [])
  })

  test('keys with lifetimes of their own: each between the two, and a lookup that comes later is a miss', async (t) => {
    const server = await startServer(t)
    const fromMs = performance.now()
    const ended = await writeHere(
      t,
      '--strategy lookup-mix --with ratio=1:4 --keys 2000 --fill --ttl 1s-60s --rate 1000 --duration 3s --prefix p:',
      server,
    )
    assertDone(ended)
    assert.ok(ended.document.counts.miss > 0)
    const script =
      "local left = {} for i, key in ipairs(redis.call('KEYS', ARGV[1])) do left[i] = redis.call('PTTL', key) end return left"
    const left = (await cli(server, 'EVAL', script, '0', 'p:key:*')).split('\n').map(Number)
    const passedS = (performance.now() - fromMs) / 1000
    assert.deepEqual(
      left.filter((ms) => ms === -1 || ms > 60_000),
      [],
    )
    const mean = left.reduce((sum, ms) => sum + ms / 1000, 0) / left.length
    assert.ok(mean > 29 - passedS && mean < 32, `${mean} s left on average of 1 to 60, ${passedS} s later`)
  })

  test('keys that the mix itself deletes are not reported as lost', async (t) => {
    const server = await startServer(t)
    const { document, ...ended } = await writeHere(
      t,
      '--strategy lookup-mix --with ratio=0:0:1 --keys 2000 --fill --rate 1000 --duration 2s',
      server,
    )
    assertDone({ document, ...ended })
    assert.ok(document.counts.deleted > 500, `${document.counts.deleted} deleted`)
    assert.equal(2000 - document.counts.deleted, Number(await cli(server, 'DBSIZE')) - 1, 'beside the plan')
  })

  test('a consumer of lookups is refused by name', async (t) => {
    const { code, stderr } = await readHere(t, '--strategy lookup-get --duration 1s', await startServer(t))
    assert.equal(code, 2, stderr)
    assert.match(stderr, /--strategy lookup-get: a consumer reads items/)
  })

  test('a fill that does not fit ends with its cause, and misses after a fill are no valid run', async (t) => {
    const server = await startServer(t, { config: { maxmemory: '3mb' } })
    const full = await writeHere(
      t,
      '--strategy lookup-get --keys 20k --value-size 500 --fill --duration 1s --allow memory --guard off',
      server,
    )
    assert.equal(full.code, 3, full.stderr)
    // The server is full for the fill, or for the lease that is renewed meanwhile.
    assert.match(
      full.stderr,
      /--fill: [\d,]+ of 20,000 keys were written \(OOM [\d,]+\)|refused EVAL: .* memory limit; .*\(OOM /,
    )

    const other = await startServer(t)
    const run = startHere(t, 'write', `${lookup('lookup-get')} --fill --rate 500`, other)
    await run.says(/filled 3,000 keys/)
    await other.redis.del(Array.from({ length: 500 }, (_, i) => `key:${i + 1}`))
    const acked = () => run.intervals().reduce((sum, { items }) => sum + items.acked, 0)
    const before = acked()
    await until('a second of lookups since then', () => acked() > before + 1000)
    run.kill('SIGINT')
    const { document } = await run.ended
    assert.ok(document.counts.miss > 0)
    const reason = warningIn(document, 'replies')
    assert.equal(reason?.invalidates, true)
  })

  test('the server makes the keys itself, with our names and sizes', async (t) => {
    const server = await startServer(t, { config: { 'enable-debug-command': 'local' } })
    const line = `${lookup('lookup-get')} --fill populate --rate 100 --duration 1s`
    const run = await writeHere(t, line, server)
    assertDone(run)
    assert.equal(run.document.counts.miss, 0)
    assert.match(run.stderr, /made 3,000 keys/)
    assert.equal(await cli(server, 'EXISTS', 'key:0', 'key:1', 'key:3000', 'key:3001'), '2')
    assert.equal(await cli(server, 'STRLEN', 'key:3000'), '40')

    const closed = await startServer(t)
    const refused = await writeHere(t, line, closed)
    assert.equal(refused.code, 3)
    assert.match(refused.stderr, /DEBUG POPULATE 3001 key 40: ERR DEBUG command not allowed/)
  })

  test('a snapshot is saved, and loaded again on servers that may be emptied', async (t) => {
    const line = `${lookup('lookup-get')} --fill --rate 100 --duration 1s --with snapshot`
    for (const [where, masters] of /** @type {const} */ ([
      ['', 1],
      [' --cluster --shards 2 --replicas 0', 2],
    ])) {
      const run = await runCommand(t, `write ${line}${where}`)
      assertDone(run)
      const { snapshot, measures } = run.document
      assert.equal(snapshot.masters, masters)
      assert.ok(snapshot.keys >= 3000)
      for (const step of /** @type {const} */ (['save', 'flush', 'load'])) {
        assert.ok(snapshot[step].longest_ms > 0)
        assert.ok(snapshot[step].total_ms >= snapshot[step].longest_ms)
      }
      assert.ok(measures.some((/** @type {any} */ { name }) => name === 'snapshot.load.total_ms'))
      assert.match(run.stdout, /snapshot +3,0\d\d keys, saved in/)
    }

    const server = await startServer(t, { config: { 'enable-debug-command': 'local' } })
    const refused = await writeHere(t, line, server)
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /--with snapshot empties .*add --allow flush/)
    await cli(server, 'SET', 'mine', 'x')
    const allowed = await writeHere(t, `${line} --allow flush,foreign-keys`, server)
    assertDone(allowed)
    assert.equal(await cli(server, 'GET', 'mine'), 'x')

    const closed = await startServer(t)
    const without = await writeHere(t, `${line} --allow flush`, closed)
    assert.equal(without.code, 3)
    assert.match(without.stderr, /refuses DEBUG.*enable-debug-command local/)
    assert.equal(await cli(closed, 'DBSIZE'), '0')
  })

  test('too few connections for a rate: said in the run, and as many as it advises help', async (t) => {
    const server = await startServer(t)
    // Round trips of 20 ms, so that no busy machine is the limit.
    const proxy = await delayProxy({ delayMs: 20, loseEvery: null, access: server })
    t.after(() => proxy.close())
    await proxy.measure(server)
    const env = at({ ...server, ...(await proxy.placeOf(server)) })
    const runWith = (/** @type {string} */ options) =>
      writeHere(t, `${lookup('lookup-get')} --rate 500 --duration 3s --allow foreign-keys ${options}`, {
        env,
      })

    const few = await runWith('--connections 2 --max-behind 1s')
    assert.equal(few.code, 4)
    const { warnings, events, duration_s: durationS, rate } = few.document
    const advice =
      /2 connections can do no more than .* operations\/s at a mean service time of .*: (set --connections \d+) or --pipeline \d+$/
    const said = events.filter((/** @type {any} */ { kind }) => kind === 'connections-full')
    assert.equal(said.length, 1)
    assert.ok(said[0].at_ms < durationS * 1000, JSON.stringify(said))
    assert.match(few.stderr, /2 connections can do no more than/)
    const [, advised] = advice.exec(said[0].text) ?? assert.fail(said[0].text)
    const reason = warnings.find((/** @type {any} */ { code }) => code === 'dropped' || code === 'rate')
    // A client that got no CPU, or was stopped, is the reason before its connections.
    if (!warnings.some((/** @type {any} */ { code }) => code.startsWith('client-')))
      assert.match(reason.message, advice)
    assert.doesNotMatch(reason.message, /--window|-c\b/)

    const enough = await runWith(advised.replace('set ', ''))
    assert.notEqual(enough.code, 2, enough.stderr)
    t.diagnostic(`${rate.achieved}/s; ${advised}: ${enough.document.rate.achieved}/s`)
    assert.ok(enough.document.rate.achieved > 1.5 * rate.achieved)
  })
})
