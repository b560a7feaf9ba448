// The figures of a run against what the servers and the system say.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as hdr from 'hdr-histogram-js'
import { writeHere } from '../helpers/here.js'
import {
  areSampled,
  assertDone,
  assertNoneLost,
  at,
  faultsIn,
  outcomesOf,
  sumOf,
  until,
} from '../helpers/programs.js'
import { callsOf, cli, startCluster, startServer } from '../helpers/servers.js'
import { columns } from '../helpers/table.js'

describe('the figures of a run', { concurrency: 5 }, () => {
  for (const driver of ['socket', 'ioredis'])
    test(`${driver}: acked items are the SETEX calls of the server, and its keys`, async (t) => {
      const server = await startServer(t)
      const line = `-q 700 -c 7 -p 200 --intervals 3 --ttl 100 --max-behind 60s --driver ${driver}`
      const { document, seconds } = await writeHere(t, line, server)
      // A batch that a busy machine drops has no command at all.
      assertNoneLost(document.items)
      const { offered, acked, dropped } = document.items
      assert.equal(offered, 2100)
      assert.equal(await callsOf(server, 'setex'), acked)
      // One for each batch of 100; the first one made latest-ids, with its lifetime.
      assert.equal(await callsOf(server, 'zadd'), acked / 100 + 1)
      if (areSampled(seconds)) assert.equal(document.server.commands.setex.calls, acked)
      // Items and latest-ids, and what the run says of itself in millrace:plan.
      const others = (await cli(server, '--scan', '--pattern', 'millrace:*')).split('\n').filter(Boolean)
      assert.deepEqual(others, ['millrace:plan'], 'the lease is given back')
      const items = Number(await cli(server, 'ZCARD', 'latest-ids'))
      assert.equal(await cli(server, 'DBSIZE'), String(items + 2))
      assert.ok(items <= 700 && items >= 700 - dropped, `${items} items`)
      assert.equal(document.server.share, 1)
    })

  test('agents write exactly their items, each has its own account, and they sum to the whole', async (t) => {
    const server = await startServer(t)
    const items = async () =>
      (await cli(server, '--scan', '--pattern', 'item:*'))
        .split('\n')
        .filter(Boolean)
        .map((key) => Number(key.slice('item:'.length)))
        .sort((a, b) => a - b)
    const written = (/** @type {string} */ agents) =>
      writeHere(t, `-q 103 -t 4 -p 200 --intervals 2 --ttl 100 --max-behind 60s -a ${agents}`, server)
    const middle = await written('2-3')
    // How many are there is not known where the servers answered too late.
    const isKnown = middle.document.writers.fewest !== null
    assert.ok(middle.code === 4 || !isKnown, middle.stderr)
    const reasons = faultsIn(middle.document).map((/** @type {any} */ { code }) => code)
    assert.deepEqual(reasons, isKnown ? ['absent-writers'] : [])
    assert.match(middle.stderr, /writers 2, 3 of 4: 50 of 103 items an interval; -a all for everything/)
    const from26 = (/** @type {number} */ length) => Array.from({ length }, (_, i) => 26 + i)
    assert.deepEqual(await items(), from26(50))
    assert.deepEqual(middle.document.plan.agents, [
      { agent: 2, first: 26, count: 25 },
      { agent: 3, first: 51, count: 25 },
    ])
    const last = await written('4')
    assert.deepEqual(last.document.plan.agents, [{ agent: 4, first: 76, count: 28 }], 'it takes the rest')
    assert.deepEqual(await items(), from26(78))
    const { document } = await written('all')
    const agents = /** @type {any[]} */ (document.agents)
    assert.equal(columns(agents, 'agent', 'offered'), '1 50, 2 50, 3 50, 4 56')
    for (const counts of agents) assert.equal(outcomesOf(counts), counts.offered)
    assert.equal(sumOf(agents, 'acked'), document.items.acked)
  })

  test('the warm-up is counted in items and kept out of the rest, and its last ticks are no other writer', async (t) => {
    const server = await startServer(t)
    const ended = await writeHere(t, '-q 6000 -c 300 -p 3s --duration 3 --warm-up 1 --max-behind 60s', server)
    assertDone(ended)
    const { document, seconds } = ended
    assert.equal(document.items.acked, 6000)
    assert.equal(await callsOf(server, 'setex'), 6000)
    assert.equal(document.server.share, 1)
    assert.equal(document.warm_up_s, 1)
    assert.ok(document.measured_s >= 2)
    assert.ok(Math.abs(document.duration_s - document.measured_s - 1) < 1e-6)
    assert.ok(Math.abs(document.rate.achieved - 4000 / document.measured_s) < 0.01)
    assert.equal(document.ticks.count, 200)
    const warmUp = seconds.filter(({ phase }) => phase === 'warm-up')
    const warmedUp = sumOf(warmUp, 'items.acked')
    // What a busy server had not answered when the warm-up ended it may run in the window; and one that answered no INFO in time
    // has no calls in it.
    const { calls = 0 } = document.server.commands.setex ?? {}
    assert.ok(calls <= 6000 - warmedUp, `${calls} SETEX, ${warmedUp} acked in the warm-up`)
    if (areSampled(seconds.slice(1))) assert.ok(calls > 0)

    const whole = { intended: 4000, service: 4000 }
    for (const name of /** @type {const} */ (['intended', 'service'])) {
      const parts = seconds.flatMap(({ latency_us: latency }) => latency[name] ?? [])
      // A client that stood still for two seconds has them in one line.
      assert.ok(parts.length > 1 || document.client.stopped_ms >= 1000, 'several seconds are merged')
      // Every item once, though by its SETEX and by its part of the ZADD.
      assert.equal(sumOf(parts, 'count'), whole[name])
      const merged = hdr.decodeFromCompressedBase64(parts[0].hdr)
      merged.autoResize = true
      for (const { hdr: more } of parts.slice(1)) merged.add(hdr.decodeFromCompressedBase64(more))
      assert.equal(merged.totalCount, whole[name])
      const { p50, p99, max } = document.latency_us[name]
      for (const [a, b] of [
        [merged.getValueAtPercentile(50), p50],
        [merged.getValueAtPercentile(99), p99],
        [merged.maxValue, max],
      ])
        assert.ok(Math.abs(a - b) <= 0.002 * b, `${name}: ${a}, not ${b}`)
    }
  })
  test('a cluster stores on its masters what was acked, and replicas follow', async (t) => {
    const { nodes, access } = await startCluster(t, { shards: 2, replicas: 1 })
    const env = at({ ...nodes[0], ...access })
    const ended = await writeHere(t, '-q 500 -p 2s --intervals 1 --ttl 100 --max-behind 60s --cluster', {
      env,
    })
    assertDone(ended)
    const { document } = ended
    assert.equal(columns(document.nodes, 'role').split(', ').sort().join(), 'master,master,replica,replica')
    const itemsOn = async (/** @type {typeof nodes[number]} */ node) =>
      (await cli({ ...node, ...access }, '--scan', '--pattern', 'item:*')).split('\n').filter(Boolean).length
    const on = async (/** @type {string} */ role) => {
      const counts = await Promise.all(nodes.filter((node) => node.role === role).map(itemsOn))
      return counts.reduce((sum, n) => sum + n, 0)
    }
    assert.equal(await on('master'), 500)
    await until('replicas have everything', async () => (await on('replica')) === 500)
  })
})
