// The figures of a run against what the servers and the system say.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as hdr from 'hdr-histogram-js'
import { writeHere } from '../helpers/here.js'
import { assertDone, at, faultsIn, outcomesOf, until } from '../helpers/programs.js'
import { callsOf, cli, startCluster, startServer } from '../helpers/servers.js'

describe('one server', { concurrency: 2 }, () => {
  for (const driver of ['socket', 'ioredis'])
    test(`${driver}: acked items are the SETEX calls of the server, and its keys`, async (t) => {
      const server = await startServer(t)
      const ended = await writeHere(t, `-q 700 -c 7 -p 700 --intervals 3 --ttl 100 --driver ${driver}`, {
        env: at(server),
      })
      assertDone(ended)
      const { document } = ended
      assert.equal(document.items.acked, 2100)
      assert.equal(await callsOf(server, 'setex'), 2100)
      // The first one made latest-ids, with its lifetime.
      assert.equal(await callsOf(server, 'zadd'), 22)
      assert.equal(document.server.commands.setex.calls, 2100)
      // Items and latest-ids, and what the run says of itself in millrace:plan.
      const others = (await cli(server, '--scan', '--pattern', 'millrace:*')).split('\n').filter(Boolean)
      assert.deepEqual(others, ['millrace:plan'], 'the lease is given back')
      assert.equal(await cli(server, 'DBSIZE'), '702')
      assert.equal(await cli(server, 'ZCARD', 'latest-ids'), '700')
      assert.equal(document.server.share, 1)
    })

  test('the ticks just before the end of a warm-up are no other writer', async (t) => {
    const ended = await writeHere(t, '-q 50 -p 10 --warm-up 1 --duration 2')
    assertDone(ended)
    const { server, items } = ended.document
    assert.equal(items.acked, 10_000)
    // A busy machine reads the counters later than it should; test/unit/window.test.js has the moment.
    const { calls } = server.commands.setex
    assert.ok(calls > 0 && calls <= 10_000, `${calls} SETEX`)
    assert.equal(server.share, 1)
  })

  test('-a 2-3 of -t 4 writes exactly these; the last agent takes the rest', async (t) => {
    const server = await startServer(t)
    const items = async () =>
      (await cli(server, '--scan', '--pattern', 'item:*'))
        .split('\n')
        .filter(Boolean)
        .map((key) => Number(key.slice('item:'.length)))
        .sort((a, b) => a - b)
    const line = '-q 103 -t 4 -p 200 --intervals 2 --ttl 100'
    const middle = await writeHere(t, `${line} -a 2-3`, { env: at(server) })
    assert.equal(middle.code, 4, middle.stderr)
    assert.deepEqual(
      faultsIn(middle.document).map((/** @type {any} */ { code }) => code),
      ['absent-writers'],
    )
    assert.match(middle.stderr, /writers 2, 3 of 4: 50 of 103 items an interval; -a all for everything/)
    assert.deepEqual(
      await items(),
      Array.from({ length: 50 }, (_, i) => 26 + i),
    )
    assert.deepEqual(middle.document.plan.agents, [
      { agent: 2, first: 26, count: 25 },
      { agent: 3, first: 51, count: 25 },
    ])
    const last = await writeHere(t, `${line} -a 4`, { env: at(server) })
    assert.deepEqual(last.document.plan.agents, [{ agent: 4, first: 76, count: 28 }])
    assert.deepEqual(
      await items(),
      Array.from({ length: 78 }, (_, i) => 26 + i),
    )
  })

  test('each agent of a process has its own account, and they sum to the whole', async (t) => {
    const { document } = await writeHere(t, '-q 103 -t 4 -a all -p 200 --intervals 2')
    const agents = /** @type {any[]} */ (document.agents)
    assert.deepEqual(
      agents.map(({ agent, offered }) => [agent, offered]),
      [
        [1, 50],
        [2, 50],
        [3, 50],
        [4, 56],
      ],
    )
    for (const counts of agents) assert.equal(outcomesOf(counts), counts.offered)
    assert.equal(
      agents.reduce((sum, { acked }) => sum + acked, 0),
      document.items.acked,
    )
  })

  test('histograms of the seconds merge to the percentiles of the run', async (t) => {
    const { document, seconds } = await writeHere(t, '-q 400 -c 8 --duration 3')
    const lines = seconds
    for (const name of /** @type {const} */ (['intended', 'service'])) {
      const parts = lines.flatMap(({ latency_us: latency }) => latency[name] ?? [])
      const whole = hdr.decodeFromCompressedBase64(parts[0].hdr)
      whole.autoResize = true
      for (const { hdr: more } of parts.slice(1)) whole.add(hdr.decodeFromCompressedBase64(more))
      const { p50, p99, max } = document.latency_us[name]
      const near = (/** @type {number} */ a, /** @type {number} */ b) =>
        assert.ok(Math.abs(a - b) <= 0.002 * b, `${name}: ${a}, not ${b}`)
      near(whole.getValueAtPercentile(50), p50)
      near(whole.getValueAtPercentile(99), p99)
      near(whole.maxValue, max)
      // Every item once, though by its SETEX and by its part of the ZADD.
      assert.equal(whole.totalCount, document.items.acked)
    }
  })

  test('the warm-up is counted in items and kept out of the rest', async (t) => {
    const server = await startServer(t)
    const ended = await writeHere(t, '-q 300 -c 3 --duration 3 --warm-up 1', { env: at(server) })
    assertDone(ended)
    const { document } = ended
    assert.equal(document.items.acked, 900)
    assert.equal(await callsOf(server, 'setex'), 900)
    assert.equal(document.warm_up_s, 1)
    assert.ok(document.measured_s >= 2 && document.duration_s === document.measured_s + 1)
    assert.ok(Math.abs(document.rate.achieved - 600 / document.measured_s) < 0.01)
    assert.equal(document.ticks.count, 6)
    const lines = ended.seconds
    const warmedUp = lines
      .filter(({ phase }) => phase === 'warm-up')
      .reduce((sum, { items }) => sum + items.acked, 0)
    // What a busy server had not answered when the warm-up ended it may run in the window.
    const { calls } = document.server.commands.setex
    assert.ok(calls > 0 && calls <= 900 - warmedUp, `${calls} SETEX, ${warmedUp} acked in the warm-up`)
    const recorded = lines.map(({ latency_us: { intended } }) => intended?.count ?? 0)
    assert.equal(
      recorded.reduce((sum, n) => sum + n, 0),
      600,
    )
  })
})

test('a cluster stores on its masters what was acked, and replicas follow', async (t) => {
  const { nodes, access } = await startCluster(t, { shards: 2, replicas: 1 })
  const env = at({ ...nodes[0], ...access })
  const ended = await writeHere(t, '-q 500 -p 500 --intervals 2 --ttl 100 --cluster', { env })
  assertDone(ended)
  const { document } = ended
  assert.deepEqual(document.nodes.map((/** @type {any} */ { role }) => role).sort(), [
    'master',
    'master',
    'replica',
    'replica',
  ])
  const itemsOn = async (/** @type {typeof nodes[number]} */ node) =>
    (await cli({ ...node, ...access }, '--scan', '--pattern', 'item:*')).split('\n').filter(Boolean).length
  const on = async (/** @type {string} */ role) => {
    const counts = await Promise.all(nodes.filter((node) => node.role === role).map(itemsOn))
    return counts.reduce((sum, n) => sum + n, 0)
  }
  assert.equal(await on('master'), 500)
  await until('replicas have everything', async () => (await on('replica')) === 500)
})
