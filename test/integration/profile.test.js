// Applications that know nothing of it are profiled, and what is replayed has the same profile. Shares, keys, bytes and
// memory are compared, which do not depend on how busy the machine is.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Redis } from 'ioredis'
import { advised } from '../../lib/answers/profile/advise.js'
import { asking } from '../../lib/answers/profile/collect.js'
import { readings } from '../../lib/answers/profile/readings.js'
import { adviceTable } from '../../lib/answers/profile/report.js'
import { parseInfo } from '../../lib/wire/info.js'
import { runCommand } from '../helpers/command-here.js'
import { bulk, startHostileServer } from '../helpers/hostile-server.js'
import { at, ownFolder, startProgram, until } from '../helpers/programs.js'
import { cli, startServer } from '../helpers/servers.js'
import { startApplication } from '../helpers/started-application.js'
import { columns } from '../helpers/table.js'

/** @import { TestContext } from 'node:test' */

/** @param {TestContext} t @param {any} server */
const profiled = async (t, server) => {
  const out = ownFolder(t, 'profile')
  const line = `profile --duration 5s --share 50% --json --out ${out}`
  const { code, stdout, stderr } = await runCommand(t, line, { env: at(server), out: false })
  assert.equal(code, 0, stderr)
  const [folder] = readdirSync(out)
  return { profile: JSON.parse(stdout), folder: join(out, folder) }
}

/** Shares of the commands about data, of how many, and bytes of a command. @param {any} profile */
const figuresOf = ({ commands, patterns, bytes_out_per_s: out, duration_s: seconds }) => {
  const data = commands.filter((/** @type {any} */ one) => one.is_data)
  const perS = data.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.per_s, 0)
  return {
    shares: Object.fromEntries(data.map((/** @type {any} */ one) => [one.name, one.per_s / perS])),
    ...{ bytesOut: out / perS, calls: perS * seconds },
    pattern: patterns.find((/** @type {any} */ { pattern }) => !pattern.startsWith('millrace')),
  }
}

/** Both are estimates of a sample, memory of 15 keys: intervals of 95 % that do not meet by half of their lengths are no chance. */
const areNear = (/** @type {any} */ a, /** @type {any} */ b) =>
  Math.abs(a.value - b.value) < 0.75 * (a.high - a.low + b.high - b.low)

describe('profiles of servers', { concurrency: 3 }, () => {
  for (const [name, command] of [
    ['page-cache', 'get'],
    ['cart', 'hgetall'],
  ])
    test(`the profile of a replayed ${name} is that of the application`, async (t) => {
      const server = await startServer(t)
      const child = await startApplication(t, name, server, 2000)
      const original = await profiled(t, server)
      child.kill()
      const other = await startServer(t)
      const line = `replay ${join(original.folder, 'workload.yaml')} --duration 10m --idle-cost never`
      // A process of its own: both workloads have one name.
      const replay = startProgram(t, 'lib/cli/millrace.js', line, other)
      // The load has begun, after the fill.
      await until('the load', async () => {
        const calls = new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(
          await other.redis.info('commandstats'),
        )
        return Number(calls?.[1]) > 1000
      })
      const replayed = await profiled(t, other)
      replay.kill('SIGINT')
      await replay.ended
      const [a, b] = [figuresOf(original.profile), figuresOf(replayed.profile)]
      // Both are of so many draws: four times what they differ by on average, and what the lives of a cache move.
      for (const [one, share] of Object.entries(a.shares)) {
        const chance = Math.sqrt(share * (1 - share) * (1 / a.calls + 1 / b.calls))
        const off = Math.abs(share - (b.shares[one] ?? 0))
        assert.ok(
          off < 0.01 + 4 * chance,
          `${one}: ${share} and ${b.shares[one]}, of ${a.calls} and ${b.calls}`,
        )
      }
      for (const figure of ['memory_of_key', 'size'])
        assert.ok(areNear(a.pattern[figure], b.pattern[figure]), `${figure}: ${JSON.stringify([a, b])}`)
      assert.equal(b.pattern.type, a.pattern.type)
      // Where sizes go with popularity, the profile has said so, by the keys that it looked at.
      const said = original.profile.workload.reply_bytes
      const fewest = Math.min(a.pattern.sampled, b.pattern.sampled)
      const off = Math.abs(b.bytesOut / a.bytesOut / said - 1)
      assert.ok(off < 0.15 + 1.5 / Math.sqrt(fewest), JSON.stringify([said, a, b]))
    })

  test('a hostile keyspace is shown as text, no value is read, and nothing is asked that looks at all keys', async (t) => {
    const server = await startServer(t)
    await cli(
      server,
      'EVAL',
      "redis.call('SET', '\\27[31mred\\0\\255', 'secret') for i = 1, 300 do redis.call('SET', 'u:' .. string.char(97 + i % 26, 97 + i / 26) .. ':x', 'secret') end",
      '0',
    )
    await cli(server, 'SETRANGE', 'huge', String(2 ** 26), 'x')
    const { profile, folder } = await profiled(t, server)
    assert.equal(profile.keys, 302)
    const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))
    for (const text of files) {
      assert.doesNotMatch(text, /secret/)
      assert.ok(![...text].some((letter) => letter === '\x1b' || letter === '\0'))
    }
    const asked = await cli(server, 'INFO', 'commandstats')
    assert.doesNotMatch(asked, /cmdstat_(keys|monitor|get|config\|get|dump|getrange|hgetall):/)
    assert.ok(profile.own.cpu_share < 0.05)
  })
})

