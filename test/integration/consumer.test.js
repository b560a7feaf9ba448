// The consumer: against a producer's servers, a server of its own, and whatever goes wrong there.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Redis } from 'ioredis'
import { runText } from '../../lib/report/text.js'
import { ownRuntime, runCommand, startCommand } from '../helpers/command-here.js'
import { readHere, startHere, writeHere } from '../helpers/here.js'
import { areSampled, assertDone, at, linesOf, oddIn, sumOf, until, warningIn } from '../helpers/programs.js'
import { callsOf, cli, startServer } from '../helpers/servers.js'

/** @import { Scope } from '../helpers/servers.js' */

/** A producer at work on a server, as soon as its items are there. @param {Scope} t @param {Awaited<ReturnType<typeof startServer>>} server */
const writing = async (t, server, line = '', sets = 1) => {
  const producer = startHere(t, 'write', `-q 200 -p 200 -a all --ttl 60 ${line}`, server)
  // Besides them there are the ids, the plan and the lease.
  const items = async () => (await server.redis.keys('item:*')).length
  await until('all items', async () => (await items()) === 200)
  await until('all ids', async () => (await server.redis.dbsize()) >= 201 + sets)
  return producer
}

test('beside a producer with a local cluster: it attaches, reads replicas only, finds the plan, and finds everything right', async (t) => {
  ownRuntime(t)
  const producer = startCommand(t, 'write --cluster -q 1000 -c 2 --ttl 60')
  await until('all items', () => sumOf(producer.intervals(), 'items.acked') >= 2000)
  for (const driver of ['socket', 'ioredis']) {
    const line = `read --verify --consumers 4 -p 1000 --duration 3 --count --driver ${driver}`
    const { code, document, folder, stdout, stderr } = await runCommand(t, line)
    assert.equal(document.kind, 'consumer')
    assertDone({ code, document, stderr: `${stderr}${stdout}` })
    const { fetches, verify, commands, freshness_ms: age, clocks, plan, uniqueness, reads } = document
    assert.equal(plan.source, 'target')
    assert.equal(plan.quantity, 1000)
    // One of each consumer may be under way at the end of a busy machine's run.
    const deadlines = fetches.count + fetches.overrun
    assert.ok(fetches.count >= 4 && deadlines >= 8 && deadlines <= 12, JSON.stringify(fetches))
    assert.equal(fetches.failed, 0)
    assert.equal(fetches.items_p50, 1000)
    assert.ok(verify.checked >= (fetches.count - 1) * 1000, JSON.stringify(verify))
    const wrong = ['missing', 'corrupt', 'unexpected', 'stale', 'unjudged'].map((what) => verify[what])
    assert.deepEqual(wrong, [0, 0, 0, 0, 0])
    // A node that did not answer INFO in time has no commands in that time.
    if (areSampled(linesOf(join(folder, 'intervals.ndjson'))))
      assert.ok(commands.replica.get.calls >= fetches.values, 'replicas served the GETs')
    // An id that a replica did not have yet is asked for at its master.
    assert.ok(
      (commands.master.get?.calls ?? 0) <= 4 * (verify.lagging + verify.expired),
      JSON.stringify(verify),
    )
    // Older items are not read.
    assert.ok(age.p50 > 0 && age.p50 < 60_000, JSON.stringify(age))
    assert.ok(document.replication_ms.p50 !== null)
    assert.equal(clocks.length, 3)
    for (const { offset_ms: offsetMs, rtt_ms: rttMs } of clocks)
      assert.ok(
        Math.abs(offsetMs) <= rttMs / 2 + 1,
        `the same machine has the same clock: ${JSON.stringify(clocks)}`,
      )
    const [zcount] = uniqueness.filter((/** @type {any} */ row) => row.structure === 'ZCOUNT')
    assert.deepEqual([zcount.last, zcount.truth, zcount.error_pct], [1000, 1000, 0])
    assert.ok(Object.values(reads).reduce((sum, { commands: n }) => sum + n, 0) >= fetches.count * 1000)
    if (document.valid) assert.match(stdout, /^✓ VALID {2}sorted-set/)
    const all = runText(document, { verbose: true, columns: 200 })
    assert.match(all, /GET by replicas [\d,]+, by masters \d/)
  }
  producer.kill('SIGINT')
  await producer.ended
})

