// Counters: what is stored is what was declared, however the increments are sent and whatever becomes of replies.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runText } from '../../lib/report/text.js'
import { runCommand } from '../helpers/command-here.js'
import { writeHere } from '../helpers/here.js'
import { assertDone, at, codesIn, oddIn } from '../helpers/programs.js'
import { cli, suiteServer } from '../helpers/servers.js'

/** @import { TestServer } from '../helpers/servers.js' */
/** @import { TestContext } from 'node:test' */

const server = suiteServer()

/** The counters of a sorted set or a hash by their names, as redis-cli reads them. @param {'zset' | 'hash'} structure */
const stored = async (structure) => {
  const text =
    structure === 'hash'
      ? await cli(server, 'HGETALL', 'counters-hash')
      : await cli(server, 'ZRANGE', 'counters-zset', '0', '-1', 'WITHSCORES')
  const lines = text.split('\n').filter(Boolean)
  return new Map(Array.from({ length: lines.length / 2 }, (_, i) => [lines[2 * i], Number(lines[2 * i + 1])]))
}

const sumOf = (/** @type {Map<string, number>} */ counters) =>
  [...counters.values()].reduce((a, b) => a + b, 0)

/** @param {TestContext} t @param {string} line */
const play = async (t, line) => {
  await cli(server, 'FLUSHALL')
  return writeHere(t, line, server)
}

describe('stored as declared', () => {
  test('by default as published: 50,992 members of one sorted set, each incremented by 1', async (t) => {
    const run = await play(t, '--strategy counter-script')
    assertDone(run)
    const { items: outcome, bundles, commands } = run.document
    assert.deepEqual([outcome.acked, bundles.calls, commands.sent], [50_992, 51, 51])
    const counters = await stored('zset')
    assert.equal(counters.size, 50_992)
    assert.ok([...counters.values()].every((amount) => amount === 1))
  })

  for (const way of ['loop', 'pipeline', 'script', 'transaction'])
    test(`counter-${way} over ioredis stores the same`, async (t) => {
      const run = await play(t, `--strategy counter-${way} --items 500 --driver ioredis`)
      assertDone(run)
      assert.deepEqual([sumOf(await stored('zset')), run.document.bundles.sum.after], [500, 500])
      const { sending, parsing } = run.document.bundles.time_ms
      assert.deepEqual([sending, parsing], [null, null])
    })

  test('a function leaves no library, a second run adds to the counters, and cleanup removes them', async (t) => {
    const line = '--strategy counter-function --items 600 --with structure=hash'
    assertDone(await play(t, line))
    assert.equal(await cli(server, 'FUNCTION', 'LIST'), '')
    const again = await writeHere(t, line, server)
    assertDone(again)
    assert.deepEqual([again.document.bundles.sum.before, again.document.bundles.sum.after], [600, 1200])
    await runCommand(t, 'cleanup --yes', { env: at(server), out: false })
    assert.equal(await cli(server, 'KEYS', '*counter*'), '')
  })
})

describe('replies that are lost by the proxy', () => {
  for (const way of ['loop', 'pipeline', 'auto-pipeline', 'script', 'function', 'transaction'])
    test(`counter-${way}: what is stored lies between the acknowledged and the uncertain`, async (t) => {
      const run = await play(
        t,
        `--strategy counter-${way} --items 400 ${way === 'loop' ? '' : '--with bundle-size=40'} --with delay=1ms,lose-every=4`,
      )
      assert.equal(run.code, 4)
      const { items: outcome, bundles } = run.document
      assert.ok(bundles.delay.lost > 0)
      assert.equal(outcome.acked + outcome.uncertain, 400)
      assert.ok(outcome.uncertain >= bundles.delay.lost, `${outcome.uncertain} uncertain`)
      assert.deepEqual(Object.keys(outcome.failed_by), ['CLOSED'])
      const sum = sumOf(await stored('zset'))
      assert.equal(sum, bundles.sum.after)
      assert.ok(sum >= outcome.acked && sum <= 400, `${sum} of ${outcome.acked} to 400`)
      assert.match(
        runText(run.document, { verbose: true }).replace(/\s+/g, ' '),
        /increments acknowledged, [\d,]+ of [\d,]+ uncertain ones done/,
      )
      const codes = run.document.warnings.map((/** @type {any} */ { code }) => code)
      assert.ok(codes.includes('uncertain') && !codes.includes('replies'), codes.join())
    })
})

