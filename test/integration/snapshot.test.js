// Profiles of snapshot files, held against what the server that saved them says of each key.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { serversHere, snapshotOf } from '../../lib/cli/snapshot.js'
import { runCommand } from '../helpers/command-here.js'
import { peer } from '../helpers/peers.js'
import { ownFolder } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

/** @import { TestContext } from 'node:test' */

// On a busy machine it takes seconds until they are saved.
const firstMs = 100_000

/** A server with keys of every type, and the file that it saved. @param {TestContext} t @param {Parameters<typeof startServer>[1]} [options] */
const saved = async (t, options) => {
  const server = await startServer(t, {
    ...options,
    config: { databases: '16', ...(!options?.bin?.includes('redis-6') && { 'enable-debug-command': 'yes' }) },
  })
  const { redis } = server
  const pipe = redis.pipeline()
  for (let i = 0; i < 400; i++) {
    pipe.set(`user:${i}:name`, 'n'.repeat(20 + (i % 200)))
    pipe.set(`visits:${i}`, String(i))
    pipe.set(`session:${1000 + i}`, 's'.repeat(100), 'PX', firstMs + i * 1000)
    pipe.hset(
      `cart:${i}`,
      Object.fromEntries(Array.from({ length: 1 + (i % 5) }, (_, f) => [`item${f}`, 'x'.repeat(30)])),
    )
    pipe.sadd(`tags:${i}`, ...Array.from({ length: 1 + (i % 7) }, (_, n) => (i % 2 ? String(n) : `tag${n}`)))
    pipe.zadd(`rank:${i}`, ...Array.from({ length: 5 }, (_, n) => [n, `m${n}`]).flat())
    pipe.rpush(`log:${i}`, ...Array.from({ length: 10 }, (_, n) => `line ${n}`))
  }
  for (let i = 0; i < 3000; i++) {
    pipe.hset('big:hash', `field:${i}`, 'v'.repeat(40))
    pipe.zadd('big:zset', i, `member:${i}`)
    pipe.sadd('big:set', `member:${i}`)
    pipe.rpush('big:list', 'e'.repeat(20))
    pipe.xadd('big:stream', '*', 'f', String(i))
  }
  pipe.xgroup('CREATE', 'big:stream', 'g', '0')
  pipe.xreadgroup('GROUP', 'g', 'c', 'COUNT', 20, 'STREAMS', 'big:stream', '>')
  pipe.set('packed', 'ab'.repeat(5000))
  const fromMs = performance.now()
  await pipe.exec()
  await redis.select(3)
  for (let i = 0; i < 50; i++) await redis.set(`other:${i}`, 'z'.repeat(10))
  await redis.select(0)
  // What has grown has room to grow further; what is loaded has none.
  await redis.call('DEBUG', 'RELOAD')
  /** Bytes and keys by what a name begins with, by MEMORY USAGE of each key. */
  const truth = /** @type {Record<string, { keys: number, memory: number }>} */ ({})
  for (const db of [0, 3]) {
    await redis.select(db)
    const names = await redis.keys('*')
    const asked = redis.pipeline()
    for (const name of names) asked.memory('USAGE', name, 'SAMPLES', 0)
    for (const [i, [, memory]] of ((await asked.exec()) ?? []).entries()) {
      const group = names[i].startsWith('big:') ? names[i] : names[i].replace(/\d+/, '{n}')
      truth[group] ??= { keys: 0, memory: 0 }
      truth[group].keys++
      truth[group].memory += Number(memory)
    }
  }
  await redis.select(0)
  // These are over before the profile looks at the file, and not before it is there.
  const last = redis.pipeline()
  for (let i = 0; i < 3; i++) last.pexpire(`session:${1000 + i}`, 1000 + i * 500)
  last.save()
  for (const [error] of (await last.exec()) ?? assert.fail('not saved')) assert.ifError(error)
  const passedS = (performance.now() - fromMs) / 1000
  const [, dir] = /** @type {string[]} */ (await redis.config('GET', 'dir'))
  // What libc gives is up to 16 bytes longer where a rest is too small for another: a load has others than the one before.
  // Of small strings, one allocation each, a load may have such a one for one key or for all of them.
  const isLibc = /mem_allocator:libc/.test(await redis.info('memory'))
  const [within, longerBytes] = isLibc ? [0.08, 16] : [0.01, 0]
  return { path: join(dir, 'dump.rdb'), truth, within, longerBytes, server, passedS }
}

// The server draws the levels of a sorted set at random, each time that it loads one: 1.15 % of them all, besides the rest. The
// members of a set have an entry of 16 bytes more where several share a slot of its table, which its own hash decides: 0.4 %.
const chanceOf = (/** @type {string} */ pattern, /** @type {number} */ within) =>
  /^(rank|big:set)/.test(pattern) ? within + 0.02 : within

