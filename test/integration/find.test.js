// `millrace find` as a user starts it: on a terminal, with readers beside it, and on the boxes of a fleet.
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startReaders } from '../../lib/cli/find-readers.js'
import { settingsOfRun } from '../../lib/cli/run-options.js'
import { openTarget } from '../../lib/servers/open.js'
import { testEnvironment } from '../../scripts/test.js'
import { writeHere } from '../helpers/here.js'
import { at, ownFolder, startOther, sumOf, until } from '../helpers/programs.js'
import { searched } from '../helpers/searched.js'
import { callsOf, cli, portOf, startServer } from '../helpers/servers.js'

/** @import { TestContext } from 'node:test' */

const program = fileURLToPath(new URL('../../lib/cli/millrace.js', import.meta.url))

// Enough for searches that measure a while after they have narrowed the rate down.
const seconds = 45

/** On a terminal, as script(1) gives it one. @param {TestContext} t @param {string} line @param {string} answer */
const asked = async (t, line, answer) => {
  const env = { ...testEnvironment(process.env), XDG_RUNTIME_DIR: ownFolder(t, answer) }
  const words = ['-qec', `node ${program} find ${line}`, '/dev/null']
  const { child, texts, ended } = startOther(t, 'script', words, { env })
  await until('the question', () => texts.stdout.includes('Type yes to go on: '))
  child.stdin.write(`${answer}\r`)
  const { code, stdout: seen } = await ended
  return { code, seen }
}