test('the same command twice, with -a auto, makes two agents, and each says its part', async (t) => {
  ownRuntime(t)
  const producer = startCommand(t, 'write -q 100')
  await producer.says(/the only writer/)
  const reading = async (/** @type {string} */ line, /** @type {RegExp} */ part) => {
    const reader = startCommand(t, `read -t 2 ${line}`)
    await reader.says(part)
    return reader
  }
  const readers = [
    await reading('-a auto --consumers 3', /reader 1 of 2: 3 of 6 consumers; -a all for everything/),
    await reading('-a auto --consumers 3', /reader 2 of 2: 3 of 6 consumers; -a all for everything/),
    await reading('', /all of 2 readers: 2 consumers/),
  ]
  await until('all read', () => readers.every((one) => one.intervals().length > 0))
  for (const one of readers) one.kill('SIGINT')
  const agents = await Promise.all(readers.map(async ({ ended }) => (await ended).document.plan.agents))
  assert.deepEqual(agents, [[1], [2], [1, 2]])
  producer.kill('SIGINT')
  await producer.ended
})

describe('on one server', { concurrency: 6 }, () => {
  test('the published commands, typed in redis-cli, give what the consumer counts', async (t) => {
    const server = await startServer(t)
    const producer = await writing(t, server)
    const { code, document } = await readHere(t, '--duration 1500ms -p 300', server)
    assertDone({ code, document, stderr: '' })
    const seconds = (await cli(server, 'TIME')).split('\n').map(Number)
    const floor = seconds[0] * 1000 + Math.floor(seconds[1] / 1000) - 60_000
    const ids = (await cli(server, 'ZRANGEBYSCORE', 'latest-ids', String(floor), '+inf')).split('\n')
    assert.equal(ids.length, document.fetches.items_p50)
    assert.equal(Number(await cli(server, 'ZCARD', 'latest-ids')), document.fetches.numbers.cardinality.last)
    for (const id of ids.slice(0, 5)) assert.equal((await cli(server, 'GET', id)).length, 128)
    producer.kill('SIGINT')
    await producer.ended
  })

  test('nothing is written to the target unless -a auto is typed', async (t) => {
    const server = await startServer(t)
    await writeHere(t, '-q 200 --intervals 1 --ttl 5m', server)
    const calls = async () =>
      Number(/cmdstat_set:calls=(\d+)/.exec(await server.redis.info('commandstats'))?.[1] ?? 0)
    const before = [await calls(), (await server.redis.keys('*')).length]
    const quiet = await readHere(t, '--duration 1 -t 4 -a 2', server)
    assertDone(quiet)
    assert.deepEqual([await calls(), (await server.redis.keys('*')).length], before)
    assert.deepEqual(quiet.document.plan.agents, [2])

    const leased = startHere(t, 'read', '-t 2 -a auto', server)
    const [key] = await until('a lease', async () => {
      const keys = await server.redis.keys('millrace:lease:*')
      return keys.length > 0 ? keys : null
    })
    assert.match(String(await server.redis.get(key)), /"pid":/)
    await until('it reads', () => leased.intervals().length > 0)
    leased.kill('SIGINT')
    const { code, document } = await leased.ended
    assert.equal(code, 130)
    assert.equal(document.interrupted, true)
    assert.deepEqual(await server.redis.keys('millrace:lease:*'), [])
  })

  test('two plans ask for one', async (t) => {
    const server = await startServer(t)
    await writing(t, server)
    // As a writer of another box announces it at the very same moment.
    const { redis } = server
    const [announced] = Object.values(await redis.hgetall('millrace:plan'))
    await redis.hset('millrace:plan', 'other', JSON.stringify({ ...JSON.parse(announced), strategy: 'list' }))
    const two = await readHere(t, '', server)
    assert.equal(two.code, 2)
    assert.match(
      two.stderr,
      /^several plans .*: (sorted-set|list) of 200 items; (sorted-set|list) of 200 items\. Name one with --strategy\n$/,
    )
    const one = await readHere(t, '--strategy sorted-set --duration 2 --verify', server)
    assertDone(one)
    assert.equal(one.document.fetches.items_p50, 200)
  })

  test('without a plan the options decide, and only presence is verified', async (t) => {
    const server = await startServer(t)
    for (let n = 1; n <= 20; n++) {
      await server.redis.set(`item:${n}`, `another program's ${n}`)
      await server.redis.zadd('latest-ids', Date.now(), `item:${n}`)
    }
    const { code, document, stderr } = await readHere(t, '--duration 1 --ttl 60 --verify', server)
    assert.match(stderr, /found no plan without a prefix: reads sorted-set with a ttl of 60 s/)
    assertDone({ code, document, stderr: '' })
    assert.equal(document.fetches.items_p50, 20)
    assert.equal(document.verify.checked, 0)
    const told = document.warnings.map((/** @type {any} */ { code: name }) => name)
    // What a busy machine adds says nothing of verifying.
    const added = ['overrun', 'gaps', 'client-saturated', 'client-contended', 'client-stopped']
    assert.deepEqual(
      told.filter((/** @type {string} */ name) => !added.includes(name)),
      ['verify-limited'],
    )
  })

  test('another plan that is written since ends the verifying, and says so', async (t) => {
    const server = await startServer(t)
    const { redis } = server
    await writeHere(t, '-q 200 --intervals 1 --ttl 5m', server)
    const consumer = startHere(t, 'read', '-p 200 --verify', server)
    await until('fetches', () => consumer.intervals().length >= 1)
    const [announced] = Object.values(await redis.hgetall('millrace:plan'))
    const [seconds] = await redis.time()
    const nowMs = Number(seconds) * 1000 + 1000
    const other = { ...JSON.parse(announced), seed: 2, startedMs: nowMs, renewedMs: nowMs, ended: false }
    await redis.hset('millrace:plan', 'other', JSON.stringify(other))
    await consumer.says(/another plan has been written under this prefix since/)
    const another = async () => {
      const before = consumer.intervals().length
      await until('fetches after that', () => consumer.intervals().length >= before + 2)
    }
    await another()
    await redis.set('item:7', 'of the other plan', 'KEEPTTL')
    await another()
    consumer.kill('SIGINT')
    const { code, document } = await consumer.ended
    assert.equal(code, 130)
    assert.equal(document.verify.corrupt, 0)
    const [warning] = document.warnings.filter((/** @type {any} */ one) => one.code === 'plan-changed')
    assert.equal(warning.invalidates, true)
    assert.equal(document.valid, false)
  })

  test('values that one master lacks for a while are missing, though they come back', async (t) => {
    const server = await startServer(t)
    const writer = startHere(t, 'write', '-q 100 -p 30s --ttl 90s', server)
    await until('items', async () => (await server.redis.zcard('latest-ids')) === 100)
    const consumer = startHere(t, 'read', '--verify -p 500', server)
    await until('fetches', () => consumer.intervals().length > 0)
    const misses = async () => Number(/keyspace_misses:(\d+)/.exec(await server.redis.info('stats'))?.[1])
    const before = await misses()
    const ids = Array.from({ length: 20 }, (_, i) => `item:${i + 1}`)
    const values = await server.redis.mget(...ids)
    await server.redis.del(...ids)
    // By a fetch, at once at the master, and there again 50 and 150 ms later: of two fetches one has come so far by now.
    await until('they were asked for again', async () => (await misses()) >= before + 10 * ids.length)
    await Promise.all(ids.map((id, i) => server.redis.set(id, String(values[i]), 'EX', 80)))
    await until('missing values are counted', () => sumOf(consumer.intervals(), 'verify.missing') >= 20)
    consumer.kill('SIGINT')
    const { code, document } = await consumer.ended
    assert.equal(code, 130)
    assert.equal(document.valid, false)
    assert.ok(document.verify.missing >= 20, JSON.stringify(document.verify))
    assert.equal(document.verify.corrupt + document.verify.unexpected, 0)
    writer.kill('SIGINT')
  })

  test('a stamped stream is right: the server dates an entry later than its writer', async (t) => {
    const server = await startServer(t)
    const writer = startHere(t, 'write', '-q 200 --strategy stream --stamp --ttl 60', server)
    await until('items', async () => (await server.redis.xlen('latest-stream')) >= 200)
    for (const driver of ['socket', 'ioredis']) {
      const consumer = startHere(t, 'read', `--verify -p 500 --driver ${driver}`, server)
      await until('two are verified', () => sumOf(consumer.intervals(), 'verify.checked') >= 400)
      consumer.kill('SIGINT')
      const { code, document, stderr } = await consumer.ended
      assert.equal(code, 130, stderr)
      assert.deepEqual(oddIn(document), [])
      assert.equal(document.verify.stale, 0)
    }
    const stats = await server.redis.info('commandstats')
    assert.doesNotMatch(stats, /cmdstat_get:/, 'nothing is asked for that cannot be there')
    writer.kill('SIGINT')
  })

  test('the age of undated items is that of the newest value when it came', async (t) => {
    const server = await startServer(t)
    await writeHere(t, '-q 400 -c 4 --ss --stamp --intervals 1 --ttl 5m', server)
    const values = await server.redis.mget(Array.from({ length: 400 }, (_, i) => `item:${i + 1}`))
    const newestMs = Math.max(...values.map((value) => Number(String(value).slice(0, 13))))
    const leastMs = Date.now() - newestMs
    const { document, stderr } = await readHere(t, '-p 200 --duration 1', server)
    const mostMs = Date.now() - newestMs
    assert.ok(document?.fetches.count > 0, stderr)
    const { p50, max } = document.freshness_ms
    // The clock of the server is known to half a round trip, and a histogram has three digits.
    const offMs = document.clocks[0].rtt_ms / 2 + 1 + mostMs / 500
    assert.ok(
      p50 >= leastMs - offMs && p50 <= max && max <= mostMs + offMs,
      `${leastMs}, ${p50}, ${max}, ${mostMs}`,
    )
  })

  test('a plan that appears later is told', async (t) => {
    const server = await startServer(t)
    const consumer = startHere(t, 'read', '--verify', server)
    await consumer.says(/found no plan without a prefix/)
    const writer = startHere(t, 'write', '-q 100 --sl', server)
    await consumer.says(/a writer of list started after this consumer/)
    consumer.kill('SIGINT')
    const { code, document } = await consumer.ended
    assert.equal(code, 130)
    assert.equal(document.valid, false)
    const said = warningIn(document, 'plan-appeared')
    assert.match(said.message, /a writer of list started after this consumer, which reads sorted-set/)
    writer.kill('SIGINT')
  })

  test('items that are all too old are told apart from none', async (t) => {
    const server = await startServer(t)
    const line = '--duration 600ms -p 200'
    const none = await startHere(t, 'read', line, server).ended
    assert.equal(none.code, 4, none.stderr)
    const reason = (/** @type {{ document: any }} */ { document }) => warningIn(document, 'no-items').message
    assert.match(reason(none), /no writer of sorted-set is at work under no prefix/)
    await server.redis.zadd('latest-ids', 1, 'item:1', 2, 'item:2')
    const old = await startHere(t, 'read', line, server).ended
    assert.equal(old.code, 4, old.stderr)
    assert.match(reason(old), /about 2 items are stored, but none is younger than 3 s/)
  })

  test('what is wrong is found: other bytes, a value that is gone, an item of nobody', async (t) => {
    const server = await startServer(t)
    await writeHere(t, '-q 200 --intervals 1 --ttl 5m', server)
    const { redis } = server
    const score = Number(await redis.zscore('latest-ids', 'item:1'))
    await redis.set('item:7', `${(await redis.get('item:7'))?.slice(0, 127)}.`, 'KEEPTTL')
    await redis.del('item:8')
    await redis.set('item:777', 'nobody', 'EX', 300)
    await redis.zadd('latest-ids', score + 5, 'item:777')
    const { code, document, stdout } = await readHere(t, '--intervals 1', server)
    assert.deepEqual([code, document, stdout], [2, undefined, ''])
    const found = await readHere(t, '--duration 900ms --verify', server)
    assert.equal(found.code, 4)
    const { checked, corrupt, missing, unexpected } = found.document.verify
    assert.deepEqual(
      { checked, corrupt, missing, unexpected },
      { checked: 199, corrupt: 1, missing: 1, unexpected: 1 },
    )
    assert.match(found.stdout, /NOT VALID/)
    assert.match(runText(found.document, { verbose: true }), /item:7:\s+other/)
  })

  test('--no-values reads ids and no value, and shows no time of values', async (t) => {
    const server = await startServer(t)
    await writeHere(t, '-q 200 --intervals 1 --ttl 5m', server)
    const before = await callsOf(server, 'get')
    for (const driver of ['socket', 'ioredis']) {
      const line = `read -v --no-values -p 250 --duration 1 --driver ${driver}`
      const { code, document, stdout, stderr } = await runCommand(t, line, server)
      assert.ok(code === 0 || code === 4, stderr)
      assert.deepEqual([document.fetches.items_p50, document.fetches.values], [200, 0])
      assert.match(stdout, /ids\s+only/)
      assert.match(stdout, /^its ids /m)
      assert.ok(!/its values/.test(stdout), stdout)
    }
    assert.equal(await callsOf(server, 'get'), before)
  })

  test('a server that is gone for a while costs fetches, each with a cause, not the consumer', async (t) => {
    const server = await startServer(t)
    await writeHere(t, '-q 200 --intervals 1 --ttl 5m', server)
    const consumer = startHere(t, 'read', '-p 200', server)
    await until('fetches', () => consumer.intervals().length >= 1)
    const { redis } = server
    await redis.config('SET', 'port', '0')
    await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    const before = consumer.intervals().length
    await until('an outage of a second', () => consumer.intervals().length >= before + 2)
    await redis.config('SET', 'port', String(server.port))
    const read = () => sumOf(consumer.intervals(), 'fetches.count')
    const whole = read()
    await until('it reads again', () => read() > whole)
    consumer.kill('SIGINT')
    const { document, code } = await consumer.ended
    assert.equal(code, 130)
    assert.equal(document.valid, false)
    assert.ok(document.fetches.failed > 0 || document.fetches.overrun > 0)
    assert.equal(
      Object.values(document.fetches.failed_by).reduce((sum, n) => sum + Number(n), 0),
      document.fetches.failed,
    )
  })

  test('fetches that never come back have failed, and hold nobody up', async (t) => {
    const frozen = async (/** @type {string} */ driver) => {
      const server = await startServer(t)
      await writeHere(t, '-q 200 --intervals 1 --ttl 5m', server)
      const line = `-p 200 --duration 10 --count --driver ${driver}`
      const consumer = startHere(t, 'read', line, server)
      await until('values are read', async () => /cmdstat_get:/.test(await server.redis.info('commandstats')))
      process.kill(server.pid, 'SIGSTOP')
      const { document, code, stderr } = await consumer.ended
      process.kill(server.pid, 'SIGCONT')
      assert.equal(code, 4, stderr)
      assert.ok(document.fetches.failed > 0, JSON.stringify(document.fetches))
    }
    await Promise.all(['socket', 'ioredis'].map(frozen))
  })

  test('--count: three structures side by side, with their errors', async (t) => {
    const server = await startServer(t)
    const { redis } = server
    await writing(t, server)
    const minute = Math.floor(Date.now() / 60_000)
    for (const before of [0, 1, 2]) {
      const items = Array.from({ length: 200 }, (_, i) => `item:${i + 1}`)
      await redis.sadd(`latest-ids:${minute - before}`, ...items)
      await redis.pfadd(`latest-ids-count:${minute - before}`, ...items)
    }
    const { document, stdout } = await readHere(t, '--count --duration 2', server)
    const rows = new Map(document.uniqueness.map((/** @type {any} */ row) => [row.structure, row]))
    assert.deepEqual([...rows.keys()], ['ZCARD', 'ZCOUNT', 'PFCOUNT', 'SCARD'])
    assert.equal(rows.get('ZCOUNT').error_pct, 0)
    assert.deepEqual([rows.get('SCARD').last, rows.get('SCARD').truth], [200, null])
    assert.ok(Math.abs(rows.get('PFCOUNT').last - 200) < 10)
    assert.match(stdout, /^ {2}unique items +ZCARD 200 .*PFCOUNT/m)
  })

  test('millrace verify finds everything, then what was taken away, and refuses what proves nothing', async (t) => {
    const server = await startServer(t)
    const env = at(server)
    const load = '-q 500 -c 3 -p 300 --intervals 3 --once --ttl 10m --max-behind 60s'
    const { folder } = await runCommand(t, `write -t 2 -a all ${load}`, { env })
    const verify = (/** @type {string} */ line) =>
      runCommand(t, `verify ${line}`, { env: { REDIS_PASSWORD: server.password }, out: false })
    const whole = await verify(folder)
    assert.deepEqual([whole.code, whole.stderr], [0, ''])
    assert.match(whole.stdout, /: 1,500 items acknowledged, 1,500 there byte by byte\n$/)
    const redis = new Redis({ host: server.host, port: server.port, password: server.password })
    t.after(() => redis.disconnect())
    await redis.del('item:1200')
    await redis.zrem('latest-ids', 'item:3')
    await redis.set('item:4', 'x')
    await redis.zincrby('latest-ids', 120_000, 'item:5')
    await redis.zadd('latest-ids', 1, 'item:6')
    const less = await verify(`${folder} --json`)
    assert.equal(less.code, 4)
    const { acked, present, missing, corrupt, unranked, rescored } = JSON.parse(less.stdout)
    assert.deepEqual([acked, present, missing, corrupt, unranked, rescored], [1500, 1498, 1, 1, 1, 2])

    const [set, list] = await Promise.all(
      ['--ss --prefix s:', '--slh --prefix l:'].map((line) =>
        runCommand(t, `write ${load} ${line}`, { env }),
      ),
    )
    const [setWhole, listWhole] = await Promise.all([set, list].map((run) => verify(run.folder)))
    assert.deepEqual([setWhole.code, listWhole.code], [0, 0], `${setWhole.stdout}${listWhole.stdout}`)
    assert.match(listWhole.stdout, /^ {2}not checked: the HyperLogLogs, which count ids and name none$/m)
    const ids = (/** @type {string} */ prefix) =>
      Array.from({ length: 30 }, (_, i) => `${prefix}item:${i + 700}`)
    for (const key of await redis.keys('s:latest-ids:*')) await redis.srem(key, ...ids('s:'))
    for (const id of ids('l:')) await redis.lrem('l:latest-ids-list', 0, id)
    for (const run of [set, list]) {
      const { code, stdout } = await verify(run.folder)
      assert.equal(code, 4)
      assert.match(stdout, /: 1,500 items acknowledged, 1,500 there byte by byte, 30 lost; 30 unranked$/m)
      assert.match(stdout, /^ {2}item 700: its id is not in its index$/m)
    }

    const rewritten = await runCommand(t, 'write -q 10 --intervals 1 --prefix r:', { env })
    const refused = await verify(rewritten.folder)
    assert.equal(refused.code, 2)
    assert.match(
      refused.stderr,
      /without --once, so nothing can be shown: the same bytes are rewritten every interval/,
    )
  })
})
