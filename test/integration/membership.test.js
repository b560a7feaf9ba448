// Membership: what each strategy stores is what it declares, replies are counted, and passes are checked.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runCommand } from '../helpers/command-here.js'
import { writeHere } from '../helpers/here.js'
import { peer } from '../helpers/peers.js'
import { assertDone, at, sumOf } from '../helpers/programs.js'
import { callsOf, startServer, suiteServer } from '../helpers/servers.js'

/** @import { TestServer } from '../helpers/servers.js' */
/** @import { TestContext } from 'node:test' */

const items = 2000

const server = suiteServer()

/** Elements in all keys of a pattern. @param {string} pattern @param {string} command */
const elements = async (pattern, command) => {
  const keys = await server.redis.keys(pattern)
  const counts = await Promise.all(keys.map(async (key) => Number(await server.redis.call(command, key))))
  return { keys, sum: counts.reduce((a, b) => a + b, 0) }
}

/** @param {TestContext} t @param {string} line */
const play = async (t, line, many = items) => {
  await server.redis.flushall()
  const run = await writeHere(t, `--items ${many} --connections 4 --pipeline 20 ${line}`, server)
  assertDone(run)
  const { passes, items: outcome } = run.document
  const [misses, hits] = passes
  assert.deepEqual(
    [misses.name, misses.operations, hits.name, hits.operations],
    ['misses', many, 'hits', many],
  )
  assert.equal(hits.counts.known, many)
  assert.equal(hits.counts.new, 0)
  assert.equal(outcome.acked, sumOf(passes, 'operations'))
  // A bit for an id is less than what a server grows by itself; nothing comes with hits.
  assert.ok(misses.memory_bytes === null || misses.memory_bytes > 100_000, String(misses.memory_bytes))
  assert.equal(hits.memory_bytes, null)
  return run
}

/** @param {any} document */
const assertAllNew = ({ passes: [misses] }) => assert.deepEqual(misses.counts, { new: items, known: 0 })

describe('stored as declared', () => {
  test('membership-flat: a key for each id, as published', async (t) => {
    const { document } = await play(t, '--strategy membership-flat')
    assertAllNew(document)
    const keys = await server.redis.keys('bench:flat:xx:*')
    assert.equal(keys.length, items)
    for (const key of keys.slice(0, 50)) assert.match(key, /^bench:flat:xx:[0-9a-f]{32}$/)
    assert.equal(await server.redis.get(keys[0]), '1')
  })

  for (const row of [
    'membership-hash hash hash HLEN listpack HKEYS',
    'membership-set set_ set SCARD hashtable SMEMBERS',
    'membership-zset zset zset ZCARD skiplist ZRANGE 0 -1',
  ]) {
    const [strategy, name, type, count, encoding, members, ...range] = row.split(' ')
    test(`${strategy}: ids by their low bits, the rest in ${name}`, async (t) => {
      const { document, stdout } = await play(t, `--strategy ${strategy} --with partitions=8`)
      assertAllNew(document)
      const { keys, sum } = await elements(`bench:${name}:*`, count)
      assert.deepEqual(keys.sort(), Array.from({ length: 8 }, (_, i) => `bench:${name}:03:${i}`).sort())
      assert.equal(sum, items)
      assert.equal(await server.redis.type(keys[0]), type)
      const found = /** @type {string[]} */ (await server.redis.call(members, keys[0], ...range))
      assert.ok(found.length > 0)
      for (const member of found) assert.match(member, /^[01][0-9a-f]{31}$/)
      assert.deepEqual(Object.keys(document.encodings), [encoding])
      assert.match(stdout, /misses +[\d,]+ operations\/s/)
    })
  }

  test('integers in sets are integer sets', async (t) => {
    const { document } = await play(t, '--strategy membership-set --with ids=integer,partitions=64')
    assertAllNew(document)
    assert.deepEqual(document.encodings, { intset: 100 })
    assert.equal((await elements('bench:set_:06:*', 'SCARD')).sum, items)
  })

  test('packed ids take less', async (t) => {
    const many = 10_000
    const bytes = async (/** @type {string} */ ids) => {
      const { document } = await play(t, `--strategy membership-hash --with partitions=64,ids=${ids}`, many)
      assert.deepEqual(document.passes[0].counts, { new: many, known: 0 })
      return document.passes[0].memory_bytes
    }
    const hex = await bytes('hex')
    const binary = await bytes('binary')
    assert.ok(binary < hex, `${binary} of ${hex}`)
    assert.equal((await elements('bench:hash:06:*', 'HLEN')).sum, many)
    const flat = await play(t, '--strategy membership-flat --with ids=binary')
    assertAllNew(flat.document)
  })

  test('membership-bitmap: a bit for each number', async (t) => {
    const { document } = await play(t, '--strategy membership-bitmap')
    assertAllNew(document)
    assert.equal(await server.redis.bitcount('bench:bits'), items)
  })

  test('membership-bloom: false positives are those of ids that were never added', async (t) => {
    const { document } = await play(t, '--strategy membership-bloom --with false-positives=0.05')
    const [misses, , others] = document.passes
    assert.equal(misses.counts.new + misses.counts.known, items)
    assert.equal(others.name, 'others')
    const share = others.counts.known / others.operations
    assert.ok(share > 0.01 && share < 0.1, String(share))
    assert.equal(await server.redis.type('bench:blom:00:0'), 'string')
  })
})