test('the proxy delays each round trip, and says how long', async (t) => {
  const run = await play(t, '--strategy counter-loop --items 60 --with delay=20ms')
  const { delay, time_ms: time } = run.document.bundles
  assert.deepEqual([delay.asked, delay.lost], [20, 0])
  // The direct way was measured before, and a busy machine may have made it longer then. With it a round trip is never
  // shorter than what the proxy waits.
  const leastMs = delay.asked - delay.proxy - 0.5
  assert.ok(leastMs > 0 && delay.direct + delay.added >= leastMs, JSON.stringify(delay))
  assert.ok(time.whole >= 60 * leastMs, `${time.whole} ms, ${JSON.stringify(delay)}`)
  // A process that is stopped between a send and its time takes the wait for sending: not in half of the round trips.
  assert.ok(time.waiting >= 30 * leastMs, `${time.waiting} of ${time.whole}`)
  assert.match(
    runText(run.document, { verbose: true }).replace(/\s+/g, ' '),
    /20 ms added to each round trip by a proxy/,
  )
})

test('an error inside a script leaves its bundle uncertain; one before it fails the bundle', async (t) => {
  await cli(server, 'FLUSHALL')
  await cli(server, 'HSET', 'counters-hash', 'counter:250', 'text')
  const line = '--with structure=hash --items 300 --with bundle-size=100 --allow foreign-keys'
  const script = await writeHere(t, `--strategy counter-script ${line}`, server)
  assert.equal(script.code, 4)
  const { items: outcome } = script.document
  assert.deepEqual([outcome.acked, outcome.uncertain, outcome.failed], [200, 100, 0])
  const grown = [...(await stored('hash')).values()].reduce((sum, n) => sum + (Number.isNaN(n) ? 0 : n), 0)
  assert.equal(grown, 249)
  assert.deepEqual(script.document.bundles.sum, {
    before: 0,
    after: 249,
    acked: 200,
    uncertain: 100,
    different: 0,
  })

  // In a transaction it is one command's.
  await cli(server, 'HDEL', 'counters-hash', ...Array.from({ length: 300 }, (_, i) => `counter:${i + 1}`))
  await cli(server, 'HSET', 'counters-hash', 'counter:250', 'text')
  const exec = await writeHere(t, `--strategy counter-transaction ${line}`, server)
  assert.deepEqual([exec.document.items.acked, exec.document.items.failed], [299, 1])
})

test('at a rate each increment is due, a bundle is what is due, and the counters hold what was acknowledged', async (t) => {
  const even = '--rate 200 --duration 1s'
  for (const [way, more, items] of /** @type {[string, string, number][]} */ ([
    ['loop', even, 200],
    ['pipeline', `--with bundle-size=40 ${even}`, 200],
    ['script', `--arrivals poisson ${even}`, 200],
    ['transaction', '--rate 100..300/2s', 400],
  ])) {
    const line = `--strategy counter-${way} --with counters=50 --warm-up 0 ${more}`
    const run = await play(t, line)
    assert.deepEqual(oddIn(run.document), [], line)
    const { items: outcome, bundles, rate, passes, latency_us: latency } = run.document
    // At random moments about as many, otherwise exactly.
    assert.ok(Math.abs(outcome.offered - items) <= (more.includes('poisson') ? 70 : 1), line)
    // A busy machine may drop some.
    assert.equal(outcome.acked + outcome.dropped, outcome.offered, line)
    assert.equal(sumOf(await stored('zset')), outcome.acked, line)
    assert.deepEqual([bundles.sum.after, passes ?? null], [outcome.acked, null], line)
    assert.ok(Math.abs(rate.nominal - 200) < 2 && latency.intended.count === outcome.acked, line)
    if (way === 'pipeline')
      assert.ok(bundles.calls >= outcome.acked / 40 && bundles.calls <= 200, `${bundles.calls}`)
  }
})

test('a rate beyond what one round trip after the other carries: dropped, and the reason names the way out', async (t) => {
  const line = '--rate 500 --with delay=20ms --max-behind 100ms --duration 1s --warm-up 0 --with counters=50'
  const { code, document } = await play(t, `--strategy counter-loop ${line}`)
  const { items: outcome, warnings, duration_s: durationS } = document
  assert.equal(code, 4, JSON.stringify(warnings))
  // At most one each 20 ms, of which a timer may take one off.
  assert.ok(outcome.dropped > 0 && outcome.acked <= (durationS * 1000) / 19 + 1, JSON.stringify(outcome))
  assert.equal(sumOf(await stored('zset')), outcome.acked)
  // A client that stood still is the reason that is given then.
  if (
    !codesIn(document).some((/** @type {string} */ code) =>
      /^client-(stopped|contended|saturated)$/.test(code),
    )
  )
    assert.match(
      JSON.stringify(warnings),
      /each bundle waits for the replies to the one before it: counter-pipeline and counter-script send many/,
    )
})
