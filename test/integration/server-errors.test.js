// What a server may refuse while a writer is at work: each ends in a counted cause and in a sentence with advice,
// and the accounting closes. Every one is provoked on a real server.
import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Redis } from 'ioredis'
import { TargetError } from '../../lib/base/errors.js'
import { connectLibrary } from '../../lib/transport/library.js'
import { runCommand } from '../helpers/command-here.js'
import { startHere } from '../helpers/here.js'
import { at, faultsIn, laterSecond, outcomesOf, until, warningIn } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

/**
 * @import { Scope, TestServer } from '../helpers/servers.js'
 * @import { Run as Program } from '../helpers/here.js'
 * @import { TestContext } from 'node:test'
 *
 * @typedef {object} Case
 * @property {string} name
 * @property {string} [load] of the writer
 * @property {string} [line] further options of the writer
 * @property {boolean} [anonymous] the writer has no password
 * @property {Record<string, string | string[]>} [config] of the server
 * @property {(server: TestServer) => Promise<unknown>} [prepare]
 * @property {(server: TestServer, t: Scope) => unknown} [provoke] when each writer has been at work for a second
 * @property {(server: TestServer, program: Program) => unknown} [met] until a writer has met it; else: until a second of it counts the cause
 * @property {(server: TestServer) => Promise<unknown>} [mend] when each has: a writer is stopped when items are stored again
 * @property {readonly string[]} [drivers] of the writers, which share the server; else: both
 * @property {boolean} [apart] each writer has a server of its own
 * @property {string} [cause]
 * @property {'failed_by' | 'repeated_by'} [counted] where the cause is
 * @property {RegExp} [advice]
 * @property {number} code 0 or 4: what the exit code would be, had the writer not been stopped
 * @property {(document: any, server: TestServer) => Promise<void> | void} [check]
 */

const bothDrivers = ['socket', 'ioredis']
/** Items fail with a cause, which the advice is about, and the run is not valid. @param {string} cause @param {RegExp} advice */
const failing = (cause, advice) => ({ cause, counted: /** @type {const} */ ('failed_by'), advice, code: 4 })
/** They are retried, and stored in the end. @param {string} cause @param {RegExp} advice */
const retried = (cause, advice) => ({ cause, counted: /** @type {const} */ ('repeated_by'), advice, code: 0 })

/** The keys of a writer. @param {string} driver */
const prefixOf = (driver) => `${driver}:`

/** Items of a writer that wait. @param {Program} program */
const waitingOf = (program) =>
  program.intervals().reduce((sum, { items }) => sum + items.offered - outcomesOf(items), 0)
const dropped = (/** @type {TestServer} */ _, /** @type {Program} */ program) =>
  laterSecond(program, ({ items }) => items.dropped > 0)

/** @param {TestServer} server @param {string} section @param {RegExp} pattern */
const told = async ({ redis }, section, pattern) => pattern.exec(await redis.info(section))

const cutConnections = (/** @type {TestServer} */ { redis }) =>
  redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')

/** A replica of a server that was not checked would end the run. @param {TestServer} server */
const replicateItself = ({ redis, host, port }) => redis.call('REPLICAOF', host, port)

/** Another client's script that never ends. @param {TestServer} server @param {Scope} t */
const runForEver = async ({ redis }, t) => {
  const other = redis.duplicate()
  t.after(() => other.disconnect())
  other.on('error', () => {})
  other.call('EVAL', 'while true do end', 0).catch(() => {})
}

/** Stops the saving of snapshots. @param {TestServer} server */
const breakSnapshots = async (server) => {
  rmSync(join(server.dir, 'server'), { recursive: true })
  await server.redis.config('SET', 'save', '3600 1')
  await server.redis.call('BGSAVE')
  await until('a failed snapshot', () => told(server, 'persistence', /rdb_last_bgsave_status:err/))
}

