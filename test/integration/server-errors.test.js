// What a server may refuse while a writer is at work: each ends in a counted cause and in a sentence with advice,
// and the accounting closes. Every one is provoked on a real server.
import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Redis } from 'ioredis'
import { TargetError } from '../../lib/base/errors.js'
import { connectLibrary } from '../../lib/transport/library.js'
import { startHere } from '../helpers/here.js'
import { at, faultsIn, outcomesOf, runProducer, startProgram, until } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

/**
 * @typedef {import('../helpers/servers.js').TestServer} TestServer
 * @typedef {import('../helpers/servers.js').Scope} Scope
 * @typedef {import('../helpers/here.js').Run} Program
 *
 * @typedef {object} Case
 * @property {string} name
 * @property {string} [load] of the writer
 * @property {string} [line] further options of the writer
 * @property {boolean} [anonymous] the writer has no password
 * @property {Record<string, string | string[]>} [config] of the server
 * @property {(server: TestServer) => Promise<unknown>} [prepare]
 * @property {(server: TestServer, t: Scope) => Promise<unknown>} [provoke] when the writer has been at work for a second
 * @property {(server: TestServer, program: Program) => Promise<unknown>} [mend]
 * @property {readonly string[]} [drivers]
 * @property {string} [cause]
 * @property {'failed_by' | 'repeated_by'} [counted] where the cause stands
 * @property {RegExp} [advice]
 * @property {boolean} [endless] the writer is stopped when the server is mended, however long that took
 * @property {number} code 0 or 4, the exit code on a machine that keeps up and of a writer that is not stopped
 * @property {(document: any, server: TestServer) => Promise<void> | void} [check]
 */

const bothDrivers = ['socket', 'ioredis']

/** How often the server has answered so. @param {TestServer} server @param {string} code */
const refusals = async ({ redis }, code) =>
  Number(new RegExp(`errorstat_${code}:count=(\\d+)`).exec(await redis.info('errorstats'))?.[1] ?? 0)

/** @param {string} code @param {(server: TestServer) => Promise<unknown>} then */
const once = (code, then) => async (/** @type {TestServer} */ server) => {
  await until(`${code} answered`, async () => (await refusals(server, code)) > 100)
  await then(server)
}

/** @param {TestServer} server @param {string} section @param {RegExp} pattern */
const told = async ({ redis }, section, pattern) => pattern.exec(await redis.info(section))

