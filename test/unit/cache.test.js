// Caches: the share of hits with its interval and trend, when a cache is warm, the source, ranks, batches.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linearRegression } from 'simple-statistics'
import { cacheOperationsOf, phases, sourceOf } from '../../lib/loads/clients/cache.js'
import { cache, cacheSection, curveSection, shareOfHits } from '../../lib/measures/cache.js'
import { nodes } from '../../lib/measures/nodes.js'
import { isWarm, trendChance } from '../../lib/run/window.js'
import { addDistinct } from '../../lib/traffic/batches.js'
import { drawsOf, ranksOf } from '../../lib/traffic/items.js'
import { timesIn } from '../../lib/traffic/times.js'
import { normal, seeded } from '../helpers/random.js'
import { rowsOf, valuesOf } from '../helpers/table.js'

/** Seconds of hits, and what they add up to. @param {readonly number[]} shares @param {number} [keys] of a second */
const secondsOf = (shares, keys = 10_000) => {
  const moments = { n: 0, hh: 0, th: 0, tk: 0, ttk: 0 }
  let hits = 0
  for (const [t, share] of shares.entries()) {
    const hit = share * keys
    hits += hit
    moments.n++
    moments.hh += (hit * hit) / keys
    moments.th += t * hit
    moments.tk += t * keys
    moments.ttk += t * t * keys
  }
  return shareOfHits(hits, keys * shares.length, moments)
}

test('the slope of the share of hits is that of a regression, and its interval covers the truth as often as it says', () => {
  const random = seeded(4)
  const noisy = Array.from({ length: 30 }, (_, t) => 0.8 + 0.002 * t + 0.01 * normal(random.next))
  const found = secondsOf(noisy)
  const { m } = linearRegression(noisy.map((share, t) => [t, share]))
  assert.ok(Math.abs(Number(found.slope) - m) < 1e-9)
  assert.equal(found.isMoving, true)
  let covered = 0
  let moving = 0
  for (let run = 0; run < 2000; run++) {
    const { share, half, isMoving } = secondsOf(
      Array.from({ length: 20 }, () => 0.9 + 0.01 * normal(random.next)),
    )
    if (Math.abs(Number(share) - 0.9) < Number(half)) covered++
    if (isMoving) moving++
  }
  assert.ok(covered > 1870 && covered < 1930, `${covered} of 2000`)
  // At a level of 1 %.
  assert.ok(moving > 5 && moving < 40, `${moving} of 2000`)
})

test('a few seconds move when the share moves by more than chance alone explains', () => {
  for (const shares of [
    [0.52, 0.63, 0.7],
    [0.5, 0.6, 0.66, 0.7],
    [0.6, 0.65],
    [0.9, 0.92, 0.93, 0.94, 0.945, 0.95],
  ])
    assert.equal(secondsOf(shares).isMoving, true, shares.join())
  const random = seeded(11)
  for (const n of [2, 3, 5, 7]) {
    let moving = 0
    for (let run = 0; run < 1000; run++) {
      const chance = Math.sqrt((0.8 * 0.2) / 10_000)
      const shares = Array.from({ length: n }, () => 0.8 + chance * normal(random.next))
      if (secondsOf(shares).isMoving) moving++
    }
    // At a level of 1 %.
    assert.ok(moving < 25, `${moving} of 1000 with ${n} seconds`)
  }
})

test('what is left at the end of a run does not count as a second', async () => {
  let nowMs = 0
  const plan = { order: 'uniform', quantity: 10, cache: {}, durationMs: 2000 }
  const load = () => ({ writing: { lastSettledMs: () => 2000 } })
  const source = await cache.open(/** @type {any} */ ({ plan, elapsed: () => nowMs, load }))
  source.startRun()
  const seconds = [970, 1970, 2000].map((atMs) => {
    nowMs = atMs
    source.counts.hits = 10
    return source.second()['cache.moments']?.n
  })
  assert.deepEqual(seconds, [1, 1, 0])
  source.close()
})