/** @type {Case[]} */
const cases = [
  // First, since it takes the longest. Stopped, a server is as silent as one that a script blocks, and takes no CPU.
  {
    name: 'a server that falls silent',
    line: '--max-behind 2s',
    provoke: ({ pid }) => process.kill(pid, 'SIGSTOP'),
    // What a library was given is uncertain after eight seconds, and an interrupted run waits for another three.
    met: (_, program) => {
      const seen = program.intervals().length
      return until('seconds of silence', () => program.intervals().length > seen + 8)
    },
    code: 4,
    check: ({ items, warnings, plan }) => {
      // What a client library has not answered when the run is over is uncertain; what sockets wait for is unsettled.
      const [open, code, advice] =
        plan.driver === 'socket'
          ? [items.unsettled, 'unsettled', /see which node stopped answering/]
          : [items.failed_by.UNANSWERED, 'uncertain', /^[\d,]+ of [\d,]+ items are uncertain/]
      assert.ok(open > 0, JSON.stringify(items))
      assert.match(warnings.find((/** @type {any} */ warning) => warning.code === code).message, advice)
    },
  },
  {
    name: 'OOM with noeviction',
    provoke: ({ redis }) => redis.config('SET', 'maxmemory', '1mb'),
    mend: ({ redis }) => redis.config('SET', 'maxmemory', '0'),
    ...failing('OOM', /raise maxmemory/),
  },
  {
    name: 'evictions',
    line: '--once --ttl 600',
    config: { 'maxmemory-policy': 'allkeys-lru' },
    provoke: async (server) => {
      const used = await told(server, 'memory', /used_memory:(\d+)/)
      await server.redis.config('SET', 'maxmemory', String(used?.[1]))
    },
    met: (_, program) =>
      laterSecond(program, ({ nodes }) => nodes.some((/** @type {any} */ { evicted }) => evicted > 0)),
    code: 4,
    check: async ({ warnings, server: { evicted } }, server) => {
      const warning = warningIn({ warnings }, 'evictions')
      assert.match(
        warning.message,
        new RegExp(`^${evicted.toLocaleString('en')} keys evicted.*raise maxmemory`),
      )
      const counted = Number((await told(server, 'stats', /evicted_keys:(\d+)/))?.[1])
      assert.ok(evicted > 0 && evicted <= counted, `${evicted} of ${counted}`)
    },
  },
  {
    name: 'LOADING',
    config: {
      'enable-debug-command': 'yes',
      'key-load-delay': '1000',
      'loading-process-events-interval-bytes': '1024',
    },
    prepare: ({ redis }) => redis.call('DEBUG', 'POPULATE', 3000, 'foreign'),
    provoke: async ({ redis }) => void redis.call('DEBUG', 'RELOAD').catch(() => {}),
    ...retried('LOADING', /wait until it is ready/),
  },
  {
    name: 'READONLY',
    provoke: replicateItself,
    mend: ({ redis }) => redis.call('REPLICAOF', 'NO', 'ONE'),
    ...retried('READONLY', /name a master/),
  },
  {
    name: 'READONLY to the end',
    line: '--max-behind 500ms',
    provoke: replicateItself,
    ...failing('READONLY', /name a master/),
  },
  {
    name: "BUSY with another client's script",
    config: { 'lua-time-limit': '100' },
    provoke: runForEver,
    mend: ({ redis }) => redis.call('SCRIPT', 'KILL'),
    ...retried('BUSY', /SCRIPT KILL/),
  },
  {
    name: 'BUSY to the end',
    line: '--max-behind 500ms',
    config: { 'lua-time-limit': '100' },
    provoke: runForEver,
    ...failing('BUSY', /SCRIPT KILL/),
  },
  {
    name: 'WRONGPASS',
    line: '--max-behind 500ms',
    provoke: async (server) => {
      await server.redis.config('SET', 'requirepass', 'another')
      await cutConnections(server)
    },
    met: dropped,
    ...retried('WRONGPASS', /correct --username and --password/),
    code: 4,
  },
  {
    name: 'NOAUTH',
    line: '--max-behind 500ms',
    anonymous: true,
    prepare: ({ redis }) => redis.call('ACL', 'SETUSER', 'default', 'nopass'),
    provoke: async (server) => {
      await server.redis.call('ACL', 'SETUSER', 'default', 'resetpass', '>another')
      await cutConnections(server)
    },
    met: dropped,
    ...retried('NOAUTH', /wants a password/),
    code: 4,
  },
  {
    name: 'NOPERM',
    provoke: ({ redis }) => redis.call('ACL', 'SETUSER', 'default', '-setex'),
    mend: ({ redis }) => redis.call('ACL', 'SETUSER', 'default', '+setex'),
    ...failing('NOPERM', /extend its ACL/),
  },
  {
    name: 'MISCONF',
    provoke: breakSnapshots,
    mend: ({ redis }) => redis.config('SET', 'stop-writes-on-bgsave-error', 'no'),
    ...failing('MISCONF', /mend its disk or its save setting/),
  },
  {
    name: 'no more clients',
    provoke: async (server) => {
      await server.redis.config('SET', 'maxclients', '1')
      await cutConnections(server)
    },
    met: (server) =>
      until(
        'refused connections',
        async () => Number((await told(server, 'stats', /rejected_connections:(\d+)/))?.[1]) > 8,
      ),
    mend: ({ redis }) => redis.config('SET', 'maxclients', '1000'),
    // ioredis sees the closed connection before the words.
    drivers: ['socket'],
    ...retried('ERR max clients', /raise maxclients/),
    check: ({ events }) =>
      assert.match(
        events.map((/** @type {any} */ { kind }) => kind).join(' '),
        /^disconnected (disconnected |reconnected )*reconnected$/,
      ),
  },
  {
    // Answers to one read of the server must pass its 16 kB a client: many small commands, each with a long answer.
    name: 'an output buffer over its limit',
    apart: true,
    load: '-q 1000 -c 1 --value-size 1',
    provoke: async (server) => {
      const { redis } = server
      const batches = async () =>
        Number((await told(server, 'commandstats', /cmdstat_zadd:calls=(\d+)/))?.[1] ?? 0)
      await redis.config('SET', 'client-output-buffer-limit', 'normal 1 0 0')
      // The next batch is refused whole: of one under way only the last command may be left, and its answer is short.
      const before = await batches()
      await until('the end of a batch', async () => (await batches()) > before)
      await replicateItself(server)
    },
    met: ({ dir }) => {
      const log = join(dir, 'server', 'server.log')
      // One that writes: a long answer to INFO may be over the limit first.
      const closed = () =>
        /cmd=(setex|zadd) .*overcoming of output buffer limits/.test(readFileSync(log, 'utf8'))
      return until('a connection closed for its output', closed)
    },
    mend: async (server) => {
      await server.redis.config('SET', 'client-output-buffer-limit', 'normal 0 0 0')
      await server.redis.call('REPLICAOF', 'NO', 'ONE')
    },
    ...retried('CLOSED', /client-output-buffer-limit/),
    check: ({ events }) => {
      const lost = events.filter((/** @type {any} */ { kind }) => kind === 'disconnected')
      assert.match(lost[0].text, /closed the connection|ECONNRESET|EPIPE/)
    },
  },
  {
    name: 'WRONGTYPE at a key of ours',
    provoke: ({ redis }) =>
      redis.mset(bothDrivers.flatMap((driver) => [`${prefixOf(driver)}latest-ids`, 'not a sorted set'])),
    mend: ({ redis }) => redis.del(bothDrivers.map((driver) => `${prefixOf(driver)}latest-ids`)),
    ...failing('WRONGTYPE', /choose another --prefix/),
  },
  ...['--sk', '--ws'].map((line) => ({
    name: `SCRIPT FLUSH under ${line}`,
    line: `${line} --ttl 60`,
    // A script that one writer loads again is there for the other too.
    apart: true,
    provoke: (/** @type {TestServer} */ { redis }) => redis.script('FLUSH'),
    ...retried('NOSCRIPT', /keep others from flushing/),
    check: async (/** @type {any} */ { plan }, /** @type {TestServer} */ { redis }) => {
      const prefix = prefixOf(plan.driver)
      assert.equal(await redis.zcard(`${prefix}latest-ids`), 300)
      const items = Array.from({ length: 300 }, (_, i) => `${prefix}item:${i + 1}`)
      assert.equal(await redis.exists(items), 300)
    },
  })),
  { name: 'a server that speaks RESP2 only', config: { 'rename-command': ['HELLO', ''] }, code: 0 },
]

