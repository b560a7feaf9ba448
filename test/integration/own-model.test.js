// The worked examples of docs/reference/own-model.md on a real server: what is stored, read, verified and cleaned up.
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { remadeIn } from '../../lib/result/record.js'
import { runCommand } from '../helpers/command-here.js'
import { startHere, writeHere } from '../helpers/here.js'
import { commandsOf } from '../helpers/markdown.js'
import {
  assertDone,
  assertNoneLost,
  at,
  linesOf,
  oddIn,
  ownFolder,
  runProducer,
  startProgram,
  sumOf,
  until,
} from '../helpers/programs.js'
import { cli, startCluster, startServer } from '../helpers/servers.js'
import { columns } from '../helpers/table.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const example = (/** @type {string} */ name) => join(root, 'docs/examples', name)
const page = readFileSync(join(root, 'docs/reference/own-model.md'), 'utf8')
const sessions = ['--model', example('session-store.yaml')]

/** The options of a line that make the model. @param {string[]} words */
const commandsIn = (words) => words.flatMap((word, i) => (word === '--command' ? [word, words[i + 1]] : []))

describe('models of the user', { concurrency: 3 }, () => {
  test('a leaderboard by commands on the command line', async (t) => {
    const server = await startServer(t)
    const env = at(server)
    const line = commandsOf(page).find((words) => words.includes('--command'))
    const model = commandsIn(line ?? [])
    assert.equal(model.length, 6)
    const load = [...model, ...'-q 500 -c 5 -t 2 -a all --prefix game: -p 500 --intervals 2'.split(' ')]

    const startMs = performance.now()
    const written = await runProducer(t, load, { env, pages: true })
    assertDone(written)
    const { items, server: costs, plan } = written.document
    assert.equal(items.acked, 1000)
    assert.deepEqual(Object.keys(costs.commands).sort(), ['expire', 'setex', 'zadd'])
    assert.ok(costs.memory_bytes_per_item > 200, JSON.stringify(costs.memory_note))
    assert.match(plan.model.title, /^ZADD leaderboard/)
    assert.match(written.stdout, /own-zadd-setex-expire, (\d+ of )?1,000 items\/s/)
    assert.match(readFileSync(join(written.folder, 'report.html'), 'utf8'), /ZADD leaderboard/)

    assert.equal(await cli(server, 'ZCARD', 'game:leaderboard'), '500')
    assert.equal(await cli(server, 'ZCOUNT', 'game:leaderboard', '0', '1000000'), '500')
    assert.equal(await cli(server, 'STRLEN', 'game:player:500'), '128')
    const ttlS = Number(await cli(server, 'TTL', 'game:leaderboard'))
    const passedS = (performance.now() - startMs) / 1000
    assert.ok(ttlS <= 600 && ttlS >= Math.floor(600 - passedS), `${ttlS} s after ${passedS} s`)
    const best = await cli(server, 'ZREVRANGE', 'game:leaderboard', '0', '0', 'WITHSCORES')

    // Its keys are known to it and to others; written again, nothing changes.
    assertDone(await writeHere(t, load, { env }))
    assert.equal(await cli(server, 'ZREVRANGE', 'game:leaderboard', '0', '0', 'WITHSCORES'), best)
    assertDone(await writeHere(t, '-q 100 --prefix other: --intervals 1', { env }))
    await cli(server, 'SET', 'game:player:501', 'of another program')
    const cleaned = await runCommand(t, 'cleanup --prefix game: --yes', { env, out: false })
    assert.equal(await cli(server, 'KEYS', 'game:*'), 'game:player:501', cleaned.stderr)
  })

  test('a session store in YAML is read and verified', async (t) => {
    const server = await startServer(t)
    const env = at(server)
    const writer = startHere(t, 'write', [...sessions, ...'-q 400 -c 4 --ttl 60'.split(' ')], { env })
    await until('sessions', async () => (await cli(server, 'ZCARD', 'sessions')) === '400')
    assert.ok(Number(await cli(server, 'TTL', 'session:1')) <= 60)

    const reader = await startHere(t, 'read', [...sessions, ...'--verify --count --duration 1s'.split(' ')], {
      env,
    }).ended
    assertDone(reader)
    const { verify, uniqueness } = reader.document
    assert.ok(verify.checked >= 400, reader.stderr)
    assert.equal(verify.corrupt + verify.missing + verify.unexpected, 0)
    assert.ok(uniqueness.some((/** @type {any} */ row) => row.structure === 'ZCARD' && row.truth === 400))

    // Of processes of their own: this one knows the writer's model.
    const changed = join(ownFolder(t, 'model'), 'session-store.yaml')
    writeFileSync(changed, readFileSync(sessions[1], 'utf8').replace('{value}', '"{value}!"'))
    const refused = async (/** @type {string} */ more, /** @type {RegExp} */ words) => {
      const { code, stderr } = await startProgram(t, 'consumer.js', `--duration 1s ${more}`, { env }).ended
      assert.equal(code, 2, stderr)
      assert.match(stderr, words)
    }
    await Promise.all([
      refused('', /of the model 'session-store'.*add --model with its file/),
      refused(`--model ${changed}`, /^--model: session-store is not what is written there/m),
    ])

    writer.kill('SIGINT')
    const { code, document, stderr } = await writer.ended
    assert.equal(code, 130, stderr)
    // On a busy machine a tick may wait then, and is dropped.
    assertNoneLost(document.items)
    assert.ok(document.items.acked > 0)
  })

  test('a command that each item needs twice, and keys that it removes, are not taken for others', async (t) => {
    const server = await startServer(t)
    const lines = ['SET k:{n} {value}', 'SET old:{n} {value}', 'UNLINK old:{n}']
    const load = [...lines.flatMap((text) => ['--command', text]), ...'-q 1000 -c 4 --duration 1s'.split(' ')]
    const written = await writeHere(t, load, server)
    assertDone(written)
    const { share, foreign_calls: foreign, memory_bytes_per_item: memory } = written.document.server
    assert.deepEqual([share, foreign], [1, null])
    // There are two key patterns and one key an item: how many items the keys are is unknown.
    assert.equal(memory, null)
    assert.equal(await cli(server, 'EXISTS', 'k:7', 'old:7'), '1')
  })

  test('acknowledged items of a model are there, byte by byte', async (t) => {
    const server = await startServer(t)
    const env = at(server)
    const line = [...sessions, ...'-q 300 -p 500 --once --ttl 600 --intervals 2'.split(' ')]
    const once = await runCommand(t, ['write', ...line], { env })
    assertDone(once)
    const verify = (/** @type {string[]} */ ...options) =>
      runCommand(t, ['verify', once.folder, ...options], { env, out: false })
    const verified = await verify(...sessions)
    assert.equal(verified.code, 0, verified.stderr)
    assert.match(verified.stdout, /600 items acknowledged, 600 there byte by byte/)

    // A process of its own: this one knows the model.
    const blind = await startProgram(t, 'scripts/verify.js', once.folder, { env, out: false }).ended
    assert.equal(blind.code, 2)
    assert.match(blind.stderr, /it is of the model 'session-store'; add --model with its file/)

    await cli(server, 'SET', 'session:7', 'other bytes')
    await cli(server, 'ZREM', 'sessions', 'session:8')
    const broken = await verify(...sessions)
    assert.equal(broken.code, 4, broken.stderr)
    assert.match(broken.stdout, /2 lost.*1 corrupt, 1 unranked/)
  })

  for (const driver of ['socket', 'ioredis'])
    test(`what replies say is counted by the names of the model, with ${driver}`, async (t) => {
      const server = await startServer(t)
      const load = `--model ${example('visitors.yaml')} --rate 1000 --duration 1s --driver ${driver}`
      const limits = '--threshold replies.counts.first>49 --threshold replies.numbers.visits.max<10'
      const { code, document, folder, stdout, stderr } = await runCommand(
        t,
        `write ${load} ${limits}`,
        server,
      )
      // On a busy machine the rate may not be sustained, which outranks a limit.
      assert.deepEqual(oddIn(document), [])
      assert.equal(code, document.valid ? 99 : 4, stderr)
      const { replies, thresholds, measures, items } = document
      assert.equal(items.acked, 1000)
      assert.deepEqual(replies.counts, { first: 50, again: 950 })
      const visits = (await cli(server, 'ZRANGE', 'visits', '0', '-1', 'WITHSCORES')).split('\n')
      const scores = visits.flatMap((text, i) => (i % 2 === 1 ? [Number(text)] : []))
      const { count, mean, max } = replies.numbers.visits
      assert.deepEqual([count, max], [1000, Math.max(...scores)])
      // Each of a user's visits had a reply of its own: 1, 2, 3 and so on.
      assert.equal(
        Math.round(mean * 1000),
        scores.reduce((sum, n) => sum + (n * (n + 1)) / 2, 0),
      )
      assert.equal(columns(thresholds, 'passed'), 'true, false')
      assert.ok(measures.some((/** @type {any} */ { name }) => name === 'replies.numbers.visits.p99'))
      assert.match(stdout, /replies +first 50 \(5\.0 %\), again 950/)

      const lines = linesOf(join(folder, 'intervals.ndjson'))
      assert.equal(sumOf(lines, 'replies.counts.again'), 950)
      const text = readFileSync(join(folder, 'run.json'), 'utf8')
      rmSync(join(folder, 'run.json'))
      assert.equal(await remadeIn(folder), true)
      assert.equal(readFileSync(join(folder, 'run.json'), 'utf8'), text)
    })

  test('a rate limiter in JavaScript counts every request once', async (t) => {
    const server = await startServer(t)
    const env = at(server)
    const load = `--model ${example('rate-limiter.js')} -q 2000 -c 4 -p 500 --intervals 2`
    const written = await writeHere(t, load, { env })
    assertDone(written)
    assert.deepEqual(Object.keys(written.document.server.commands).sort(), ['expire', 'incr'])
    const sum = `local sum = 0 for _, key in ipairs(redis.call('KEYS', ARGV[1])) do sum = sum + redis.call('GET', key) end return sum`
    assert.equal(await cli(server, 'EVAL', sum, '0', 'limit:*'), '4000')
    const [key] = (await cli(server, 'KEYS', 'limit:999:*')).split('\n')
    assert.match(key, /^limit:999:\d{8}$/)
    assert.equal(await cli(server, 'TYPE', key), 'string')

    await cli(server, 'SET', 'limit:1000:29922930', 'of another program')
    const refused = await writeHere(t, load, { env })
    assert.equal(refused.code, 3, refused.stderr)
    assert.match(refused.stderr, /1 of 2,00\d, such as 'limit:1000:29922930' \(string\)|limit:1000:29922930/)
    assertDone(await runCommand(t, 'cleanup --yes', { env, out: false }))
    assert.equal(await cli(server, 'KEYS', '*'), 'limit:1000:29922930')
  })

  test('what a server lacks is named before anything is written', async (t) => {
    const server = await startServer(t)
    const line = ['--command', 'HSETEX h EX {ttl} FIELDS 1 f:{n} {value}', '--duration', '1s']
    const refused = await runCommand(t, ['write', ...line], server)
    if ((await cli(server, 'COMMAND', 'INFO', 'HSETEX')) === '') {
      assert.equal(refused.code, 3, refused.stderr)
      assert.match(refused.stderr, /has no command HSETEX, as the model own-hsetex needs$/m)
      assert.equal(await cli(server, 'DBSIZE'), '0')
    } else assertDone(refused)
  })

  test('keys of a model in a cluster are where their slots are, and are known on every master', async (t) => {
    const { nodes, access } = await startCluster(t, { replicas: 0 })
    const servers = nodes.map((node) => ({ ...node, ...access }))
    const env = at(servers[0])
    const line = [
      '--cluster',
      ...['--command', 'HSET h:{n}{{{writer}}} f {value}'],
      ...['--command', 'SADD s:{writer}{{{writer}}} {n}...'],
      ...['--command', 'RPUSH l:{random 1 50} {n}'],
      ...'-q 300 -t 3 -a all --prefix own: --duration 1s'.split(' '),
    ]
    const written = await writeHere(t, line, { env })
    assertDone(written)
    assert.equal(written.document.items.acked, 300)
    for (const { commands_per_s: perS, sampled_s: sampledS } of written.document.nodes)
      assert.ok(perS * sampledS > 50, JSON.stringify(written.document.nodes))
    assert.equal(written.document.nodes.length, 3)
    assertDone(await writeHere(t, '--cluster -q 100 --prefix other: --intervals 1', { env }))
    const cleaned = await runCommand(t, 'cleanup --cluster --prefix own: --yes', { env, out: false })
    assert.equal(cleaned.code, 0, cleaned.stderr)
    for (const server of servers) assert.equal(await cli(server, 'KEYS', 'own:*'), '')
  })
})