test('two seconds have no interval, and equal ones one without width', () => {
  assert.deepEqual(secondsOf([0.9, 0.8]).half, null)
  assert.ok(Number(secondsOf([0.9, 0.9, 0.9, 0.9]).half) < 1e-6)
})

test('values without a trend have a clear one as often as the test says', () => {
  const random = seeded(9)
  let clear = 0
  for (let run = 0; run < 2000; run++) if (trendChance(Array.from({ length: 10 }, random.next)) < 0.1) clear++
  assert.ok(clear > 120 && clear < 230, `${clear} of 2000`)
  assert.ok(trendChance([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) < 0.001)
})

/** @param {number} hitPct @param {number} keys @param {number} [evictions] */
const lineOf = (hitPct, keys, evictions = 0) => {
  const nodes = [
    { role: 'master', keys, evictions },
    { role: 'replica', keys: 0, evictions: 0 },
  ]
  return { cache: { hits: hitPct * 100, misses: (100 - hitPct) * 100 }, nodes }
}

test('a cache is warm when its share of hits stays, and it is full or grows no more', () => {
  const calm = [90, 90.1, 89.9, 90, 90.1, 90, 89.9, 90, 90.1, 90]
  const of = (/** @type {number[]} */ shares, /** @type {(i: number) => number} */ keys, evictions = 0) =>
    isWarm([lineOf(10, 1), ...shares.map((share, i) => lineOf(share, keys(i), evictions))])
  const same = () => 5000
  const grows = (/** @type {number} */ i) => 5000 + 100 * i
  const risen = calm.map((share, i) => share + i)
  const noisy = calm.map((share, i) => share + 4 * (i % 2))
  assert.equal(of(calm, same), true)
  assert.equal(of(calm.slice(1), same), false, 'nine seconds')
  assert.equal(of(calm, grows), false, 'it is still filling')
  assert.equal(of(calm, grows, 7), true, 'it is full')
  assert.equal(of(risen, same, 7), false, 'a trend')
  assert.equal(of(noisy, same, 7), true, 'no trend, but noise')
})

const msOf = (/** @type {string} */ text) => timesIn(text)?.meanMs ?? null
for (const [text, mean] of rowsOf(`
5ms -> 5
0ms -> 0
2ms-20ms -> 11
exp:500us -> 0.5
60s -> 60000
61s -> null
20ms-2ms -> null
5 -> null
exp:2ms-3ms -> null
1ms-2ms-3ms -> null
`))
  test(`a time of the source: ${text}`, () => assert.equal(String(msOf(text)), mean))

test('drawn times have their mean, and are in their range', () => {
  const random = seeded(3)
  for (const text of ['2ms-20ms', 'exp:5ms']) {
    const time = timesIn(text)
    const drawn = Array.from({ length: 20_000 }, () => Number(time?.draw(random.next)))
    const mean = drawn.reduce((sum, ms) => sum + ms, 0) / drawn.length
    assert.ok(Math.abs(mean / Number(time?.meanMs) - 1) < 0.03, `${text}: ${mean}`)
    if (text === '2ms-20ms') assert.ok(Math.min(...drawn) >= 2 && Math.max(...drawn) < 20)
  }
})

test('a source answers so many at once, the others in their order, and what it had not answered is given back', () => {
  /** @type {{ then: (one: string) => void, one: string }[]} */
  const timers = []
  const read = /** @type {string[]} */ ([])
  const begun = /** @type {number[]} */ ([])
  const took = /** @type {number[]} */ ([])
  let nowMs = 100
  const source = sourceOf({
    missTime: '5ms',
    missConcurrency: 2,
    onBegin: (atOnce) => begun.push(atOnce),
    onRead: (/** @type {string} */ one, tookMs) => {
      read.push(one)
      took.push(tookMs)
    },
    machine: {
      clock: () => nowMs,
      random: () => 0.5,
      timers: /** @type {any} */ ({
        setTimeout: (/** @type {any} */ then, /** @type {number} */ ms, /** @type {string} */ one) => {
          assert.equal(ms, 5)
          timers.push({ then, one })
        },
      }),
    },
  })
  for (const one of ['a', 'b', 'c', 'd', 'e']) source.read(one)
  assert.deepEqual(valuesOf(timers, 'one'), ['a', 'b'])
  const answer = (/** @type {number} */ i) => timers[i].then(timers[i].one)
  nowMs += 6
  answer(1)
  answer(0)
  assert.deepEqual(took, [6, 6], 'timers may be late')
  assert.deepEqual(read, ['b', 'a'])
  assert.deepEqual(valuesOf(timers, 'one'), ['a', 'b', 'c', 'd'])
  assert.deepEqual(source.end().sort(), ['c', 'd', 'e'])
  answer(2)
  assert.deepEqual(read, ['b', 'a'], 'it has ended')
  assert.deepEqual(begun, [1, 2, 2, 2], 'those that wait are not at the source')
})

test('the mean time of the source is of requests that are measured, also where it had begun to read before', () => {
  let nowMs = 0
  /** @type {(() => void)[]} */
  const timers = []
  const counts = {
    ...{ hits: 0, misses: 0, fills: 0, coalesced: 0, sourced: 0, sourceMs: 0, atOnce: 0, stampede: 0 },
    ...{ late: { hits: 0, misses: 0 }, decile: null, hitTimes: null, missTimes: null, isMeasuring: false },
    startMeasuring() {
      counts.isMeasuring = true
    },
  }
  const timersOf = (/** @type {any} */ then, /** @type {number} */ _, /** @type {any} */ one) =>
    timers.push(() => then(one))
  const { kind, first } = cacheOperationsOf(
    /** @type {any} */ ({
      plan: { cluster: false },
      clients: [{ inFlight: 0 }],
      operations: [
        { repeatable: true, command: { most: 9 } },
        { repeatable: true, command: { most: 9 } },
      ],
      ledger: { acked: () => {}, commands: { sent: 0 } },
      latency: { record: () => {} },
      machine: { clock: () => nowMs, random: () => 0.5, timers: { setTimeout: timersOf } },
    }),
    /** @type {any} */ (() => ({ begin: () => {}, outbox: { end: () => {} } })),
    /** @type {any} */ ({
      cache: { batch: 1, coalesce: false, missTime: '5ms', missConcurrency: null },
      ...{ many: null, counts, draw: () => 1 },
    }),
  )
  /** @param {boolean} measured */
  const miss = (measured) => {
    const request = first(0, phases.serve, 7, nowMs, measured)
    kind.reply?.(request).nil?.()
    kind.taken?.(request, /** @type {any} */ (null), nowMs, /** @type {any} */ (null))
  }
  miss(false)
  nowMs = 20
  miss(true)
  nowMs = 25
  for (const answer of timers) answer()
  assert.deepEqual([counts.fills, counts.sourced, counts.sourceMs], [2, 1, 5])
})

test('ranks follow popularity where it shifts, and items where they are replaced', () => {
  for (const more of [{}, { shift: '50%/s' }, { churn: '40%/s' }, { shift: '10%/s', churn: '40%/s' }]) {
    const fields = { order: 'zipf:1.2', count: 1000, quantity: 1000, seed: 5, ...more }
    const draw = drawsOf(fields)
    const rankOf = ranksOf(fields)
    const plain = drawsOf({ order: 'zipf:1.2', count: 1000, seed: 5 })
    for (let i = 0; i < 3000; i++) assert.equal(rankOf?.(draw(i), i), plain(0) - 1, JSON.stringify(more))
  }
  assert.equal(ranksOf({ order: 'uniform', count: 10, seed: 1 }), null)
})

test('a request asks for a key once', () => {
  const drawn = [3, 3, 7, 3, 8]
  const keys = /** @type {number[]} */ ([])
  addDistinct(keys, 7, 6, () => Number(drawn.shift()))
  assert.deepEqual(keys, [7, 3, 8])
})

test('hits by INFO are of the same requests, though it answers beside the seconds', () => {
  const infoOf = (/** @type {object[]} */ nodes, /** @type {object} */ plan = { totalAgents: 1 }) => {
    const rows = nodes.map((row, i) => [String(i), { role: 'master', over_ms: 1000, ...row }])
    const window = { 'cache.hits': 900, 'cache.misses': 100, nodes: Object.fromEntries(rows) }
    const known = /** @type {any} */ ({
      window,
      plan: { cache: {}, strategy: 'cache-aside', ...plan },
      overS: 1,
    })
    return /** @type {any} */ (cache.summary(known)).cache.info_hit_pct
  }
  const counted = { keyspace_hits: 920, keyspace_misses: 140 }
  // Twenty hits and forty misses came before the second, and were counted by both.
  assert.equal(infoOf([{ ...counted, seen: { hit: 920, miss: 140 } }]), 90)
  // One that we do not know of stays.
  const strange = { ...counted, keyspace_hits: 930, seen: { hit: 920, miss: 140 } }
  assert.equal(infoOf([strange]), (910 / 1010) * 100)
  const half = { keyspace_hits: 460, keyspace_misses: 70, seen: { hit: 920, miss: 140 } }
  assert.equal(infoOf([half, half]), 90)
  for (const alone of [infoOf([counted]), infoOf([{ ...counted, seen: { hit: 1 } }], { totalAgents: 2 })])
    assert.equal(alone, (920 / 1060) * 100)
  // Reads that replicas answer are counted there.
  for (const reads of ['replica', 'any', 'nearest'])
    assert.equal(infoOf([{ ...counted, seen: {} }], { totalAgents: 1, reads }), null)
  const none = { keyspace_hits: 0, keyspace_misses: 0, seen: { hit: 0, miss: 0 } }
  assert.equal(infoOf([none]), null)
  assert.notEqual(infoOf([counted], { totalAgents: 1, reads: 'master' }), null)
})

test('time above maxmemory is a part of the time that servers were watched, however little of their CPU was used', () => {
  const nodes = {
    0: { role: 'master', over_ms: 10_000, over_limit_s: 3, engine_cpu_s: 0.5 },
    1: { role: 'master', over_ms: 10_000, over_limit_s: 0, engine_cpu_s: 0.5 },
    2: { role: 'replica', over_ms: 10_000, over_limit_s: 9, engine_cpu_s: 0.5 },
  }
  const known = /** @type {any} */ ({
    window: { nodes },
    plan: { strategy: 'cache-aside', cache: {}, totalAgents: 1 },
    overS: 10,
  })
  const of = /** @type {any} */ (cache.summary(known)).cache
  assert.equal(of.over_limit_pct, 15)
  const memory = { ...of, memory_bytes: 1e6, masters: [] }
  const words = (/** @type {object} */ change) =>
    JSON.stringify(cacheSection.rows({ cache: { ...memory, ...change } }))
  assert.match(words({}), /above its limit for 15\.0 % of the time/)
  assert.doesNotMatch(words({ over_limit_pct: 0 }), /above/)
})

test('after a failover a shard has the memory of its new master, and the evictions of both', () => {
  const held = (/** @type {number} */ keys) => ({
    memory_bytes: 3e6,
    data_bytes: 2e6,
    rss_bytes: 3.3e6,
    keys,
  })
  const limited = { maxmemory: 4e6, policy: 'allkeys-lru', over_ms: 1000, evictions: 500 }
  const row = (/** @type {string} */ address, /** @type {number} */ shard, /** @type {number} */ keys) => ({
    ...{ address, shard, role: 'master', ...held(keys), ...limited },
  })
  const { nodes: field } = nodes.record
  let folded = null
  for (let s = 0; s < 20; s++) {
    const at = { at_ms: s * 1000 }
    // The dead one has a row with the time of the sample, which is later than the answers of the others.
    const dead = { address: 'a', shard: 1, role: 'master', at_ms: s * 1000 + 40, gap: 'refused' }
    const lines = s < 10 ? [{ ...row('a', 1, 100), ...at }] : [dead, { ...row('b', 1, 110), ...at }]
    folded = field.overTime(folded, [...lines, { ...row('c', 2, 90), ...at }])
  }
  const known = /** @type {any} */ ({
    window: { nodes: folded },
    plan: { strategy: 'cache-aside', cache: {}, totalAgents: 1 },
    overS: 20,
  })
  const of = /** @type {any} */ (cache.summary(known)).cache
  assert.deepEqual([of.memory_bytes, of.maxmemory_bytes, of.data_bytes, of.keys], [6e6, 8e6, 4e6, 200])
  assert.deepEqual(valuesOf(of.masters, 'address').sort(), ['b', 'c'])
  assert.deepEqual([of.evicted_per_s, of.policy], [1000, 'allkeys-lru'])
})

test('a shard that is removed is no part of what the servers have, nor are the others watched for longer by its time', () => {
  const row = (/** @type {string} */ address, /** @type {number} */ shard) => ({
    ...{ address, shard, role: 'master', memory_bytes: 3e6, data_bytes: 2e6, rss_bytes: 3.3e6, keys: 100 },
    ...{ maxmemory: 4e6, policy: 'allkeys-lru', over_ms: 1000, evictions: 500 },
  })
  const { nodes: field } = nodes.record
  for (const removed of [1, 2, 3]) {
    let folded = null
    for (let s = 0; s < 20; s++) {
      const at = { at_ms: s * 1000 }
      const all = ['a', 'b', 'c'].map((address, i) => ({ ...row(address, i + 1), ...at }))
      // Shards are numbered anew.
      const left = all.filter(({ shard }) => shard !== removed).map((one, i) => ({ ...one, shard: i + 1 }))
      const gone = {
        address: all[removed - 1].address,
        shard: removed,
        role: 'master',
        gap: 'unlisted',
        ...at,
      }
      folded = field.overTime(folded, s < 10 ? all : [...left, gone])
    }
    const known = /** @type {any} */ ({
      window: { nodes: folded, 'cache.over_s': 20 },
      plan: { strategy: 'cache-aside', cache: {}, totalAgents: 1 },
      overS: 20,
    })
    const of = /** @type {any} */ (cache.summary(known)).cache
    const about = `shard ${removed}`
    assert.deepEqual([of.memory_bytes, of.maxmemory_bytes, of.data_bytes], [6e6, 8e6, 4e6], about)
    assert.deepEqual([of.keys, of.masters.length, of.evicted_per_s], [200, 2, 1250], about)
  }
})

test('a policy that changed while it was measured is a limit that changed', () => {
  const foldedOf = (/** @type {readonly string[]} */ policies) => {
    let folded = null
    for (const [s, policy] of policies.entries()) {
      const row = { address: 'a', shard: 1, role: 'master', at_ms: s * 1000, keys: 100, maxmemory: 4e6 }
      folded = nodes.record.nodes.overTime(folded, [{ ...row, policy }])
    }
    return folded
  }
  const changed = (/** @type {string[]} */ ...policies) => {
    const plan = { strategy: 'cache-aside', cache: {}, totalAgents: 1 }
    const known = /** @type {any} */ ({ window: { nodes: foldedOf(policies) }, plan, overS: 20 })
    return /** @type {any} */ (cache.summary(known)).cache.limit_changed
  }
  assert.equal(changed('allkeys-lru', 'allkeys-lru'), false)
  assert.equal(changed('allkeys-lru', 'allkeys-random'), true)
  assert.equal(changed('allkeys-lru', 'allkeys-random', 'allkeys-lru'), true)
})

test('INFO counts no fields of hashes: their hits and expirations by it are not known', () => {
  const row = { role: 'master', over_ms: 1000, keyspace_hits: 999, keyspace_misses: 1, expirations: 0 }
  const window = { 'cache.hits': 680, 'cache.misses': 320, nodes: { 0: row } }
  const found = (/** @type {string} */ strategy) => {
    const plan = { cache: {}, totalAgents: 2, strategy }
    const of = /** @type {any} */ (cache.summary(/** @type {any} */ ({ window, plan, overS: 1 }))).cache
    return [of.hit_pct, of.info_hit_pct, of.expired_per_s]
  }
  assert.deepEqual(found('cache-aside'), [68, 99.9, 0])
  for (const strategy of ['cache-hash', 'cache-hash-ttl']) assert.deepEqual(found(strategy), [68, null, null])
})

test('misses a second are of the seconds in which they were counted, not of those of the servers', () => {
  const nodes = { 0: { role: 'master', over_ms: 7600, keyspace_hits: 1, keyspace_misses: 1 } }
  const cached = { 'cache.hits': 9600, 'cache.misses': 30_780, 'cache.fills': 16_200, 'cache.over_s': 8.1 }
  const window = { ...cached, nodes }
  const known = /** @type {any} */ ({
    window,
    plan: { cache: {}, strategy: 'cache-aside', totalAgents: 1 },
    overS: 15,
  })
  const { misses_per_s: misses, source_per_s: fills } = /** @type {any} */ (cache.summary(known)).cache
  assert.deepEqual([misses, fills], [3800, 2000])
})

test('the first second of a box that came late is no longer than it was there', async () => {
  let nowMs = 0
  const plan = { order: 'uniform', quantity: 10, cache: {} }
  const source = await cache.open(/** @type {any} */ ({ plan, elapsed: () => nowMs }))
  nowMs = 30_400
  source.startRun()
  const lengths = [31_000, 32_000].map((atMs) => {
    nowMs = atMs
    return source.second()['cache.over_s']
  })
  assert.equal(lengths.map((s) => s.toFixed(3)).join(), '0.600,1.000')
  source.close()
})

test('the last second of a cache ends with its time or its last answer, not when servers have told their figures', async () => {
  let nowMs = 2000
  const plan = { order: 'uniform', quantity: 10, cache: {}, durationMs: 3000 }
  for (const [settledMs, length] of [
    [2900, '1.000'],
    [3040, '1.040'],
  ]) {
    nowMs = 2000
    const load = () => ({ writing: { lastSettledMs: () => settledMs } })
    const source = await cache.open(/** @type {any} */ ({ plan, elapsed: () => nowMs, load }))
    source.startRun()
    nowMs = 3700
    source.stop()
    nowMs = 3800
    assert.equal(source.second()['cache.over_s'].toFixed(3), length)
    source.close()
  }
})

const calm = {
  ...{ is_moving: false, drift_points_per_min: 0, limit_changed: false, fragmentation: 1.1 },
  ...{ hit_pct: 90, hit_pct_low: 89 },
}
for (const [what, change, codes] of /** @type {[string, object, string[]][]} */ ([
  ['nothing', {}, []],
  ['it moves, by less than matters', { is_moving: true, drift_points_per_min: 0.5 }, []],
  ['it moves', { is_moving: true, drift_points_per_min: -3 }, ['cache-moving']],
  ['its limit changed', { limit_changed: true }, ['cache-limit']],
  ['it swaps', { fragmentation: 0.6 }, ['cache-swap']],
]))
  test(`why a run of a cache may not be quoted: ${what}`, () => {
    const reasons = cacheSection.reasons({ measured_s: 30, cache: { ...calm, ...change } })
    assert.deepEqual(valuesOf(reasons, 'code'), codes)
    assert.ok(reasons.every(({ invalidates = true }) => invalidates))
  })

test('a run of too few seconds says that it cannot tell', () => {
  const of = { ...calm, hit_pct_low: null }
  const [{ code, invalidates }] = cacheSection.reasons({ measured_s: 1, cache: of })
  assert.deepEqual([code, invalidates], ['cache-short', false])
  assert.deepEqual(cacheSection.reasons({ measured_s: 1, cache: { ...of, hit_pct: null } }), [])
})

test('where all keys fit, a run says that nothing is evicted, and stays valid', () => {
  const reasonsWith = (/** @type {number | null} */ maxmemory_bytes) =>
    curveSection.reasons({ miss_curve: { footprint_bytes: 4e6 }, cache: { maxmemory_bytes } })
  const message =
    'all keys that were asked for fit: they take 4.00 MB of 10.0 MB, so nothing is evicted; give less by --maxmemory'
  assert.deepEqual(reasonsWith(10e6), [{ code: 'cache-whole', message, invalidates: false }])
  for (const limit of [3e6, null]) assert.deepEqual(reasonsWith(limit), [])
})