const cutConnections = (/** @type {TestServer} */ { redis }) =>
  redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')

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
  {
    name: 'OOM with noeviction',
    provoke: ({ redis }) => redis.config('SET', 'maxmemory', '1mb'),
    mend: once('OOM', ({ redis }) => redis.config('SET', 'maxmemory', '0')),
    cause: 'OOM',
    counted: 'failed_by',
    advice: /raise maxmemory/,
    code: 4,
  },
  {
    name: 'evictions',
    line: '--once --ttl 600',
    config: { 'maxmemory-policy': 'allkeys-lru' },
    provoke: async (server) => {
      const used = await told(server, 'memory', /used_memory:(\d+)/)
      await server.redis.config('SET', 'maxmemory', String(used?.[1]))
    },
    code: 4,
    check: async ({ warnings, server: { evicted } }, server) => {
      const warning = warnings.find((/** @type {any} */ { code }) => code === 'evictions')
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
      'key-load-delay': '300',
      'loading-process-events-interval-bytes': '1024',
    },
    prepare: ({ redis }) => redis.call('DEBUG', 'POPULATE', 3000, 'foreign'),
    provoke: async ({ redis }) => void redis.call('DEBUG', 'RELOAD').catch(() => {}),
    cause: 'LOADING',
    counted: 'repeated_by',
    advice: /wait until it is ready/,
    code: 0,
  },
  {
    name: 'READONLY',
    provoke: ({ redis }) => redis.call('REPLICAOF', '127.0.0.1', '1'),
    mend: once('READONLY', ({ redis }) => redis.call('REPLICAOF', 'NO', 'ONE')),
    cause: 'READONLY',
    counted: 'repeated_by',
    advice: /name a master/,
    code: 0,
  },
  {
    name: 'READONLY to the end',
    line: '--max-behind 500ms',
    provoke: ({ redis }) => redis.call('REPLICAOF', '127.0.0.1', '1'),
    cause: 'READONLY',
    counted: 'failed_by',
    advice: /name a master/,
    code: 4,
  },
  {
    name: "BUSY with another client's script",
    config: { 'lua-time-limit': '100' },
    provoke: runForEver,
    mend: async ({ redis }, program) => {
      await program.says(/BUSY/)
      await redis.call('SCRIPT', 'KILL')
    },
    cause: 'BUSY',
    counted: 'repeated_by',
    advice: /SCRIPT KILL/,
    code: 0,
  },
  {
    name: 'BUSY to the end',
    line: '--max-behind 500ms',
    config: { 'lua-time-limit': '100' },
    provoke: runForEver,
    cause: 'BUSY',
    counted: 'failed_by',
    advice: /SCRIPT KILL/,
    code: 4,
  },
  {
    name: 'a script that blocks the server in silence',
    line: '--max-behind 500ms',
    config: { 'lua-time-limit': '0' },
    provoke: runForEver,
    code: 4,
    check: ({ items, warnings, plan, duration_s: durationS }) => {
      // What a client library has not answered when the run is over is uncertain; what sockets wait for is unsettled.
      const [open, code, advice] =
        plan.driver === 'socket'
          ? [items.unsettled, 'unsettled', /see which node stopped answering/]
          : [items.failed_by.UNANSWERED, 'uncertain', /^[\d,]+ of [\d,]+ items are uncertain/]
      assert.ok(open > 0, JSON.stringify(items))
      assert.match(warnings.find((/** @type {any} */ warning) => warning.code === code).message, advice)
      assert.ok(durationS < 30, `${durationS} s`)
    },
  },
  {
    name: 'WRONGPASS',
    line: '--max-behind 500ms',
    provoke: async (server) => {
      await server.redis.config('SET', 'requirepass', 'another')
      await cutConnections(server)
    },
    cause: 'WRONGPASS',
    counted: 'repeated_by',
    advice: /correct --username and --password/,
    code: 4,
    check: ({ items }) => assert.ok(items.dropped > 0),
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
    cause: 'NOAUTH',
    counted: 'repeated_by',
    advice: /wants a password/,
    code: 4,
    check: ({ items }) => assert.ok(items.dropped > 0),
  },
  {
    name: 'NOPERM',
    provoke: ({ redis }) => redis.call('ACL', 'SETUSER', 'default', '-setex'),
    mend: once('NOPERM', ({ redis }) => redis.call('ACL', 'SETUSER', 'default', '+setex')),
    cause: 'NOPERM',
    counted: 'failed_by',
    advice: /extend its ACL/,
    code: 4,
  },
  {
    name: 'MISCONF',
    provoke: breakSnapshots,
    mend: once('MISCONF', ({ redis }) => redis.config('SET', 'stop-writes-on-bgsave-error', 'no')),
    cause: 'MISCONF',
    counted: 'failed_by',
    advice: /mend its disk or its save setting/,
    code: 4,
  },
  {
    name: 'no more clients',
    provoke: async (server) => {
      await server.redis.config('SET', 'maxclients', '1')
      await cutConnections(server)
    },
    mend: async (server) => {
      const rejected = async () =>
        Number((await told(server, 'stats', /rejected_connections:(\d+)/))?.[1]) > 8
      await until('refused connections', rejected)
      await server.redis.config('SET', 'maxclients', '1000')
    },
    // ioredis sees the closed connection before the words.
    drivers: ['socket'],
    cause: 'ERR max clients',
    counted: 'repeated_by',
    advice: /raise maxclients/,
    code: 0,
    check: ({ events }) =>
      assert.deepEqual(
        events.map((/** @type {any} */ { kind }) => kind),
        ['disconnected', 'reconnected'],
      ),
  },
  {
    // Answers to one read of the server must pass its 16 kB a client: many small commands, each with a long answer.
    name: 'an output buffer over its limit',
    load: '-q 3000 --value-size 1 --warm-up 0',
    endless: true,
    provoke: async (server) => {
      const { redis, host, port } = server
      const batches = async () =>
        Number((await told(server, 'commandstats', /cmdstat_zadd:calls=(\d+)/))?.[1] ?? 0)
      await redis.config('SET', 'client-output-buffer-limit', 'normal 1 0 0')
      // The next batch is refused whole: of one under way only the last command may be left, and its answer is short.
      const before = await batches()
      await until('the end of a batch', async () => (await batches()) > before)
      // Of itself: a replica of a server that nobody has checked would end the run.
      await redis.call('REPLICAOF', host, port)
    },
    mend: async (server) => {
      const log = join(server.dir, 'server', 'server.log')
      // One that writes: a long answer to INFO may be over the limit first.
      const closed = () =>
        /cmd=(setex|zadd) .*overcoming of output buffer limits/.test(readFileSync(log, 'utf8'))
      await until('a connection closed for its output', closed)
      await server.redis.config('SET', 'client-output-buffer-limit', 'normal 0 0 0')
      await server.redis.call('REPLICAOF', 'NO', 'ONE')
    },
    cause: 'CLOSED',
    counted: 'repeated_by',
    advice: /client-output-buffer-limit/,
    code: 0,
    check: ({ events }) => {
      const lost = events.filter((/** @type {any} */ { kind }) => kind === 'disconnected')
      assert.match(lost[0].text, /closed the connection|ECONNRESET|EPIPE/)
    },
  },
  {
    name: 'WRONGTYPE at a key of ours',
    provoke: ({ redis }) => redis.set('latest-ids', 'not a sorted set'),
    mend: async ({ redis }) => {
      await until('WRONGTYPE answered', async () =>
        /errorstat_WRONGTYPE/.test(await redis.info('errorstats')),
      )
      await redis.del('latest-ids')
    },
    cause: 'WRONGTYPE',
    counted: 'failed_by',
    advice: /choose another --prefix/,
    code: 4,
  },
  ...['--sk', '--ws'].map((line) => ({
    name: `SCRIPT FLUSH under ${line}`,
    line: `${line} --ttl 60`,
    provoke: (/** @type {TestServer} */ { redis }) => redis.script('FLUSH'),
    cause: 'NOSCRIPT',
    counted: /** @type {const} */ ('repeated_by'),
    advice: /keep others from flushing/,
    code: 0,
    check: async (/** @type {any} */ _, /** @type {TestServer} */ { redis }) => {
      assert.equal(await redis.zcard('latest-ids'), 1000)
      assert.equal(await redis.exists(...Array.from({ length: 1000 }, (_, i) => `item:${i + 1}`)), 1000)
    },
  })),
  {
    name: 'a server that speaks RESP2 only',
    config: { 'rename-command': ['HELLO', ''] },
    code: 0,
  },
]

