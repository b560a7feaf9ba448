// When things are sent: schedules, saturation, the published sleep, and what happens behind a server that stands still.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadWords } from '../../lib/report/words.js'
import { startHere, writeHere } from '../helpers/here.js'
import { assertDone, laterSecond, outcomesOf, sumOf, until } from '../helpers/programs.js'
import { callsOf, startServer } from '../helpers/servers.js'

describe('pacing', { concurrency: 4 }, () => {
  for (const driver of ['socket', 'ioredis'])
    test(`${driver}: --rate max by time and by intervals has no nominal rate and is not judged by it`, async (t) => {
      const byTime = await writeHere(t, `--rate max -q 2000 --duration 500ms --driver ${driver}`)
      const { document } = byTime
      assert.equal(document.rate.nominal, null)
      assert.ok(document.items.acked > 0)
      assert.equal(document.items.acked, document.items.offered)
      assert.ok(
        !document.warnings.some((/** @type {any} */ { code }) => code === 'rate' || code === 'dropped'),
      )
      const byIntervals = await writeHere(t, `--rate max -q 2000 -c 2 --intervals 7 --driver ${driver}`)
      assert.equal(byIntervals.document.items.acked, 14_000)
      assert.equal(byIntervals.document.ticks.count, 14)
    })

  for (const driver of ['socket', 'ioredis'])
    test(`${driver}: --pacing closed sleeps after each batch, achieves less, and is valid`, async (t) => {
      const ended = await writeHere(
        t,
        `-q 2000 -t 2 -a all -p 100 --intervals 6 --pacing closed --driver ${driver}`,
      )
      assertDone(ended)
      const { document } = ended
      assert.equal(document.items.acked, 12_000)
      assert.equal(document.rate.nominal, 20_000)
      assert.ok(document.rate.achieved < 20_000, `${document.rate.achieved} items/s`)
      assert.ok(document.duration_s > 0.6)
    })

  test('--warm-up auto ends by itself, is said, and everything else is measured', async (t) => {
    const { document, seconds } = await writeHere(
      t,
      '--rate 2000 --duration 3 --warm-up auto --idle-cost never',
    )
    // Half of the run at most, to a tick.
    assert.ok(document.warm_up_s > 0 && document.warm_up_s <= 1.51, `${document.warm_up_s} s`)
    assert.ok(Math.abs(document.measured_s + document.warm_up_s - document.duration_s) < 0.1)
    assert.deepEqual([document.items.offered, outcomesOf(document.items)], [6000, 6000])
    // A busy machine may have no second until it is over.
    if (seconds.some(({ at_ms: atMs }) => atMs < 2000))
      assert.ok(document.events.some((/** @type {any} */ { kind }) => kind === 'warm-up'))
  })

  test('--rate with times offers each rate for its time, and one that rises its mean', async (t) => {
    const [{ document }, ramp] = await Promise.all([
      writeHere(t, '--rate 1k@1s,3k@1s --idle-cost never'),
      writeHere(t, '--rate 1k..3k/3s --strategy lookup-get --idle-cost never'),
    ])
    // To a tick of each rate.
    assert.ok(Math.abs(document.items.offered - 4000) <= 12, `${document.items.offered} offered`)
    assert.equal(outcomesOf(document.items), document.items.offered)
    assert.ok(Math.abs(document.rate.nominal - 2000) < 1, `${document.rate.nominal}/s`)
    assert.deepEqual([ramp.document.items.offered, ramp.document.rate.nominal], [6000, 2000])
    assert.equal(ramp.document.plan.rates.length, 3)
    assert.match(loadWords(ramp.document), / 1,000 to 3,000 operations\/s in 3 steps, over /)
  })

  test('--pacing smooth spreads an interval over as many chunks as the clock holds', async (t) => {
    const server = await startServer(t)
    const ended = await writeHere(t, '-q 1000 --intervals 2 --pacing smooth', server)
    assertDone(ended)
    const { document } = ended
    assert.equal(document.plan.chunks, 200)
    assert.equal(document.ticks.count, 400)
    // One more made the set, with its lifetime.
    assert.equal(await callsOf(server, 'zadd'), 401)
    const few = await writeHere(t, '-q 10 -p 200 --intervals 2 --pacing smooth', server)
    assert.equal(few.document.plan.chunks, 10)
  })

  test('variadic commands are cut where --max-members says, and with 0 never', async (t) => {
    const server = await startServer(t)
    const line = '-q 2500 -p 400 --intervals 1'
    const calls = async (/** @type {string} */ more) => {
      await server.redis.flushall()
      const before = await callsOf(server, 'zadd')
      assertDone(await writeHere(t, `${line} ${more}`, server))
      return (await callsOf(server, 'zadd')) - before
    }
    // One more makes each set, with its lifetime.
    assert.equal(await calls('--max-members 0'), 1 + 1)
    assert.equal(await calls('--max-members 700'), 4 + 1)
    assert.equal(await calls(''), 3 + 1)
    assert.equal(await calls('--max-members 700 -c 5'), 5 + 1)
    assert.equal(await calls('--max-members 0 --with extra-sorted-sets=2'), 3 + 3)
    assert.equal(await calls('--max-members 0 -t 4 -a all'), 4 + 1)
  })
})

describe('a server that stands still', { concurrency: 2 }, () => {
  for (const driver of ['socket', 'ioredis'])
    test(`${driver}: longer than --max-behind: ticks are dropped, the run goes on, and the account closes`, async (t) => {
      const server = await startServer(t)
      const running = startHere(
        t,
        'write',
        `-q 1000 --value-size 1kB -p 100 --max-behind 500ms --window 100kB --driver ${driver}`,
        server,
      )
      await until('items are acked', () => sumOf(running.intervals(), 'items.acked') > 0)
      process.kill(server.pid, 'SIGSTOP')
      await until('items are dropped', () => running.intervals().some(({ items }) => items.dropped > 0))
      process.kill(server.pid, 'SIGCONT')
      await laterSecond(running, ({ items }) => items.acked > 0)
      running.kill('SIGINT')
      const { code, document, seconds, stderr } = await running.ended
      assert.equal(code, 130, stderr)
      const { items } = document
      assert.equal(document.valid, false)
      assert.ok(items.dropped > 0)
      assert.equal(outcomesOf(items), items.offered)
      assert.equal(items.failed + items.uncertain, 0)
      assert.ok(document.warnings.some((/** @type {any} */ warning) => warning.code === 'dropped'))
      if (driver !== 'socket') return
      // What waits in the process is bounded by the window and the write that shut it.
      for (const { client } of seconds)
        assert.ok(client.waiting_bytes <= 100_000 + 65_536, `${client.waiting_bytes} bytes wait`)
    })

  test('a run that ends by its time after dropping has exit code 4', async (t) => {
    const server = await startServer(t)
    const running = startHere(
      t,
      'write',
      '-q 500 -p 100 --max-behind 300ms --window 50kB --duration 4',
      server,
    )
    let isOver = false
    running.ended.finally(() => {
      isOver = true
    })
    await until('items are stored', () => server.redis.zcard('latest-ids'))
    process.kill(server.pid, 'SIGSTOP')
    const hasDropped = () => running.intervals().some(({ items }) => items.dropped > 0)
    await until('items are dropped', () => isOver || hasDropped())
    process.kill(server.pid, 'SIGCONT')
    const { code, document } = await running.ended
    assert.equal(code, 4)
    assert.equal(document.items.offered, 20_000)
    assert.equal(outcomesOf(document.items), 20_000)
    assert.ok(document.items.acked > 0 && document.items.dropped > 0)
  })
})
