// Caches on real servers: what the servers count themselves, evictions, batches, hashes, waits for the same fill, and bad input.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, test } from 'node:test'
import { otherVersions, peerPath } from '../../lib/servers/peers.js'
import { startHere, writeHere } from '../helpers/here.js'
import { peer } from '../helpers/peers.js'
import {
  areSampled,
  assertDone,
  codesIn,
  faultsIn,
  oddIn,
  outcomesOf,
  sumOf,
  until,
} from '../helpers/programs.js'
import { callsOf, cli, startCluster, startServer } from '../helpers/servers.js'

const zipf = '--keys 20k --popularity zipf:0.99 --value-size 200 --connections 8 --pipeline 8'

/** Versions that no CI has. @param {import('node:test').TestContext} t @param {string} name */
const otherVersion = (t, name) => {
  const version = otherVersions.find((one) => one.name === name)
  const path = version && peerPath(version, process.env)
  if (path && existsSync(path)) return path
  t.skip(`${name} is not there: npm run setup:peers fetches it`)
}

/** A count of INFO. @param {Parameters<typeof cli>[0]} server @param {string} name */
const infoOf = async (server, name) =>
  Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(await cli(server, 'INFO', 'stats'))?.[1])

/** It may end while the cache still fills, and drop what a busy machine does not get to. @param {any} run */
const assertPlayed = ({ document, stderr }) => {
  const odd = oddIn(document).filter((/** @type {{ code: string }} */ { code }) => code !== 'cache-moving')
  assert.deepEqual(odd, [], stderr)
}

