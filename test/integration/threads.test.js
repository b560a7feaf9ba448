// Writers in several threads: the result is that of the whole process, by the counts of the server.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { readHere, startHere, writeHere } from '../helpers/here.js'
import {
  assertDone,
  assertNoneLost,
  at,
  codesIn,
  laterSecond,
  outcomesOf,
  startProducer,
  startProgram,
  sumOf,
  until,
  warningIn,
} from '../helpers/programs.js'
import { callsOf, cli, startServer } from '../helpers/servers.js'

const batches = '-q 600 -c 3 -p 200 --intervals 4 --ttl 100 --max-behind 60s'

describe('threads', { concurrency: 3 }, () => {
  for (const [writers, threads, driver, zadds] of /** @type {[number, number, string, number][]} */ ([
    [4, 2, 'socket', 12],
    [1, 1, 'socket', 3],
    [1, 2, 'socket', 3],
    [4, 2, 'ioredis', 12],
  ]))
    test(`${driver}, ${writers} writers in ${threads}: acked items are the calls of the server`, async (t) => {
      const server = await startServer(t)
      const line = `${batches} -t ${writers} -a all --threads ${threads} --driver ${driver}`
      const { document, seconds, code, stderr } = await writeHere(t, line, server)
      assert.equal(code, document.valid ? 0 : 4, stderr)
      assertNoneLost(document.items)
      const { offered, acked, dropped } = document.items
      assert.equal(offered, 2400)
      assert.equal(outcomesOf(document.items), offered)
      assert.equal(await callsOf(server, 'setex'), acked)
      // The first one made latest-ids, with its lifetime.
      if (dropped === 0) assert.equal(await callsOf(server, 'zadd'), zadds * 4 + 1)
      assert.deepEqual(
        document.agents.map((/** @type {any} */ { agent, acked: own }) => [agent, own]),
        Array.from({ length: writers }, (_, i) => [i + 1, 2400 / writers]),
      )
      for (const name of ['offered', 'acked']) assert.equal(sumOf(seconds, `items.${name}`), 2400)
      assert.equal(document.ticks.count, 12)
      assert.ok(document.latency_us.intended.count > 0 && document.ticks.lateness_us.p50 >= 0)
      // Each thread removes ids that have expired.
      assert.equal(document.commands.sent, 2400 + zadds * 4 + threads)
      assert.equal(Object.keys(document.client.threads ?? {}).length, threads === 1 ? 0 : threads)
      // It is of the one that sends, where there is one.
      for (const { client } of seconds) assert.equal(Boolean(client.thread), threads === 1)
      assert.equal(document.plan.threads, threads === 1 ? undefined : threads)
    })

  test('on a cluster, and with lookups at a rate and without one', async (t) => {
    const written = await writeHere(t, `${batches} -t 2 -a all --threads 2 --cluster --shards 2 --replicas 0`)
    assertDone(written)
    assert.equal(written.document.items.acked, 2400)
    assert.equal(sumOf(written.seconds, 'items.acked'), 2400)
    const server = await startServer(t)
    const lookups = '--strategy lookup-get --keys 1000 --fill --connections 6 --threads 3 --warm-up 0'
    const open = await writeHere(t, `${lookups} --rate 900 --duration 2s`, server)
    assertDone(open)
    assert.equal(open.document.items.offered, 1800)
    const { acked } = open.document.items
    assert.deepEqual(open.document.counts, { hit: acked, miss: 0 })
    // The fill's sample is a hundred GETs more.
    assert.equal(await callsOf(server, 'get'), acked + 100)
    const closed = await writeHere(t, `${lookups} --duration 1s`, server)
    assertDone(closed)
    assert.equal(await callsOf(server, 'get'), acked + 100 + closed.document.items.acked + 100)
  })

  test('an item is written by one connection, in the order of its intervals', async (t) => {
    const server = await startServer(t)
    const monitor = await server.redis.monitor()
    t.after(() => monitor.disconnect())
    /** @type {Map<string, { sources: Set<string>, values: string[] }>} */
    const seen = new Map()
    monitor.on('monitor', (_, [name, key, , value], source) => {
      if (name.toLowerCase() !== 'setex') return
      const known = seen.get(key) ?? { sources: new Set(), values: [] }
      seen.set(key, known)
      known.sources.add(source)
      known.values.push(value)
    })
    const line = `-q 90 -c 3 -p 100 --intervals 12 -t 2 -a all --threads 4 --stamp --value-size 64 --max-behind 60s`
    const { document } = await writeHere(t, line, server)
    assertNoneLost(document.items)
    const { offered, acked } = document.items
    assert.equal(offered, 1080)
    await until(
      'all of it was seen',
      () => [...seen.values()].reduce((sum, { values }) => sum + values.length, 0) === acked,
    )
    assert.equal(seen.size, 90)
    for (const [key, { sources, values }] of seen) {
      assert.equal(sources.size, 1, key)
      assert.deepEqual(values, values.toSorted(), key)
    }
    assert.equal(new Set([...seen.values()].flatMap(({ sources }) => [...sources])).size, 4)
  })

  test('consumers: fetches of all threads, verified, are the calls of the server', async (t) => {
    const server = await startServer(t)
    const env = { env: at(server) }
    const writer = startHere(t, 'write', '-q 200 -p 200 -t 2 -a all --threads 2 --ttl 60', env)
    await until('all items', async () => (await server.redis.keys('item:*')).length === 200)
    const before = await callsOf(server, 'get')
    const line = '--consumers 5 --threads 3 --fetch-rate 20 --duration 2s --verify --count'
    const { code, document, seconds, stderr } = await readHere(t, line, env)
    assertDone({ code, document, stderr })
    const { fetches, verify, uniqueness, plan, consumers, client } = document
    assert.deepEqual([plan.threads, consumers, Object.keys(client.threads).length], [3, 5, 3])
    // One in each period of a quarter of a second, of each of five.
    assert.ok(fetches.count + fetches.overrun >= 35 && fetches.count <= 45, JSON.stringify(fetches))
    assert.equal(fetches.failed, 0)
    assert.equal(fetches.items_p50, 200)
    assert.equal(sumOf(seconds, 'fetches.count'), fetches.count)
    // Values that were checked again at their master are GETs too.
    const calls = (await callsOf(server, 'get')) - before
    assert.ok(calls >= fetches.values && calls <= fetches.values + 200, `${calls} of ${fetches.values}`)
    assert.ok(verify.checked >= (fetches.count - 5) * 200, JSON.stringify(verify))
    for (const what of ['missing', 'corrupt', 'unexpected', 'stale']) assert.equal(verify[what], 0, what)
    assert.ok(uniqueness.length > 0)
    assert.ok(fetches.duration_ms.p50 > 0 && document.freshness_ms.p50 > 0)
    writer.kill('SIGINT')
    const { document: written } = await writer.ended
    assert.equal(outcomesOf(written.items), written.items.offered)
  })

  test('consumers: what is verified after the last fetch is no part of their time', async (t) => {
    const server = await startServer(t)
    const line = '-q 50 -p 500 --once --ttl 10m --duration 1s'
    assertDone(await writeHere(t, line, server))
    await cli(server, 'DEL', 'item:7')
    const read = '--consumers 4 --threads 2 --fetch-rate 8 --duration 2s --verify'
    const { document, seconds } = await readHere(t, read, { env: at(server) })
    assert.equal(document.verify.missing > 0, true, JSON.stringify(document.verify))
    // On a busy machine the last fetch is late.
    const lastS = seconds.findLast(({ fetches }) => fetches.count > 0).at_ms / 1000
    const { duration_s: durationS } = document
    assert.ok(durationS > 1 && durationS < Math.max(2, lastS) + 1, `${durationS} s, fetches until ${lastS} s`)
    assert.ok(Math.abs(document.rate.achieved * document.duration_s - document.fetches.count) < 1)
  })

  for (const [lost, cause] of [
    ['ended', /thread 2 of 2 ended: it ended by itself/],
    ['failed', /thread 2 of 2 ended: Cannot read properties of null/],
  ])
    test(`a thread that ${lost} makes the run not valid, and loses no count`, async (t) => {
      const server = await startServer(t)
      const line = '-q 2000 -c 100 -t 2 -a all --threads 2 --duration 60s --warm-up 0 --ttl 100'
      const running = startProgram(t, 'test/helpers/lost-thread.js', line, {
        env: { ...at(server), LOST: String(lost) },
      })
      const { code, document, stderr } = await running.ended
      assert.equal(code, 4, stderr)
      const warning = warningIn(document, 'thread')
      assert.match(warning.message, /** @type {RegExp} */ (cause))
      assert.ok(document.duration_s < 30, 'the others do not go on')
      const { offered, acked, unsettled } = document.items
      assert.equal(outcomesOf(document.items), offered)
      const calls = await callsOf(server, 'setex')
      assert.ok(
        acked <= calls && calls <= acked + unsettled,
        `${acked} acked, ${calls} calls, ${unsettled} not`,
      )
      // Half of a batch of a hundredth of a second, or of two; and on a busy machine what fell due while it was late.
      const lateMs = document.latency_us.intended.max / 1000
      assert.ok(unsettled <= 100 + lateMs, `${unsettled} unsettled, ${lateMs} ms late`)
      const [first, second] = document.agents
      assert.ok(second.acked > 0)
      assert.equal(first.acked + second.acked, acked)
    })

  test('64 threads end in order', async (t) => {
    const line = '-q 6400 -p 500 -t 64 -a all --threads 64 --intervals 2 --max-behind 60s'
    const whole = await startProducer(t, line).ended
    assertDone(whole)
    assert.doesNotMatch(whole.stderr, /MaxListeners/)
    assert.equal(whole.document.items.offered, 12_800)
  })

  test('an interrupt ends all threads, and there is a result', async (t) => {
    const running = startProducer(t, '-q 600 -p 500 -t 3 -a all --threads 3')
    await until('a second has passed', () => running.intervals().length > 1)
    running.kill('SIGINT')
    const { code, document, stderr } = await running.ended
    assert.equal(code, 130, stderr)
    assert.equal(outcomesOf(document.items), document.items.offered)
    assert.ok(!codesIn(document).includes('thread'))
  })

  test('a thread that cannot open the target is one line', async (t) => {
    const server = await startServer(t)
    await server.redis.config('SET', 'maxclients', '6')
    const running = startProducer(t, '-q 64 -t 4 -a all --threads 4 --duration 2s', server)
    const { code, stderr } = await running.ended
    assert.equal(code, 3, stderr)
    const line = String(stderr.split('\n').filter(Boolean).at(-1))
    assert.match(line, /thread \d of 4: .*127\.0\.0\.1/)
    assert.ok(!/^ {4}at /m.test(stderr), stderr)
  })
})