/** A server, and the runs that have met it. @param {TestContext} t @param {Case} each */
const provoked = async (t, each) => {
  const { load = '-q 300 -c 2', line = '--max-behind 60s', drivers = bothDrivers } = each
  const { prepare, provoke, met, mend, cause, counted, code, anonymous, config } = each
  const server = await startServer(t, { config })
  await prepare?.(server)
  const env = at(anonymous ? { ...server, password: '' } : server)
  const programs = drivers.map((driver) => {
    const own = `--driver ${driver} --prefix ${prefixOf(driver)} ${load} ${line}`
    const usual = '--warm-up 0 --duration 10m --guard off --allow memory,foreign-keys'
    return startHere(t, 'write', `${own} ${usual}`, { env })
  })
  const ofEach = (/** @type {(program: Program) => unknown} */ wait) => Promise.all(programs.map(wait))
  await ofEach((program) => until('the writer is at work', () => program.intervals().length > 0))
  await provoke?.(server, t)
  await ofEach((program) => {
    if (met) return met(server, program)
    if (counted === 'repeated_by') return program.says(new RegExp(`which are retried: .*${cause}`))
    if (counted) return laterSecond(program, ({ items }) => items.failed > 0)
  })
  await mend?.(server)
  // Nothing waits any more, which a writer that is stopped would drop.
  if (mend || code === 0)
    await ofEach((program) =>
      laterSecond(program, ({ items }) => items.acked > 0 && waitingOf(program) === 0),
    )
  for (const program of programs) program.kill('SIGINT')
  return { server, runs: await Promise.all(programs.map(({ ended }) => ended)) }
}