/** @param {import('node:test').TestContext} t @param {Case} each @param {string} driver */
const provoked = async (t, each, driver) => {
  const { load = '-q 1000 -c 5', line = '--max-behind 60s', endless, anonymous, config } = each
  const { prepare, provoke, mend } = each
  const server = await startServer(t, { config })
  await prepare?.(server)
  const program = startHere(
    t,
    'write',
    `${load} --duration ${endless ? 600 : 7} --guard off --allow memory,foreign-keys --driver ${driver} ${line}`,
    { env: at(anonymous ? { ...server, password: '' } : server) },
  )
  await until('the writer is at work', () => program.intervals().length > 0)
  await provoke?.(server, t)
  await mend?.(server, program)
  if (endless) program.kill('SIGINT')
  return { server, ...(await program.ended) }
}

/** @param {any} document */
const assertAccounts = ({ items }) => {
  assert.equal(outcomesOf(items), items.offered)
  const lost = Object.values(items.failed_by).reduce((sum, n) => sum + n, 0)
  assert.equal(lost, items.failed + items.uncertain)
}

describe('errors of the server', { concurrency: 3 }, () => {
  for (const each of cases) {
    for (const driver of each.drivers ?? bothDrivers) {
      test(`${each.name}, ${driver}`, async (t) => {
        const { code, document, stderr, server } = await provoked(t, each, driver)
        assert.ok(document, stderr)
        assertAccounts(document)
        const { items, commands, warnings } = document
        const all = JSON.stringify({ items, commands, warnings })
        assert.equal(code, each.endless ? 130 : document.valid ? 0 : 4, all)
        assert.equal(faultsIn(document).length > 0, each.code === 4, all)
        if (each.code === 0) assert.equal(items.acked, items.offered)
        if (each.cause !== undefined) {
          const counts = each.counted === 'failed_by' ? items.failed_by : commands.repeated_by
          assert.ok(counts[each.cause] > 0, JSON.stringify({ items, commands }))
          const sentence = warnings.find((/** @type {any} */ warning) => warning.cause === each.cause)
          assert.match(sentence.message, /** @type {RegExp} */ (each.advice))
        }
        await each.check?.(document, server)
      })
    }
  }
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

describe('a server that cannot be used', { concurrency: 3 }, () => {
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
  const writer = startHere(t, 'write', '-q 100 -p 200 --intervals 2 --allow foreign-keys', {
    env: at(server),
  })
  const early = startHere(t, 'write', '-q 100', { env: at(server) })
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
  const { folder } = await runProducer(t, '-q 50 --once --ttl 600 --intervals 2', { env: at(server) })
  for (const [right, words] of /** @type {[string, RegExp][]} */ ([
    ['get', /^100 items could not be read: NOPERM\n$/],
    ['zmscore', /^\S+ refuses ZMSCORE latest-ids: NOPERM .*\n$/],
  ])) {
    await server.redis.call('ACL', 'SETUSER', right, 'on', '>secret', '~*', '+@all', `-${right}`)
    const line = `${folder} --host ${host} --port ${port} --username ${right}`
    const { ended } = startProgram(t, 'scripts/verify.js', line, {
      env: { REDIS_PASSWORD: 'secret' },
      out: false,
    })
    const { code, stderr } = await ended
    assert.equal(code, 3, stderr)
    assert.match(stderr, words)
  }
})
