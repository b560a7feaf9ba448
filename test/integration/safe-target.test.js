// Before, during and after a run on a target that may be somebody else's.
import assert from 'node:assert/strict'
import { before, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { reading } from '../../lib/probes/node-figures.js'
import { planKey } from '../../lib/servers/announcements.js'
import { leases } from '../../lib/servers/leases.js'
import { parseInfo } from '../../lib/wire/info.js'
import { runCommand } from '../helpers/command-here.js'
import { startHere, writeHere } from '../helpers/here.js'
import { assertDone, at, outcomesOf, runProducer, startProducer, until } from '../helpers/programs.js'
import { cli, startCluster, startReplica, startServer, suiteScope } from '../helpers/servers.js'
import { columns, rowsOf } from '../helpers/table.js'

/** @import { Scope, TestServer } from '../helpers/servers.js' */
/** @import { Embedded } from '../../lib/servers/embedded.js' */
/** @import { TestContext } from 'node:test' */

const short = `-q 200 -p 200 --intervals 2`

/** @param {string} stderr */
const messages = (stderr) =>
  (stderr.match(/.+/g) ?? []).map((line) => (line.startsWith('{') ? JSON.parse(line).msg : line))

/** The one line behind the log. @param {string} stderr */
const refusal = (stderr) => {
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
  assert.equal(lines.length, 1, stderr)
  return lines[0]
}

/** The warnings of a code. @param {any} document @param {string} code */
const warningsOf = ({ warnings }, code) => warnings.filter((/** @type {any} */ one) => one.code === code)

/** @param {TestServer | Embedded} place */
const envOf = (place) =>
  'cluster' in place
    ? { ...at({ ...place.endpoints[0], ...place.access }), REDIS_CLUSTER: 'true' }
    : at(place)

/** @param {TestContext} t @param {string} line @param {NodeJS.ProcessEnv} env */
const cleanup = (t, line, env) => runCommand(t, `cleanup ${line}`, { env, out: false })

/** @param {Embedded} cluster @param {...string} args */
const onMasters = async ({ nodes, access }, ...args) => {
  const masters = nodes.filter(({ role }) => role === 'master')
  return Promise.all(masters.map((node) => cli({ ...node, ...access }, ...args)))
}

/** A server for the tests of a suite, which stand behind each other. */
const ownPlace = () => {
  const place = /** @type {{ server: TestServer, redis: TestServer['redis'], env: NodeJS.ProcessEnv }} */ ({})
  const scope = suiteScope()
  before(async () => {
    place.server = await startServer(scope)
    place.redis = place.server.redis
    place.env = envOf(place.server)
  })
  beforeEach(() => place.redis.flushall())
  const write = (/** @type {Scope} */ t, /** @type {string | string[]} */ line) =>
    writeHere(t, line, { env: place.env })
  return { place, write }
}

describe('a target that others may use', { concurrency: 3 }, () => {
  describe('one server', { concurrency: 1 }, () => {
    const { place, write } = ownPlace()

    test('what is found stands in the log and in run.json', async (t) => {
      const { code, stderr, document } = await runProducer(t, short, { env: place.env })
      assertDone({ code, document, stderr })
      const [load, found, memory] = messages(stderr)
      assert.match(
        load,
        /^writes \S+: \S+ items\/s in bursts of \S+ every \S+ m?s, as published \(-q, -c, -p\), for /,
      )
      const address = `${place.server.host}:${place.server.port}`
      assert.match(
        found,
        new RegExp(`^found ${address}: a master, 0 replicas, version 7\\S+, 0 keys, \\d+ other clients?$`),
      )
      assert.match(
        memory,
        /^memory of a master: \S+ MB of \S+ GB \(the machine's, noeviction\); this plan takes about \S+ MB$/,
      )
      const { nodes, keys, foreign_keys: foreign } = document.target.found
      assert.deepEqual([keys, foreign, nodes.length], [0, 0, 1])
      assert.deepEqual(
        [nodes[0].address, nodes[0].role, nodes[0].limit, nodes[0].eviction_policy, nodes[0].replicas],
        [address, 'master', 'machine', 'noeviction', 0],
      )
      assert.ok(nodes[0].memory_bytes > 0 && nodes[0].limit_bytes > nodes[0].memory_bytes)
    })

    test('its second run, another strategy, and another prefix pass', async (t) => {
      for (const line of ['', '', '--strategy set', '--prefix other:', '--ns 4 --ttl 600', '--ttl 600']) {
        assertDone(await write(t, `${short} ${line}`))
      }
      assert.ok((await place.redis.dbsize()) > 200)
    })

    test('a plan has ended though its server stood still at that moment', async (t) => {
      const { host, port, password, pid, redis } = place.server
      assertDone(await write(t, short))
      const theirs = async () => JSON.parse(Object.values(await redis.hgetall(planKey('')))[0])
      const { startedMs, renewedMs, ended, ...announced } = await theirs()
      assert.equal(ended, true)
      const topology = { masters: [`${host}:${port}`], owners: null }
      const one = leases({
        target: { kind: 'single', topology, access: { password } },
        ...{ group: { prefix: '', totalAgents: 1 }, run: 'still', say: () => {}, onLost: assert.fail },
        clock: () => performance.now(),
      })
      t.after(one.release)
      await one.claim([1])
      await one.announce(announced)
      assert.equal((await theirs()).ended, false)
      process.kill(pid, 'SIGSTOP')
      t.after(() => process.kill(pid, 'SIGCONT'))
      const released = one.release()
      // Longer than a second, and on a busy machine far from 5 s.
      await sleep(1050)
      process.kill(pid, 'SIGCONT')
      await released
      assert.equal((await theirs()).ended, true)
    })

    test('a second box passes while the first writes', async (t) => {
      const first = startHere(t, 'write', `-q 400 -t 2 -p 200 -a 1`, { env: place.env })
      await until('keys', () => place.redis.exists('latest-ids'))
      const second = await write(t, `-q 400 -t 2 -p 200 --intervals 2`)
      assertDone(second)
      assert.equal(columns(second.document.plan.agents, 'agent'), '2')
      first.kill('SIGINT')
      assert.equal((await first.ended).code, 130)
    })

    test('the marker outlives every key, also of a writer that was killed', async (t) => {
      const writer = startProducer(t, `-q 200 -p 200 --ttl 200 --strategy list-hll`, { env: place.env })
      await until('keys', () => place.redis.exists('latest-ids-list'))
      writer.kill('SIGKILL')
      await writer.ended
      const marker = await place.redis.pttl(planKey(''))
      const keys = await place.redis.keys('*')
      for (const key of keys.filter((name) => name !== planKey(''))) {
        const ttl = await place.redis.pttl(key)
        assert.ok(ttl > 0 && ttl < marker, `${key} lives ${ttl} ms, its marker ${marker}`)
      }
    })

    const foreign = rowsOf(`
an item without a marker -> set item:35 x -> 'item:35' \\(string\\)
a key of another program -> hset user:1 name x -> 'user:1' \\(hash\\)
a key in another database -> select 3 & set cart x -> 'cart' \\(string\\)
terminal codes in a name -> set a\x1b[31mb x -> 'ab' \\(string\\)
a marker that is no plan -> hset millrace:plan x {} -> 'millrace:plan' \\(hash\\)
`)
    for (const [what, commands, example] of foreign)
      test(`refused: ${what}`, async (t) => {
        const client = place.redis.duplicate()
        t.after(() => client.disconnect())
        for (const [name, ...args] of commands.split(' & ').map((one) => one.split(' ')))
          await client.call(name, ...args)
        const { code, stdout, stderr } = await write(t, short)
        assert.deepEqual([code, stdout], [3, ''])
        const line = refusal(stderr)
        assert.match(line, new RegExp(example))
        assert.match(line, /--allow foreign-keys$/)
        assert.match(await place.redis.info('keyspace'), /db\d:keys=1,/)
        const allowed = await write(t, `${short} --allow foreign-keys`)
        if (what.includes('no plan')) return
        assertDone(allowed)
        assert.equal(allowed.document.target.found.foreign_keys, 1)
      })

    test('refused: keys that a plan names, but of another type or number', async (t) => {
      assertDone(await write(t, short))
      await place.redis.set('item:201', 'x')
      assert.match(refusal((await write(t, short)).stderr), /'item:201' \(string\)/)
      await place.redis.del('item:201', 'item:7')
      await place.redis.sadd('item:7', 'x')
      assert.match(refusal((await write(t, short)).stderr), /'item:7' \(set\)/)
    })

    test('a plan may not speak for names that no plan has', async (t) => {
      assertDone(await write(t, short))
      const [field, text] = Object.entries(await place.redis.hgetall(planKey('')))[0]
      await place.redis.hset(planKey(''), field, JSON.stringify({ ...JSON.parse(text), sets: ['sessions'] }))
      await place.redis.zadd('sessions', 1, 'x')
      await place.redis.persist(planKey(''))
      assert.match(refusal((await write(t, short)).stderr), /no plan of Millrace covers/)
    })

    test('an eviction policy that could push out keys of others is a warning', async (t) => {
      await place.redis.config('SET', 'maxmemory', '100mb', 'maxmemory-policy', 'volatile-lru')
      t.after(() => place.redis.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction'))
      await place.redis.set('cart:1', 'x', 'EX', 1000)
      const { code, document } = await write(t, `${short} --allow foreign-keys`)
      assertDone({ code, document, stderr: '' })
      const warning = warningsOf(document, 'eviction-policy')[0]
      assert.match(warning.message, /evicts by volatile-lru/)
      await place.redis.persist('cart:1')
      const mild = await write(t, `${short} --allow foreign-keys`)
      assert.deepEqual(warningsOf(mild.document, 'eviction-policy'), [])
    })

    test('refused: more than 70 % of its memory', async (t) => {
      await place.redis.config('SET', 'maxmemory', '20mb')
      t.after(() => place.redis.config('SET', 'maxmemory', '0'))
      const line = `-q 1000 --value-size 20kB -p 500 --intervals 1`
      const { code, stderr } = await write(t, line)
      assert.equal(code, 3)
      assert.match(
        refusal(stderr),
        /uses \S+ MB, and this plan takes about 2\S+ MB more: over 70 % of its maxmemory, 21\.0 MB;.*--allow memory$/,
      )
      assert.equal(await place.redis.dbsize(), 0)
      const small = await write(t, `-q 1000 -p 500 --intervals 1`)
      assertDone(small)
    })

    test('the guard ends the run at the limit, with the reason in the result', async (t) => {
      await place.redis.config('SET', 'maxmemory', '20mb', 'maxmemory-policy', 'allkeys-lru')
      t.after(() => place.redis.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction'))
      const line = `-q 1000 --value-size 20kB -p 500 --ttl 100 --duration 10m --allow memory`
      const { code, stderr, document } = await write(t, line)
      assert.equal(code, 4, stderr)
      assert.deepEqual([document.valid, document.interrupted], [false, false])
      const warning = warningsOf(document, 'guard')[0]
      assert.match(
        warning.message,
        /^ended by --guard: \S+ (evicted [\d,]+ keys \(evicted>0\)|uses 9\S+ % of its memory)/,
      )
      assert.equal(warning.invalidates, true)
      assert.ok(document.duration_s < 600)
      assert.ok(document.events.some((/** @type {any} */ { kind }) => kind === 'guard'))
      assert.equal(document.items.offered, outcomesOf(document.items))
    })

    test('a guard that was turned off lets it run, and a run with evictions is not valid', async (t) => {
      await place.redis.config('SET', 'maxmemory', '20mb', 'maxmemory-policy', 'allkeys-lru')
      t.after(() => place.redis.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction'))
      const line = `-q 1000 --value-size 20kB -p 500 --ttl 100 --duration 10m --allow memory --guard off`
      const run = startHere(t, 'write', line, { env: place.env })
      const evicts = (/** @type {any} */ { nodes }) => nodes[0]?.evicted > 0
      await until('evictions in a second', () => run.intervals().some(evicts))
      run.kill('SIGINT')
      const { code, document } = await run.ended
      assert.ok(document.server.evicted > 0)
      assert.deepEqual([code, document.valid], [130, false])
      const reason = warningsOf(document, 'evictions')[0]
      assert.equal(reason.invalidates, true)
      assert.deepEqual(warningsOf(document, 'guard'), [])
    })

    test('cleanup needs the marker', async (t) => {
      await place.redis.set('item:1', 'x')
      const { code, stdout, stderr } = await cleanup(t, '--yes', place.env)
      assert.deepEqual([code, stdout], [3, ''])
      assert.match(refusal(stderr), /found no plan of Millrace without a prefix/)
      assert.equal(await place.redis.get('item:1'), 'x')
    })

    test('cleanup counts, then removes exactly what the plans cover', async (t) => {
      for (const strategy of ['sorted-set', 'list-hll', 'set', 'hash', 'stream'])
        assertDone(
          await writeHere(t, `${short} --ttl 600 --prefix p: --strategy ${strategy} --allow foreign-keys`, {
            env: place.env,
          }),
        )
      assertDone(await write(t, `${short} --ttl 600`))
      const texts = ['p:item:01', 'p:item:999999', 'p:item:abc', 'p:note', 'px:item:1']
      await place.redis.mset(texts.flatMap((key) => [key, '1']))
      await place.redis.sadd('p:latest-ids:12345678', 'x')
      await place.redis.hset('q:latest-ids', 'x', '1')
      const others = [...texts, 'p:latest-ids:12345678', 'q:latest-ids'].sort()
      const all = await place.redis.dbsize()

      const dry = await cleanup(t, '--prefix p:', place.env)
      assert.equal(dry.code, 0, dry.stderr)
      assert.match(
        dry.stdout,
        /^\S+: 4\d\d keys of ours \(.*20\d string.*\); 5 keys with such names are not ours, and stay\nnothing was changed: --yes removes these 4\d\d keys\n$/,
      )
      assert.equal(await place.redis.dbsize(), all)

      const done = await cleanup(t, '--prefix p: --yes', place.env)
      assert.equal(done.code, 0, done.stderr)
      assert.match(done.stdout, /\n4\d\d keys removed\n$/)
      assert.deepEqual(
        (await place.redis.keys('p*')).sort(),
        others.filter((key) => key.startsWith('p')),
      )
      assert.ok(await place.redis.exists('item:1', 'latest-ids', planKey('')))
      assert.match(
        refusal((await cleanup(t, '--prefix p: --yes', place.env)).stderr),
        /found no plan of Millrace/,
      )
      assert.match((await cleanup(t, '--yes', place.env)).stdout, /202 keys removed\n$/)
      assert.deepEqual((await place.redis.keys('*')).sort(), others)
    })

    test('cleanup does not work under the hands of a writer', async (t) => {
      const writer = startHere(t, 'write', `-q 200 -p 200`, { env: place.env })
      await until('keys', () => place.redis.exists('latest-ids'))
      const { code, stderr } = await cleanup(t, '--yes', place.env)
      assert.equal(code, 3)
      assert.match(refusal(stderr), /1 writer under the prefix '' still at work/)
      writer.kill('SIGINT')
      await writer.ended
      assert.equal((await cleanup(t, '--yes', place.env)).code, 0)
      assert.equal(await place.redis.dbsize(), 0)
    })

    test('a replica is refused with the name of its master', async (t) => {
      const replica = await startReplica(t, place.server)
      const refused = await writeHere(t, short, { env: envOf(replica) })
      assert.equal(refused.code, 3)
      const master = `127\\.0\\.0\\.1:${place.server.port}`
      assert.match(
        refusal(refused.stderr),
        RegExp(`is a replica; write to its master, ${master}.*--allow replica`),
      )
      const readOnly = await writeHere(t, `${short} --allow replica`, { env: envOf(replica) })
      assert.equal(readOnly.code, 3)
      assert.match(refusal(readOnly.stderr), /a replica that takes no writes/)
      await place.redis.flushall()
      await until('empty', async () => (await replica.redis.dbsize()) === 0)
      await replica.redis.config('SET', 'replica-read-only', 'no')
      const allowed = await writeHere(t, `${short} --allow replica`, { env: envOf(replica) })
      assertDone(allowed)
    })
  })

  describe('the forecast', { concurrency: 1 }, () => {
    const { place, write } = ownPlace()

    // The forecast is made to be safe: never far below, and not so far above that it refuses what would fit.
    const literal = 'x'.repeat(3000)
    const strategies = ['hash', 'list', 'set', 'stream', 'actual-value'].map((name) => ['--strategy', name])
    const others = '--value-size 1kB|--with extra-sorted-sets=2|--prefix a-prefix-of-twenty:-'.split('|')
    const cases = [
      ...[[], ...strategies, ...others.map((line) => line.split(' '))],
      ...[
        [`SETEX item:{n} {ttl} ${literal}{value}`],
        ['SETBIT bits:{n} 24000 1', 'EXPIRE bits:{n} {ttl}'],
        ['SETRANGE text:{n} 3000 {value}'],
        ['BITFIELD counts:{n} SET u8 #3000 1'],
        [`MSET a:{{t}}:{n} {value} b:{{t}}:{n} ${literal}`],
        [`HSET hash:{n} a {value} b {value} c ${literal}`],
        [`HSET hash:{random 1 5000} field:{n} ${literal}`],
        ['SETEX item:{n} {ttl} {value}', `ZADD index {time} ${literal}{n}...`],
        ['SETEX item:{n} {ttl} {value}', 'SETBIT bits 80000000 1'],
      ].map((commands) => ['-q', '5000', ...commands.flatMap((command) => ['--command', command])]),
    ]
    for (const words of cases)
      test(`the forecast holds within 0.85 and 1.4: ${words.join(' ').replaceAll(literal, '(3000)')}`, async (t) => {
        await place.redis.call('MEMORY', 'PURGE')
        const used = async () =>
          Number(reading(parseInfo(await place.redis.info('everything')), 0).gauges.data_bytes)
        const usedBefore = await used()
        const load = `-p 500 --intervals 1 --ttl 100`.split(' ')
        const quantity = words.includes('-q') ? [] : ['-q', '20000']
        const ended = await write(t, [...load, ...quantity, ...words])
        assertDone(ended)
        // The part of it that is kept for buffers is not data.
        const forecast = ended.document.target.found.nodes[0].forecast_bytes - 4e6
        const ratio = forecast / ((await used()) - usedBefore)
        // A set of the minute is forecast for two minutes.
        const most = words[0] === '--strategy' && words[1] === 'set' ? 1.9 : 1.4
        assert.ok(ratio > 0.85 && ratio < most, `forecast ${forecast}, ratio ${ratio.toFixed(2)}`)
      })

    test('a model whose literals do not fit is refused, also where an offset makes its strings long', async (t) => {
      await place.redis.config('SET', 'maxmemory', '100mb')
      t.after(() => place.redis.config('SET', 'maxmemory', '0'))
      for (const command of [`SET k:{n} ${'x'.repeat(100_000)}`, 'SETBIT k:{n} 4294967295 1']) {
        const words = '-q 2000 -p 500 --intervals 1 --command'.split(' ')
        const { code, stderr } = await write(t, [...words, command])
        assert.equal(code, 3)
        assert.match(stderr, /this plan takes about \S+ [MGT]B more: over 70 % of its maxmemory/)
        assert.equal(await place.redis.dbsize(), 0)
      }
    })
  })

  test('a cluster: looked at, written twice by two boxes, cleaned on every master', async (t) => {
    const cluster = await startCluster(t, { shards: 3, replicas: 1 })
    const env = envOf(cluster)
    for (const line of ['', '--ns 4 --spread --ws', '']) {
      const { code, stderr, document } = await writeHere(t, `${short} --ttl 600 ${line}`, { env })
      assertDone({ code, document, stderr })
      assert.equal(document.target.found.nodes.length, 6)
      assert.match(messages(stderr)[0], /^found a cluster on \S+: 3 masters, 3 replicas, version/)
    }
    await onMasters(cluster, 'set', 'foreign', 'x').catch(() => {})
    const [first] = cluster.nodes
    const foreign = await cli({ ...first, ...cluster.access }, '-c', 'set', 'item:abc', 'x')
    assert.match(foreign, /OK/)
    const refused = await writeHere(t, short, { env })
    assert.equal(refused.code, 3)
    assert.match(refusal(refused.stderr), /such as '(item:abc|foreign)' \(string\)/)
    const done = await cleanup(t, '--yes', env)
    assert.equal(done.code, 0, done.stderr)
    const left = (await onMasters(cluster, '--scan')).flatMap((list) => list.split('\n').filter(Boolean))
    assert.ok(left.includes('item:abc'))
    for (const key of left) assert.ok(['item:abc', 'foreign'].includes(key), key)
  })
})