/** @param {any} document */
const assertAccounts = ({ items }) => {
  assert.equal(outcomesOf(items), items.offered)
  const lost = Object.values(items.failed_by).reduce((sum, n) => sum + n, 0)
  assert.equal(lost, items.failed + items.uncertain)
}

describe('errors of the server', { concurrency: 4 }, () => {
  for (const each of cases.flatMap((one) =>
    one.apart ? bothDrivers.map((driver) => ({ ...one, drivers: [driver] })) : [one],
  ))
    test(`${each.name}, ${(each.drivers ?? bothDrivers).join(' and ')}`, async (t) => {
      const { server, runs } = await provoked(t, each)
      for (const { code, document, stderr } of runs) {
        assert.ok(document, stderr)
        assertAccounts(document)
        const { items, commands, warnings, plan } = document
        const all = JSON.stringify({ driver: plan.driver, items, commands, warnings })
        assert.equal(code, 130, all)
        assert.equal(faultsIn(document).length > 0, each.code === 4, all)
        if (each.code === 0) assert.equal(items.acked, items.offered, all)
        if (each.cause !== undefined) {
          const counts = each.counted === 'failed_by' ? items.failed_by : commands.repeated_by
          assert.ok(counts[each.cause] > 0, all)
          const sentence = warnings.find((/** @type {any} */ warning) => warning.cause === each.cause)
          assert.match(sentence.message, /** @type {RegExp} */ (each.advice))
        }
        await each.check?.(document, server)
      }
    })
})