/** @param {any} value @returns {string} */
const resp = (value) =>
  value === null
    ? '*-1\r\n'
    : typeof value === 'number'
      ? `:${value}\r\n`
      : Array.isArray(value)
        ? `*${value.length}\r\n${value.map(resp).join('')}`
        : bulk(value)

/**
 * What a profile makes of a server's HOTKEYS, and what it sent.
 * @param {TestContext} t
 * @param {(args: string[], asked: string[]) => string} answer to HOTKEYS
 */
const hotKeysOf = async (t, answer) => {
  /** @type {string[]} */
  const asked = []
  const port = await startHostileServer(t, ([name, ...args]) => {
    if (/^(LATENCY|SLOWLOG|COMMANDLOG)$/.test(name)) return "-ERR unknown command 'it'\r\n"
    if (name !== 'HOTKEYS') return undefined
    asked.push(args.join(' '))
    return answer(args, asked)
  })
  const client = new Redis({ port, host: '127.0.0.1', enableReadyCheck: false })
  t.after(() => client.disconnect())
  const reading = readings(asking([{ address: 'it', client }]), { durationMs: 60_000 })
  const infos = [parseInfo('connected_clients:1')]
  await reading.begin(infos)
  const [{ hot }] = await reading.end(infos)
  return { hot, asked, remarks: [...reading.remarks] }
}

/** Redis 8.6's answer. @param {number} started @param {number} active */
const tracked = (started, active) =>
  resp([
    [
      ...['tracking-active', active, 'sample-ratio', 10, 'selected-slots', [[0, 16383]]],
      ...['all-commands-all-slots-us', 5000, 'net-bytes-all-commands-all-slots', 90_000],
      ...['collection-start-time-unix-ms', started, 'collection-duration-ms', 6000],
      ...['total-cpu-time-user-ms', 50, 'total-cpu-time-sys-ms', 5, 'total-net-bytes', 8000],
      ...['by-cpu-time-us', ['cart:1', 100, 'cart:2', 50], 'by-net-bytes', ['cart:1', 900]],
    ],
  ])

test('a session of HOTKEYS is begun for a tenth of the time, and ended; a sample is scaled', async (t) => {
  const started = { isOn: false }
  const { hot, asked, remarks } = await hotKeysOf(t, ([sub]) => {
    if (sub === 'START') started.isOn = true
    return sub === 'GET' ? (started.isOn ? tracked(77, 1) : resp(null)) : '+OK\r\n'
  })
  const start = 'START METRICS 2 CPU NET COUNT 16 DURATION 6 SAMPLE 10'
  assert.equal(asked.join(), `GET,${start},GET,GET,STOP,RESET`)
  assert.equal(columns(hot?.keys ?? [], 'key', 'us', 'bytes'), 'cart:1 1000 9000, cart:2 500 0')
  assert.deepEqual([hot?.us, hot?.seconds, remarks], [5000, 6, []])
})