describe('searches as a user starts them', { concurrency: true }, () => {
  test('on a terminal the user confirms that servers which are not local are overloaded', async (t) => {
    // No server answers there.
    const silent = createServer((socket) => socket.destroy())
    const port = await portOf(t, silent)
    const line = `list --slo "latency.p99<20ms" --host 0.0.0.0 --port ${port} --out ${ownFolder(t, 'out')}`
    const [refused, allowed] = await Promise.all([asked(t, line, 'no'), asked(t, line, 'yes')])
    assert.equal(refused.code, 2, refused.seen)
    assert.match(refused.seen, /0\.0\.0\.0 is not local:\s+give --within MIN\.\.MAX, which it never exceeds/)
    // It goes on, and finds no server there.
    assert.equal(allowed.code, 3, allowed.seen)
  })

  test('consumers read beside a search, and their result is that of a part of the time', async (t) => {
    const { host, port, password } = await startServer(t)
    const { settings } = settingsOfRun({ host, port, password, strategy: 'list' })
    const target = await openTarget(settings, { say: () => {}, mayStart: false, anyServer: false })
    t.after(target.close)
    const needs = { settings, target, stop: new AbortController().signal }
    const start = (/** @type {string[]} */ words, /** @type {(why: string) => void} */ onGone) =>
      startReaders({
        ...{ ...needs, words: ['--strategy', 'list', ...words], onGone },
        folder: ownFolder(t, words[0].slice(2, 9)),
      })
    /** @type {string[]} */
    const gone = []
    const fromMs = Date.now()
    const readers = await start(['--consumers=3', '--fetch-rate=30'], (why) => gone.push(why))
    assert.deepEqual(gone, [])
    readers.end()
    const found = await readers.during(fromMs, Date.now() + 1000)
    assert.ok(found, 'at least a second')
    assert.deepEqual([found.plan.consumers, found.plan.fetchHz, found.fetches.failed], [3, 30, 0])
    assert.ok(found.fetches.count > 0 && found.fetches.duration_ms.p50 > 0, JSON.stringify(found.fetches))
    assert.equal(await readers.during(0, fromMs), null)
    const refused = new Promise((resolve) => start(['--verify', '--limit=x'], resolve))
    assert.match(await refused, /^the consumers of --with-read: --limit must be/)
  })

  test('a search with readers, whose limits are checked over the confirmation, also at the highest rate', async (t) => {
    const { code, answer } = await searched(
      t,
      [
        ...['list', '--within', '10..40', '--items', '1000', '--time', '60s', '--slo', 'latency.p99<5s'],
        ...['--with-read', 'consumers=2,fetch-rate=20', '--slo', 'fetches.duration_ms.p50<60s'],
        ...['--slo', 'fetches.duration_ms.p50<1us'],
      ],
      at(await startServer(t)),
    )
    const { state, find, readers, confirmed, confirmation, sentence } = answer
    assert.deepEqual([code, state, find.low, confirmed.rate], [4, 'none', null, 40], sentence)
    // Those 29 s alone, although most of the search had another rate than the plan.
    // What was due in them is waited for.
    const aboveS = confirmation.measured_s - confirmed.seconds
    assert.ok(aboveS > -0.1 && aboveS < 2 + answer.seconds.at(-1).waited_ms / 1000, `${aboveS} s more`)
    assert.ok(Math.abs(confirmation.rate.achieved - 40) < 3, `${confirmation.rate.achieved} a second`)
    assert.equal(sentence, 'none: at the highest rate whose seconds pass, fetches.duration_ms.p50<1us fails')
    assert.deepEqual([readers.consumers, readers.fetches.failed], [2, 0])
    // About 20 a second over those 29 s.
    assert.ok(readers.fetches.count > 200 && readers.fetches.items_p50 > 0, JSON.stringify(readers))
  })

  test('the rate of jobs is searched beside workers: no more than they can do, by their own account and the server’s', async (t) => {
    const server = await startServer(t)
    const { code, answer } = await searched(
      t,
      [
        ...['queue-list', '--slo', 'latency.p99<2s', '--within', '10..1000'],
        // Each worker sleeps 10 ms for a job: two do at most 200 a second.
        ...['--with-read', 'workers=2,work=sleep:10ms', '--slo', 'waiting.p99<60s'],
        ...['--with', 'max-queue=100'],
      ],
      at(server),
      seconds,
    )
    const { state, find, readers, unit, seconds: all, sentence } = answer
    assert.ok([0, 4, 98].includes(code) && unit === 'jobs', sentence)
    // The confirmation, and the 100 that may wait.
    if (state === 'found') assert.ok(find.low <= 200 + 200 / 20, sentence)
    assert.deepEqual(readers.workers, 2)
    assert.ok(readers.jobs.done > 0 && readers.waiting_us.p50 > 0, JSON.stringify(readers))
    // What the queue had no room for has failed its second.
    const full = all.filter((/** @type {any} */ { items }) => items.failed > 0)
    assert.ok(full.length > 0 && full.every((/** @type {any} */ { passed }) => !passed))
    assert.ok(Number(await cli(server, 'LLEN', '{jobs}:list')) <= 100)
    assert.ok((await callsOf(server, 'lpush')) >= sumOf(all, 'items.acked'))
  })

  test('the rate of fetches is searched: of what was written before', async (t) => {
    const server = await startServer(t)
    const line = '--strategy list --items 100 --rate 100 --duration 1s --warm-up 0 --ttl 600'
    const written = await writeHere(t, line, server)
    assert.equal(written.document.items.acked, 100, written.stderr)
    const { code, answer } = await searched(
      t,
      [
        // So many consumers that a machine that stops them for seconds still has one for each fetch.
        ...['list', '--read', 'consumers=32,limit=10', '--within', '2..10', '--time', '60s'],
        ...['--slo', 'latency.p99<5s', '--slo', 'fetches.duration_ms.p50<60s'],
      ],
      at(server),
    )
    assert.deepEqual([code, answer.state, answer.find.low, answer.unit], [0, 'at-least', 10, 'fetches'])
    // 10 a second over 29 s.
    const { consumers, fetches } = answer.readers
    assert.deepEqual([consumers, fetches.failed, fetches.items_p50], [32, 0, 10])
    assert.ok(fetches.count > 200 && fetches.count <= 30 * 10, `${fetches.count} fetches`)
    const confirming = answer.seconds.filter((/** @type {any} */ { phase }) => phase === 'confirm')
    const offered = sumOf(confirming, 'items.offered')
    assert.ok(Math.abs(offered - 29 * 10) <= 1, `${offered} offered`)
  })
})