describe('caches', { concurrency: 1 }, () => {
  for (const name of [null, 'valkey-9.1'])
    test(`hits and misses are those that the server counts, and evictions are no fault: ${name ?? 'from PATH'}`, async (t) => {
      const bin = name === null ? undefined : peer(t, name)
      if (name !== null && bin === undefined) return
      const server = await startServer(t, {
        config: { maxmemory: '3mb', 'maxmemory-policy': 'allkeys-lru' },
        bin,
      })
      const run = await writeHere(
        t,
        `--strategy cache-aside ${zipf.replace('200', '2000')} --rate 4000 --max-behind 60s --duration 4s --warm-up 1s`,
        server,
      )
      assertPlayed(run)
      const { cache, items, counts } = run.document
      assert.equal(items.acked, items.offered)
      assert.equal(outcomesOf(items), items.offered)
      assert.equal(counts.hit + counts.miss, items.offered)
      const others = await otherGets(server, items.offered)
      const [hits, misses] = [await infoOf(server, 'keyspace_hits'), await infoOf(server, 'keyspace_misses')]
      const byServer = (hits / (hits + misses)) * 100
      const byUs = (counts.hit / (counts.hit + counts.miss)) * 100
      // A slow machine asks so little that those of the preflight check show.
      const apart = 0.1 + (100 * others) / items.offered
      assert.ok(Math.abs(byServer - byUs) < apart, `${byUs} %, by INFO ${byServer} %`)
      assert.ok(
        cache.is_moving ||
          !areSampled(run.seconds.slice(1)) ||
          Math.abs(cache.hit_pct - cache.info_hit_pct) < 0.1,
        `${cache.hit_pct} %, ${cache.info_hit_pct} %`,
      )
      // A machine that stood still may have two seconds, which have no interval.
      const moments = sumOf(
        run.seconds.filter(({ phase }) => phase === 'measuring'),
        'cache.moments.n',
      )
      const ends = [cache.hit_pct_low, cache.hit_pct_high]
      if (moments < 3) assert.deepEqual(ends, [null, null])
      else assert.ok(ends[0] <= cache.hit_pct && cache.hit_pct <= ends[1], `${ends}`)
      assert.ok(cache.evicted_per_s > 0)
      const expected = (1 - cache.hit_pct / 100) * run.document.rate.achieved
      assert.ok(Math.abs(cache.misses_per_s / expected - 1) < 0.3, `${cache.misses_per_s}, ${expected}`)
      assert.equal(cache.maxmemory_bytes, 3 * 2 ** 20)
      assert.equal(cache.policy, 'allkeys-lru')
      assert.ok(cache.deciles[0] > cache.deciles[9])
      assert.ok(cache.miss_latency_us.p50 > 0 && cache.hit_latency_us.p50 > 0)
      assert.equal(cache.fills, cache.misses)
    })

  test('filled as if it had been in use, it is warm from the start; how the server evicts is read', async (t) => {
    const config = { maxmemory: '5mb', 'maxmemory-policy': 'allkeys-lru', 'maxmemory-samples': '9' }
    const server = await startServer(t, { config })
    const line = `--strategy cache-aside ${zipf} --rate 5000 --duration 5s --warm-up 1s`
    const { document } = await writeHere(t, `${line} --fill`, server)
    assert.ok(!codesIn(document).includes('cache-moving'), JSON.stringify(document.warnings))
    const { miss_curve: curve, cache } = document
    assert.equal(curve.maxmemory_samples, 9)
    assert.equal(curve.lfu_log_factor, 10)
    assert.ok(Math.abs(curve.predicted_pct - cache.hit_pct) < 1.5, `${curve.predicted_pct}, ${cache.hit_pct}`)
  })

  test('a fill leaves it full, so that what is missed takes the place of another', async (t) => {
    const config = { maxmemory: '16mb', 'maxmemory-policy': 'allkeys-lru' }
    const server = await startServer(t, { config })
    const line = `--strategy cache-aside ${zipf.replace('20k', '60k').replace('zipf:0.99', 'uniform')}`
    const { document } = await writeHere(t, `${line} --rate 4000 --fill --duration 4s --warm-up 1s`, server)
    const { hit_pct: hits } = document.cache
    assert.ok(hits > 60 && hits < 95, `${hits} %`)
    const [evicted, misses] = [await infoOf(server, 'evicted_keys'), await infoOf(server, 'keyspace_misses')]
    // Memory that connections take and give back moves this by a tenth. Of a cache with 6 % free nothing was evicted.
    assert.ok(evicted > 0.7 * misses, `${evicted} evicted of ${misses} missed`)
  })

  test('keys that are measured are those whose times are; a warm-up ends with a whole second', async (t) => {
    const server = await startServer(t)
    const load = '--strategy cache-aside --keys 20k --rate 4000 --duration 3s'
    const run = await writeHere(t, `${load} --warm-up 1s`, server)
    assertPlayed(run)
    const { cache, items, counts } = run.document
    const timed = cache.hit_latency_us.count + cache.miss_latency_us.count
    assert.equal(cache.hits + cache.misses, timed)
    assert.equal(counts.hit + counts.miss, items.acked)
    const refused = await writeHere(t, `${load} --warm-up 1500ms`, server)
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /--warm-up: the hits of a cache are counted by whole seconds; give 2s/)
  })

  test('keys of one request: those that are not there are filled, each once', async (t) => {
    const server = await startServer(t)
    const run = await writeHere(
      t,
      `--strategy cache-mget --with batch=5 ${zipf} --rate 500 --duration 4s --warm-up 0`,
      server,
    )
    assertPlayed(run)
    const { items, counts, cache } = run.document
    assert.equal(items.acked, 2000)
    assert.equal(await callsOf(server, 'mget'), 2000)
    assert.equal(counts.miss, cache.fills)
    // What is filled stays: the number of keys is that of the first misses, and of those that came meanwhile.
    const keys = Number(await cli(server, 'DBSIZE'))
    assert.ok(cache.fills >= keys - 5 && cache.fills < 2 * keys, `${cache.fills} fills, ${keys} keys`)
  })

  test('fields of hashes, and writes that invalidate', async (t) => {
    const server = await startServer(t)
    const run = await writeHere(
      t,
      `--strategy cache-hash --keys 1000 --popularity zipf:0.99 --with ratio=1:9 --rate 1000 --duration 4s --warm-up 0`,
      server,
    )
    assertPlayed(run)
    const { cache, items, counts } = run.document
    assert.equal(await callsOf(server, 'hdel'), cache.invalidated)
    assert.ok(cache.invalidated > 300 && cache.invalidated < 500, String(cache.invalidated))
    assert.equal(counts.hit + counts.miss + cache.invalidated, items.acked)
    assert.ok(Number(await cli(server, 'DBSIZE')) <= 12)
  })

  for (const name of ['redis-7.4', 'redis-8.2', 'valkey-9.1'])
    test(`fields with a lifetime of their own are asked for again when it is over: ${name}`, async (t) => {
      const bin = name === 'redis-7.4' ? otherVersion(t, name) : peer(t, name)
      if (bin === undefined) return
      const server = await startServer(t, { bin })
      const run = await writeHere(
        t,
        '--strategy cache-hash-ttl --keys 200 --ttl 1s --rate 1000 --duration 4s --warm-up 0',
        server,
      )
      // It begins cold, and may still be warming up; what is slow beside other load is not settled at the end.
      const faults = faultsIn(run.document).map((/** @type {{ code: string }} */ { code }) => code)
      const allowed = ['cache-moving', 'unsettled', 'gaps']
      assert.deepEqual(
        faults.filter((/** @type {string} */ code) => !allowed.includes(code)),
        [],
      )
      const { cache, items, counts } = run.document
      assert.equal(counts.hit + counts.miss, items.acked)
      const [sets, scripts] = [await callsOf(server, 'hsetex'), await callsOf(server, 'evalsha')]
      assert.ok(sets === cache.fills || scripts >= cache.fills, `${sets}, ${scripts} of ${cache.fills}`)
      // Each field is read from the source once in its second, and the time until it is asked for again.
      assert.ok(cache.misses > 200 && cache.misses < 1400, `${cache.misses} misses`)
      await until('no field', async () => (await server.redis.hlen('cache:0')) === 0)
    })

  test('a server without lifetimes of fields is refused before the first write', async (t) => {
    const server = await startServer(t)
    const run = await writeHere(t, '--strategy cache-hash-ttl --keys 200 --ttl 1s --duration 1s', server)
    assert.equal(run.code, 3)
    assert.match(run.stderr, /needs HSETEX \(Redis 8\.0, Valkey 9\.0\) or HEXPIRE \(Redis 7\.4\)/)
  })

  test('a source that takes its time: misses take as long, and with coalesce a key is read once at a time', async (t) => {
    const server = await startServer(t)
    const played = async (/** @type {string} */ more) => {
      const run = await writeHere(
        t,
        `--strategy cache-aside --keys 20 --popularity zipf:0.99 --connections 40 --rate 2000 --ttl 1s --with miss-time=30ms --duration 3s --warm-up 0 ${more}`,
        server,
      )
      assertPlayed(run)
      return run.document.cache
    }
    const plain = await played('--prefix a:')
    assert.ok(plain.miss_latency_us.p50 >= 30_000)
    assert.ok(plain.source_mean_us >= 29_900, `${plain.source_mean_us} us`)
    assert.ok(plain.stampede > 1, `${plain.stampede} at once for one key`)
    assert.ok(plain.expired_per_s > 0)
    const one = await played('--with coalesce --prefix b:')
    assert.equal(one.stampede, 1)
    assert.ok(one.coalesced > 0 && one.fills < plain.fills, `${one.fills} fills, ${plain.fills} without`)
    const few = await played('--with coalesce,miss-concurrency=2 --prefix c:')
    assert.ok(few.miss_latency_us.max > 60_000, `${few.miss_latency_us.max} us: others wait for the source`)
    assert.equal(few.most_at_once, 2)
  })

  test('in a cluster, also keys of one request: a command for each slot, and the request counts when all are answered', async (t) => {
    const { nodes, access } = await startCluster(t, { replicas: 0 })
    const servers = nodes.map((node) => ({ ...node, ...access }))
    const run = await writeHere(
      t,
      `--strategy cache-mget --with batch=5 --cluster ${zipf} --rate 500 --duration 3s --warm-up 0`,
      servers[0],
    )
    assertPlayed(run)
    const { items, counts, cache, latency_us: latency } = run.document
    assert.deepEqual([items.acked, latency.intended.count], [1500, 1500])
    assert.equal(counts.miss, cache.fills)
    const sum = async (/** @type {(server: typeof servers[number]) => Promise<number>} */ of) =>
      (await Promise.all(servers.map(of))).reduce((all, n) => all + n, 0)
    const mgets = await sum((server) => callsOf(server, 'mget'))
    // Five different keys are in one slot together as often as 5 of 16384 are.
    const asked = counts.hit + counts.miss
    assert.ok(mgets <= asked && mgets > 0.99 * asked, `${mgets} MGET of ${asked} keys`)
    const keys = await sum(async (server) => Number(await cli(server, 'DBSIZE')))
    assert.ok(cache.fills >= keys - 5 && cache.fills < 2 * keys, `${cache.fills} fills, ${keys} keys`)

    const line = `--strategy cache-aside ${zipf} --prefix one: --cluster --rate 2000 --duration 1s --warm-up 0`
    const single = await writeHere(t, line, servers[0])
    assertDone(single)
    const { hit, miss } = single.document.counts
    assert.deepEqual([single.document.items.acked, hit + miss], [2000, 2000])
  })

  test('maxmemory that changes midway makes a run not valid', async (t) => {
    const server = await startServer(t, { config: { maxmemory: '6mb', 'maxmemory-policy': 'allkeys-lru' } })
    const run = startHere(t, 'write', `--strategy cache-aside ${zipf} --rate 5000 --warm-up 1s`, server)
    const measured = () => run.intervals().filter(({ phase }) => phase === 'measuring').length
    await until('two measured seconds', () => measured() >= 2)
    await cli(server, 'CONFIG', 'SET', 'maxmemory', '5mb')
    const before = measured()
    await until('seconds after it', () => measured() >= before + 3)
    run.kill('SIGINT')
    const { document } = await run.ended
    assert.ok(codesIn(document).includes('cache-limit'), JSON.stringify(document.warnings))
  })

  test('a server that may not evict is refused before the first write', async (t) => {
    const server = await startServer(t, { config: { maxmemory: '3mb', 'maxmemory-policy': 'noeviction' } })
    const run = await writeHere(t, `--strategy cache-aside ${zipf} --duration 1s`, server)
    assert.equal(run.code, 3)
    assert.match(run.stderr, /may not evict \(noeviction\), and .* do not fit into its maxmemory/)
    assert.equal(await cli(server, 'DBSIZE'), '0')
  })
})

/** Our leases and the plan are read by GET too. @param {Parameters<typeof cli>[0]} server @param {number} ours */
const otherGets = async (server, ours) => {
  const others = (await callsOf(server, 'get')) - ours
  assert.ok(others >= 0 && others < 50, `${others} GETs besides`)
  return others
}