for (const active of [0, 1])
  test(`a session of HOTKEYS that is another's (active: ${active}) is left alone`, async (t) => {
    const { hot, asked, remarks } = await hotKeysOf(t, () => tracked(5, active))
    assert.deepEqual([hot, asked], [null, ['GET']])
    assert.deepEqual(remarks, ['hot keys are left out: another session tracks them'])
  })

test('a session of HOTKEYS that took the place of ours is not ended', async (t) => {
  const { hot, asked, remarks } = await hotKeysOf(t, ([sub], all) =>
    sub === 'GET' ? (all.length === 1 ? resp(null) : tracked(all.length, 1)) : '+OK\r\n',
  )
  assert.equal(hot, null)
  assert.ok(!asked.includes('STOP') && !asked.includes('RESET'))
  assert.deepEqual(remarks, ['hot keys are left out: another session replaced ours'])
})

test('HOTKEYS of Valkey is read, and never reset', async (t) => {
  const { hot, asked } = await hotKeysOf(t, () => resp([['key', 'cart:1', 'db', 0, 'qps', 250]]))
  assert.deepEqual(asked, ['GET', 'GET'])
  assert.equal(columns(hot?.keys ?? [], 'key', 'perS'), 'cart:1 250')
  const off = await hotKeysOf(t, () => '-ERR Hotkey detection is disabled\r\n')
  assert.deepEqual([off.hot, off.asked], [null, ['GET']])
})

const exactly = (/** @type {number} */ value) => ({ value, low: value, high: value })
/** @param {object} about @returns {any} */
const patternWith = (about) => ({
  ...{ pattern: 'p:{n}', name_bytes: 10, type: 'string', expiring: 0, left_s: { most: null }, encodings: {} },
  keys: exactly(5000),
  memory_of_key: null,
  memory_bytes: null,
  ...about,
})

test('small strings are advised to be in hashes, with a figure; large ones are not', async (t) => {
  const { redis } = await startServer(t)
  const patterns = [
    patternWith({ pattern: 'small:{n}', size: exactly(12) }),
    patternWith({ pattern: 'large:{n}', size: exactly(8000) }),
    // Of these no hash can be made, and of that no play has several.
    patternWith({ pattern: 'config', size: exactly(12), keys: exactly(1) }),
    patternWith({ type: 'zset', encodings: { skiplist: 1 }, size: exactly(1e6) }),
  ]
  const lines = /** @type {string[]} */ ([])
  const stop = new AbortController()
  const { advice, silent } = await advised(
    { patterns },
    { client: redis, stop: stop.signal, say: (line) => lines.push(line) },
  )
  const [small] = advice
  assert.equal(small.pattern, 'small:{n}')
  assert.ok(small.memory_bytes.is_cheaper && small.memory_bytes.change.high < -0.3)
  assert.ok(small.memory_bytes.other < small.memory_bytes.now && small.cpu_us.now > 0)
  // Its memory surely does not fall by what matters; CPU is the machine's to say.
  for (const one of advice.slice(1)) assert.ok(!one.memory_bytes.is_cheaper)
  assert.equal(lines.length, 2)
  assert.equal(advice.length + silent.length, 2)
  const table = adviceTable({ advice: [small], silent: [], plays: 1 }).onPage()
  assert.match(table.rows[0][1].text, /^[\d.]+ B to [\d.]+ B: −[\d.]+ %$/)
  assert.match(String(table.rows[0][1].detail), /^−[\d.]+ % to −[\d.]+ %$/)

  stop.abort()
  const none = await advised({ patterns }, { client: redis, stop: stop.signal })
  assert.deepEqual([none.advice, none.silent], [[], []])
  assert.match(String(adviceTable(none).onPage().note), /^Nothing that was played/)
})

test('one large sorted set is advised to be on several shards, with what the busiest has', async (t) => {
  const { redis } = await startServer(t)
  const board = { pattern: 'board', type: 'zset', encodings: { skiplist: 1 }, size: exactly(50_000) }
  const { advice } = await advised(
    { patterns: [patternWith({ ...board, keys: exactly(1) })] },
    { client: redis, stop: new AbortController().signal },
  )
  assert.match(advice[0].title, /3 shards/)
  const { low, high } = advice[0].memory_bytes.change
  assert.ok(low > -0.75 && high < -0.55, JSON.stringify(advice))
  assert.ok(advice[0].cpu_us.change.value < 0)
})