/** Keys by pattern, and their memory within 1 %. @param {any} found @param {Awaited<ReturnType<typeof saved>>} of */
const assertPatterns = (found, { truth, within, longerBytes }) => {
  const groups = Object.entries(truth)
  assert.equal(
    found.keys,
    groups.reduce((sum, [, { keys }]) => sum + keys, 0),
  )
  assert.equal(found.patterns.length, groups.length)
  for (const [pattern, { keys, memory }] of groups) {
    const one = found.patterns.find((/** @type {any} */ each) => each.pattern === pattern)
    assert.equal(one?.keys.value, keys, pattern)
    assert.ok(
      Math.abs(one.memory_bytes.value - memory) < memory * chanceOf(pattern, within) + keys * longerBytes,
      `${pattern}: ${one.memory_bytes.value} and ${memory} by ${found.server.version} of ${JSON.stringify(found.file)}`,
    )
  }
}

test('memory by pattern is that of MEMORY USAGE over all keys; keys that have expired since are there', async (t) => {
  const of = await saved(t)
  const { path } = of
  // Some of the sessions are over by now.
  await sleep(3000)
  const out = ownFolder(t, 'profile')
  const { code, stdout, stderr } = await runCommand(t, `profile --snapshot ${path} --json --out ${out}`, {
    out: false,
  })
  assert.equal(code, 0, stderr)
  const found = JSON.parse(stdout)
  assertPatterns(found, of)
  const sessions = found.patterns.find((/** @type {any} */ { pattern }) => pattern === 'session:{n}')
  assert.equal(sessions.expiring, 1)
  const leftS = firstMs / 1000 + 200
  assert.ok(
    sessions.left_s_p50 < leftS + 5 && sessions.left_s_p50 > leftS - of.passedS - 5,
    `${sessions.left_s_p50} s left, saved after ${of.passedS} s`,
  )
  assert.equal(found.expiring_keys, 400)
  assert.ok(
    found.largest.slice(0, 5).every((/** @type {any} */ { name }) => name.startsWith('big:')),
    JSON.stringify(found.largest),
  )
  const [folder] = readdirSync(out)
  const svg = readFileSync(join(out, folder, 'memory.svg'), 'utf8')
  assert.match(svg, /<title>session:\{n\}: [\d.]+ .B, [\d.]+ %<\/title>/)
  for (const name of ['snapshot.json', 'snapshot.html']) assert.ok(existsSync(join(out, folder, name)), name)
})

test('names keep their shape and no word where they are to be anonymous', async (t) => {
  const { path } = await saved(t)
  const out = ownFolder(t, 'profile')
  const { stdout } = await runCommand(t, `profile --snapshot ${path} --anonymous --json --out ${out}`, {
    out: false,
  })
  assert.doesNotMatch(stdout, /session|visits|cart|big:/)
})

for (const name of ['redis-6.2', 'redis-8.2', 'valkey-8.0', 'valkey-9.1'])
  test(`a file of ${name}, and what it would take in Valkey 9`, async (t) => {
    const bin = peer(t, name)
    const newest = peer(t, 'valkey-9.1')
    if (!bin || !newest) return
    const of = await saved(t, { bin })
    const { path } = of
    const running = { stop: new AbortController().signal, say: () => {} }
    const found = await snapshotOf(path, { isAnonymous: false, running })
    assertPatterns(found, of)
    if (name === 'redis-8.2') assert.match(found.warnings.join(), /Valkey does not load format 1\d of Redis/)
    else
      assert.ok(
        found.newer && found.newer.data_bytes > 0 && found.newer.version.startsWith('9.'),
        JSON.stringify(found.newer),
      )
  })

test('where the memory is too small a drawn part is loaded, and the intervals have the truth', async (t) => {
  const { path, truth } = await saved(t)
  const said = /** @type {string[]} */ ([])
  const running = {
    stop: new AbortController().signal,
    say: (/** @type {string} */ line) => void said.push(line),
  }
  const whole = await snapshotOf(path, { isAnonymous: false, running })
  const found = await snapshotOf(path, {
    isAnonymous: false,
    running,
    free: Number(whole.file.used_memory) / 2,
  })
  assert.equal(found.part, 0.4)
  assert.match(said.join('\n'), /of memory are free: 40.0 % of the keys are loaded, drawn with seed 1/)
  // How far each is from the truth, in halves of its interval. A server saves its keys in an order of its own, so the draw differs.
  const far = Object.entries(truth).flatMap(([pattern, { keys }]) => {
    const one = found.patterns.find((each) => each.pattern === pattern)?.keys
    return keys > 100 ? [one ? Math.abs(one.value - keys) / (one.high - one.value) : Infinity] : []
  })
  const inside = far.filter((halves) => halves <= 1)
  assert.ok(far.every((halves) => halves < 2.5) && inside.length > far.length / 2, far.join(' '))
  assert.equal(found.keys, whole.keys)
})

test('a file that no server loads, or that is cut, is refused in one line', async (t) => {
  const { path } = await saved(t)
  const running = { stop: new AbortController().signal, say: () => {} }
  const older = serversHere().filter(({ version }) => version.startsWith('6.'))
  await assert.rejects(
    snapshotOf(path, { isAnonymous: false, running, servers: older }),
    /no server of this machine loads format \d+ of redis/,
  )
  truncateSync(path, 5000)
  const { code, stderr } = await runCommand(
    t,
    `profile --snapshot ${path} --out ${ownFolder(t, 'profile')}`,
    { out: false },
  )
  assert.deepEqual([code, /dump\.rdb: it ends in the middle of a key/.test(stderr)], [2, true], stderr)
})
