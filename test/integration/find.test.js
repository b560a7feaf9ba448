// `millrace find` as a user starts it: on a terminal, with readers beside it, and on the boxes of a fleet.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startReaders } from '../../lib/cli/find-readers.js'
import { settingsOfRun } from '../../lib/cli/run-options.js'
import { run } from '../../lib/index.js'
import { openTarget } from '../../lib/servers/open.js'
import { testEnvironment } from '../../scripts/test.js'
import { ownFolder, until } from '../helpers/programs.js'
import { searched } from '../helpers/searched.js'
import { callsOf, cli, startServer } from '../helpers/servers.js'

/**
 * @import { TestContext } from 'node:test'
 * @import { AddressInfo } from 'node:net'
 */

const program = fileURLToPath(new URL('../../lib/cli/millrace.js', import.meta.url))

/** On a terminal, as script(1) gives it one. @param {import('node:test').TestContext} t @param {string} line @param {string} answer */
const asked = async (t, line, answer) => {
  const child = spawn('script', ['-qec', `node ${program} find ${line}`, '/dev/null'], {
    env: { ...testEnvironment(process.env), XDG_RUNTIME_DIR: ownFolder(t, answer) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  let seen = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    seen += text
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  await until('the question', () => seen.includes('Type yes to go on: '))
  child.stdin.write(`${answer}\r`)
  return { code: await ended, seen }
}

describe('searches as a user starts them', { concurrency: 2 }, () => {
  test('on a terminal the user confirms that servers which are not local are overloaded', async (t) => {
    // No server answers there.
    const silent = createServer((socket) => socket.destroy())
    await new Promise((resolve) => silent.listen(0, () => resolve(undefined)))
    t.after(() => silent.close())
    const { port } = /** @type {import('node:net').AddressInfo} */ (silent.address())
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
    const needs = { settings, target, model: ['--strategy', 'list'], stop: new AbortController().signal }
    const start = (/** @type {string[]} */ words, /** @type {(why: string) => void} */ onGone) =>
      startReaders({ ...needs, words, folder: ownFolder(t, words[0].slice(2, 9)), onGone })
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
    const searchOf = async (/** @type {string} */ limit) => {
      const { host, port, password } = await startServer(t)
      return searched(
        t,
        [
          ...['list', '--within', '100..400', '--items', '1000', '--time', '60s', '--slo', 'latency.p99<5s'],
          ...['--with-read', 'consumers=2,fetch-rate=20', '--slo', limit],
          ...['--host', host, '--port', String(port)],
        ],
        { REDIS_PASSWORD: password },
      )
    }
    const [kept, missed] = await Promise.all([
      searchOf('fetches.duration_ms.p50<60s'),
      searchOf('fetches.duration_ms.p50<1us'),
    ])
    const { state, find, readers, confirmed } = kept.answer
    assert.deepEqual(
      [kept.code, state, find.low, confirmed.rate],
      [4, 'at-least', 400, 400],
      kept.answer.sentence,
    )
    assert.deepEqual([readers.consumers, readers.fetches.failed], [2, 0])
    // About 20 a second over those 29 s.
    assert.ok(readers.fetches.count > 200 && readers.fetches.items_p50 > 0, JSON.stringify(readers))
    assert.deepEqual([missed.code, missed.answer.state, missed.answer.find.low], [4, 'none', null])
    assert.match(
      missed.answer.sentence,
      /^none: at the highest rate whose seconds pass, fetches\.duration_ms\.p50<1us fails$/,
    )
  })

  test('the rate of jobs is searched beside workers: no more than they can do, by their own account and the server’s', async (t) => {
    const server = await startServer(t)
    const { code, answer } = await searched(
      t,
      [
        ...['queue-list', '--slo', 'latency.p99<2s', '--time', '60s', '--within', '50..5000'],
        // Each worker sleeps 2 ms for a job: two do at most 1,000 a second.
        ...['--with-read', 'workers=2,work=sleep:2ms', '--slo', 'waiting.p99<60s'],
        ...['--host', server.host, '--port', String(server.port)],
      ],
      { REDIS_PASSWORD: server.password },
    )
    const { state, find, readers, unit, seconds, sentence } = answer
    assert.ok([0, 4, 98].includes(code) && unit === 'jobs', sentence)
    // Half a minute and the 1,000 that may wait.
    if (state === 'found') assert.ok(find.low <= 1000 + 1000 / 20, sentence)
    assert.deepEqual(readers.workers, 2)
    assert.ok(readers.jobs.done > 0 && readers.waiting_us.p50 > 0, JSON.stringify(readers))
    // What the queue had no room for has failed its second.
    const full = seconds.filter((/** @type {any} */ { items }) => items.failed > 0)
    assert.ok(full.length > 0 && full.every((/** @type {any} */ { passed }) => !passed))
    assert.ok(Number(await cli(server, 'LLEN', '{jobs}:list')) <= 1000)
    const acked = seconds.reduce(
      (/** @type {number} */ sum, /** @type {any} */ { items }) => sum + items.acked,
      0,
    )
    assert.ok((await callsOf(server, 'lpush')) >= acked)
  })

  test('the rate of fetches is searched: of what was written before', async (t) => {
    const { host, port, password } = await startServer(t)
    const at = { host, port, password }
    await run({
      ...at,
      strategy: 'list',
      items: 1000,
      rate: 1000,
      duration: '2s',
      ttl: '600',
      idleCost: 'never',
    })
    const { code, answer } = await searched(
      t,
      [
        ...['list', '--read', 'consumers=8,limit=100', '--within', '10..40', '--time', '60s'],
        ...['--slo', 'latency.p99<5s', '--slo', 'fetches.duration_ms.p50<60s'],
        ...['--host', host, '--port', String(port)],
      ],
      { REDIS_PASSWORD: password },
    )
    assert.deepEqual([code, answer.state, answer.find.low, answer.unit], [4, 'at-least', 40, 'fetches'])
    // 40 a second over 29 s.
    const { consumers, fetches } = answer.readers
    assert.deepEqual([consumers, fetches.failed, fetches.items_p50], [8, 0, 100])
    assert.ok(fetches.count > 800 && fetches.count <= 30 * 40, `${fetches.count} fetches`)
    const confirming = answer.seconds.filter((/** @type {any} */ { phase }) => phase === 'confirm')
    const offered = confirming.reduce(
      (/** @type {number} */ sum, /** @type {any} */ { items }) => sum + items.offered,
      0,
    )
    assert.ok(Math.abs(offered - 29 * 40) <= 1, `${offered} offered`)
  })

  test('bench:find refuses a bad argument in one line, with exit code 2', () => {
    const bench = fileURLToPath(new URL('../../scripts/bench-find.js', import.meta.url))
    for (const [line, why] of [
      ['', /^a kind is missing: simulated, compared, virtual or real\n$/],
      ['7', /^'7': simulated, compared, virtual or real\n$/],
      ['simulated none', /^SEARCHES none: must be a whole number from 1 to 10000\n$/],
      ['simulated 1 flat', /^no target is called 'flat': steep, [^\n]+\n$/],
      ['virtual 1 60 0', /^LIMIT_MS 0: must be a whole number from 2 to 1000\n$/],
      ['real 1 2 60 1 5', /^'5' is too much \(--help\)\n$/],
    ]) {
      const words = String(line).split(' ').filter(Boolean)
      const { status, stdout, stderr } = spawnSync(process.execPath, [bench, ...words], { encoding: 'utf8' })
      assert.deepEqual([status, stdout], [2, ''], `${line}: ${stderr}`)
      assert.match(stderr, /** @type {RegExp} */ (why))
    }
  })
})