describe('a filter by module', () => {
  const many = 50_000
  const line = `--strategy membership-bloom-module --items ${many} --with partitions=4 --connections 4 --pipeline 50`

  test('is reserved before the first pass, filled, and removed', async (t) => {
    const module = peer(t, 'redisbloom')
    if (!module) return
    const own = await startServer(t, { config: { loadmodule: module } })
    const run = await writeHere(t, `${line} --with false-positives=0.001`, own)
    assertDone(run)
    const [misses, hits, others] = run.document.passes
    assert.deepEqual(hits.counts, { new: 0, known: many })
    const share = others.counts.known / others.operations
    assert.ok(share > 0 && share < 0.002, String(share))
    // Its filters are as large from the start: they are counted too.
    assert.ok(misses.memory_bytes > many, String(misses.memory_bytes))
    assert.equal(await own.redis.type('bench:bfad:02:3'), 'MBbloom--')
    const inserted = String(await own.redis.call('BF.INFO', 'bench:bfad:02:3', 'ITEMS'))
      .split(',')
      .at(-1)
    assert.ok(Number(inserted) > many / 8, inserted)

    const again = await writeHere(t, line, own)
    assert.equal(again.code, 3)
    assert.match(again.stderr, /0 of 4 structures were reserved \(ERR 4\).*scripts\/cleanup\.js/)
    await runCommand(t, 'cleanup --yes', { env: at(own), out: false })
    assert.deepEqual(await own.redis.keys('bench:*'), [])
  })

  test('without the module a line says what to install', async (t) => {
    const { code, stderr } = await writeHere(t, line, server)
    assert.equal(code, 3)
    assert.match(stderr, /needs BF\.ADD \(the module RedisBloom: npm run setup:peers downloads it/)
  })
})

test('a local server takes lines of its configuration', async (t) => {
  const run = await runCommand(
    t,
    `write --idle-cost never --strategy membership-hash --items ${items} --with partitions=8 --connections 4 --pipeline 20 --server-config hash-max-listpack-entries=64,hash-max-listpack-value=64`,
  )
  assertDone(run)
  assert.deepEqual(run.document.encodings, { hashtable: 100 })
})

test('ids that are there already make the pass of misses not valid, and cleanup removes them', async (t) => {
  await server.redis.flushall()
  const line = `--strategy membership-set --items ${items} --with partitions=8 --connections 4 --pipeline 20`
  assertDone(await writeHere(t, line, server))
  const again = await writeHere(t, line, server)
  assert.equal(again.code, 4)
  assert.ok(
    again.document.warnings.some((/** @type {any} */ { message }) =>
      /2,000 of 2,000 ids of the pass of misses were known/.test(message),
    ),
  )
  await runCommand(t, 'cleanup --yes', { env: at(server), out: false })
  assert.deepEqual(await server.redis.keys('bench:*'), [])
})

test('at a rate the command is about ids that are drawn: new ones, or known ones after a fill', async (t) => {
  const line = '--strategy membership-set --with partitions=4 --rate 1000 --duration 1s --warm-up 0'
  await server.redis.flushall()
  await server.redis.config('RESETSTAT')
  const played = async (/** @type {string} */ more) =>
    writeHere(t, `--items ${items} ${line} ${more}`, server)
  const filled = await played('--fill')
  assertDone(filled)
  const { items: outcome, counts, passes } = filled.document
  assert.deepEqual([outcome.offered, outcome.acked, passes ?? null], [1000, 1000, null])
  assert.deepEqual(counts, { new: 0, known: 1000 })
  assert.equal((await elements('bench:set_:*', 'SCARD')).sum, items)
  await server.redis.flushall()
  const first = await played('')
  assertDone(first)
  const { counts: found } = first.document
  assert.equal(found.new + found.known, 1000)
  assert.equal((await elements('bench:set_:*', 'SCARD')).sum, found.new)
  assert.equal(await callsOf(server, 'sadd'), items + 2000)
})