// By itself: it takes what there is of both cores.
const skip = process.platform !== 'linux'
test('five thousand connections, or as many as open files allow, are opened, each in at most 40 kB', {
  skip,
}, async (t) => {
  // The server has as many, and both have other files.
  const [, files] = /^Max open files +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  const connections = Math.min(5000, Number(files) - 1500)
  const server = await startServer(t, { config: { maxclients: String(connections + 200) } })
  const line = '--strategy lookup-get --keys 1000 --fill --rate 1000 --warm-up 0 --no-report'
  const least = await startProducer(t, `${line} --duration 2s`, server).ended
  const most = startProducer(t, `${line} --duration 10m --connections ${connections}`, server)
  await until('all are open', async () => {
    const [, clients] = /connected_clients:(\d+)/.exec(await server.redis.info('clients')) ?? []
    return Number(clients) >= connections
  })
  // A busy machine may open the last ones late.
  await laterSecond(most, ({ items }) => items.acked > 0)
  most.kill('SIGINT')
  const { document, stderr } = await most.ended
  assert.equal(outcomesOf(document.items), document.items.offered, stderr)
  assert.ok(document.items.acked > 0, stderr)
  const each = (document.client.rss_mb_max - least.document.client.rss_mb_max) / connections
  assert.ok(each > 0 && each <= 0.04, `${each * 1000} kB each of ${connections}`)
})