/** What a writer is told that comes to a server which cannot take it: nothing is written, exit 3, one line. */
/** @type {[what: string, (server: TestServer, t: Scope) => Promise<unknown>, RegExp, string?, string?][]} */
const closedDoors = [
  [
    'a user who may not ask INFO',
    ({ redis }) => redis.call('ACL', 'SETUSER', 'other', 'on', '>secret', '~*', '+@all', '-info'),
    /^127\.0\.0\.1:\d+: the user lacks rights; extend its ACL \(NOPERM .*info/,
    'secret',
    '--username other',
  ],
  [
    'a user without rights',
    ({ redis }) => redis.call('ACL', 'SETUSER', 'other', 'on', '>secret', '~*', '+@all', '-set'),
    /SET.*extend its ACL \(NOPERM/,
    'secret',
    '--username other',
  ],
  ['no more memory', ({ redis }) => redis.config('SET', 'maxmemory', '1mb'), /SET.*raise maxmemory \(OOM/],
  ['failed snapshots', breakSnapshots, /SET.*mend its disk or its save setting \(MISCONF/],
  ['no more clients', ({ redis }) => redis.config('SET', 'maxclients', '1'), /maxclients/],
  [
    'a script',
    async (server, t) => {
      await server.redis.config('SET', 'lua-time-limit', '50')
      await runForEver(server, t)
      await until('BUSY', () =>
        server.redis.ping().then(
          () => false,
          () => true,
        ),
      )
    },
    /a script blocks it; end it with SCRIPT KILL \(BUSY/,
  ],
]

describe('a server that cannot be used', { concurrency: 6 }, () => {
  for (const [name, close, line, password, more = ''] of closedDoors) {
    test(name, async (t) => {
      const server = await startServer(t)
      await close(server, t)
      const env = at(password === undefined ? server : { ...server, password })
      const { ended } = startHere(t, 'write', `-q 100 --duration 1 --guard off --allow memory ${more}`, {
        env,
      })
      const { code, stdout, stderr, refusal } = await ended
      assert.equal(code, 3, stderr)
      assert.match(refusal, line)
      assert.doesNotMatch(refusal, /\n/)
      assert.equal(stdout, '')
    })
  }
})

test('a server that is loading at the start is waited for, told in one line', async (t) => {
  const keys = 30_000
  const server = await startServer(t, {
    config: { 'enable-debug-command': 'yes', 'loading-process-events-interval-bytes': '1024' },
  })
  await server.redis.call('DEBUG', 'POPULATE', keys, 'foreign')
  // A minute, if nobody hurries it.
  await server.redis.config('SET', 'key-load-delay', '2000')
  server.redis.call('DEBUG', 'RELOAD').catch(() => {})
  const other = server.redis.duplicate({ enableReadyCheck: false })
  t.after(() => other.disconnect())
  await until('it loads', () => told({ ...server, redis: other }, 'persistence', /^loading:1/m))
  const writer = startHere(t, 'write', '-q 100 -p 200 --intervals 2 --allow foreign-keys', server)
  const early = startHere(t, 'write', '-q 100', server)
  await Promise.all([writer.says(/is loading its data/), early.says(/is loading its data/)])
  early.kill('SIGINT')
  const interrupted = await early.ended
  assert.equal(interrupted.code, 130, interrupted.stderr)
  assert.ok(await told({ ...server, redis: other }, 'persistence', /^loading:1/m))
  await other.config('SET', 'key-load-delay', '0')
  const { code, document, stderr } = await writer.ended
  assert.ok(document, stderr)
  assert.equal(code, document.valid ? 0 : 4, stderr)
  assert.equal(document.items.acked, document.items.offered)
  const lines = stderr.split('\n').filter(Boolean)
  assert.ok(
    lines.every((line) => line.startsWith('{')),
    stderr,
  )
  const waits = lines.map((line) => JSON.parse(line).msg).filter((text) => /is loading its data/.test(text))
  assert.equal(waits.length, 1, stderr)
  assert.match(waits[0], /^127\.0\.0\.1:\d+ is loading its data \(\d+ %.*\): waiting for it$/)
})

test('a client of the library that a server refuses names the reason', async (t) => {
  const server = await startServer(t)
  await server.redis.config('SET', 'maxclients', '1')
  const { host, port, password } = server
  const client = new Redis({ host, port, password, lazyConnect: true, enableOfflineQueue: false })
  client.on('error', () => {})
  const library = { connect: () => client.connect(), close: () => client.disconnect() }
  await assert.rejects(connectLibrary(library, `${host}:${port}`, { password, tls: null }), (error) => {
    assert.ok(error instanceof TargetError)
    assert.match(error.message, /raise maxclients or close some \(ERR max number of clients reached\)$/)
    return true
  })
})

test('what may not be read is not verified: exit code 3 in a line', async (t) => {
  const server = await startServer(t)
  const { host, port } = server
  const { folder } = await runCommand(t, 'write -q 50 --once --ttl 600 --intervals 2', server)
  for (const [right, words] of /** @type {[string, RegExp][]} */ ([
    ['get', /^100 items could not be read: NOPERM\n$/],
    ['zmscore', /^\S+ refuses ZMSCORE latest-ids: NOPERM .*\n$/],
  ])) {
    await server.redis.call('ACL', 'SETUSER', right, 'on', '>secret', '~*', '+@all', `-${right}`)
    const line = `verify ${folder} --host ${host} --port ${port} --username ${right}`
    const { code, stderr } = await runCommand(t, line, { env: { REDIS_PASSWORD: 'secret' }, out: false })
    assert.equal(code, 3, stderr)
    assert.match(stderr, words)
  }
})
