// What a cache had of what it was asked for, how long hits and misses took, and what the source was asked; of the servers what they
// evicted. The share of hits comes with an interval and a test for a trend: both follow from sums over the seconds.
import { normalQuantile, studentQuantile } from '../base/distributions.js'
import * as S from '../base/shape.js'
import { exactly } from '../base/typed.js'
import { bytes, count, facts, micros, percent, plainText, rate } from '../base/units.js'
import { ranksOf } from '../traffic/items.js'
import { strategyNamed } from '../workloads/index.js'
import { amount, counts, length, namedFields, timesField, worst } from './fields.js'
import {
  counter,
  histogram,
  measure,
  metric,
  partMetric,
  per,
  percentileMetrics,
  percentilesIn,
  someTimes,
} from './measure.js'
import { section } from './section.js'
import { note } from './warnings.js'

/**
 * @import { Shaped } from '../base/shape-types.js'
 * @import { Folded } from './fold.js'
 * @import { AnyPlan } from './measure.js'
 *
 * @typedef {{ record: (us: number, weight?: number) => void }} Times
 * @typedef {object} CacheCounts since the last second
 * @property {number} hits keys
 * @property {number} misses
 * @property {number} fills requests of the source
 * @property {number} coalesced misses that waited for the fill of another
 * @property {number} invalidated
 * @property {number} sourced what the source has read, and how long that took
 * @property {number} sourceMs
 * @property {number} atOnce most requests that the source read at once, without those that waited for it
 * @property {number} stampede most fills of one key at once, from the miss until it was written
 * @property {Times | null} hitTimes
 * @property {Times | null} missTimes
 * @property {((n: number, isHit: boolean) => void) | null} decile null: items are not popular by rank
 * @property {{ hits: number, misses: number }} late keys that were due in the warm-up, after its last line
 * @property {boolean} isMeasuring
 * @property {() => void} startMeasuring call before the first key that is measured
 */

const parts = 10
const added = exactly(['hits', 'misses', 'fills', 'coalesced', 'invalidated'])

/** @param {AnyPlan} plan @param {() => number} elapsed */
const decilesOf = (plan, elapsed) => {
  const rankOf = ranksOf({ ...plan, count: plan.quantity })
  const seen = new Uint32Array(2 * parts)
  return {
    add:
      rankOf &&
      ((/** @type {number} */ n, /** @type {boolean} */ isHit) => {
        const place = Math.floor((rankOf(n, elapsed()) * parts) / plan.quantity)
        seen[isHit ? place : parts + place]++
      }),
    take() {
      const named = (/** @type {number} */ from) =>
        Object.fromEntries(Array.from({ length: parts }, (_, i) => [i + 1, seen[from + i]]))
      const found = { hits: named(0), misses: named(parts) }
      seen.fill(0)
      return rankOf ? found : null
    },
  }
}

// What is left at the end of a run is too short to count as a second.
const leastSecondS = 0.5
// The scatter of fewer seconds says too little: their trend is compared with what chance alone makes of so many keys.
const fewSeconds = 8
// Of a trend, on either side.
const level = 0.005

/**
 * What a second adds for the interval and the trend of the share: sums of weights, shares and times.
 * @param {number} hits
 * @param {number} keys
 * @param {number} atS
 * @param {number} overS its length
 */
const momentsOf = (hits, keys, atS, overS) =>
  keys > 0
    ? {
        n: overS < leastSecondS ? 0 : 1,
        hh: (hits * hits) / keys,
        th: atS * hits,
        tk: atS * keys,
        ttk: atS * atS * keys,
      }
    : null

/**
 * The share of hits of all keys with its 95 % interval, and how it moved: a line through the seconds, each by its keys.
 * @param {number} hits
 * @param {number} keys
 * @param {{ n: number, hh: number, th: number, tk: number, ttk: number }} moments
 */
export const shareOfHits = (hits, keys, { n, hh, th, tk, ttk }) => {
  const share = hits / keys
  if (keys === 0 || n < 2) return { share: keys > 0 ? share : null, half: null, slope: null, isMoving: false }
  const variance = Math.max(0, hh / keys - share * share)
  const spread = ttk / keys - (tk / keys) ** 2
  const slope = spread > 0 ? (th / keys - share * (tk / keys)) / spread : 0
  const half = n < 3 ? null : studentQuantile(0.025, n - 1) * Math.sqrt(variance / (n - 1))
  const left = Math.max(0, variance - slope * slope * spread)
  const least =
    n < fewSeconds
      ? normalQuantile(level) * Math.sqrt((share * (1 - share)) / keys / spread)
      : studentQuantile(level, n - 2) * Math.sqrt(left / spread / (n - 2))
  return { share, half, slope, isMoving: Math.abs(slope) > least }
}

/** @param {readonly unknown[]} values of the masters @returns {number | null} null: one does not report it */
const sumOf = (values) => {
  let sum = 0
  for (const value of values) {
    if (typeof value !== 'number') return null
    sum += value
  }
  return values.length > 0 ? sum : null
}

/**
 * Hits that INFO counted, of the requests of our seconds: it counts between its answers, so what we counted beside those is added; of
 * several masters, each by its part of the requests.
 * @param {readonly Folded[]} rows of masters
 * @param {{ hits: number, misses: number } | null} own null: other boxes have their parts
 */
const infoPctOf = (rows, own) => {
  const [hits, misses] = ['keyspace_hits', 'keyspace_misses'].map((name) =>
    sumOf(rows.map((row) => row[name])),
  )
  // Without a lookup on the masters there is nothing to compare with.
  if (hits === null || misses === null || hits + misses === 0) return null
  if (own === null || rows.some(({ seen }) => !seen)) return per(hits, hits + misses, 100)
  const beside = (/** @type {'hit' | 'miss'} */ name, /** @type {number} */ counted) =>
    rows.reduce((left, row) => {
      const part = (row.keyspace_hits + row.keyspace_misses) / (hits + misses)
      return left - (row.seen[name] ?? 0) * part
    }, counted)
  const found = hits + beside('hit', own.hits)
  return per(found, found + misses + beside('miss', own.misses), 100)
}

/**
 * After a failover two nodes have been the master of a shard: what it holds is what the one that answered last has. A node that was
 * removed holds nothing.
 * @param {readonly Folded[]} rows of masters
 * @returns {Folded[]}
 */
const lastOfEachShard = (rows) => {
  /** @type {Map<number | string, Folded>} */
  const last = new Map()
  for (const row of rows) {
    if (row.unlisted_ms > (row.answered_ms ?? -1)) continue
    const key = row.shard ?? row.address
    const other = last.get(key)
    if (!other || (other.answered_ms ?? -1) < (row.answered_ms ?? -1)) last.set(key, row)
  }
  return [...last.values()]
}

/**
 * How long the shards were watched, one master after another: the longest. Where a shard was removed, others have its number: then no
 * longer than the window.
 * @param {readonly Folded[]} rows of masters
 * @param {number} windowMs
 */
const longestMs = (rows, windowMs) => {
  /** @type {Map<number | string, number>} */
  const sums = new Map()
  for (const { shard, address, over_ms: ms } of rows)
    sums.set(shard ?? address, (sums.get(shard ?? address) ?? 0) + (ms ?? 0))
  const alone = Math.max(0, ...rows.map(({ over_ms: ms }) => ms ?? 0))
  return Math.max(alone, Math.min(windowMs, Math.max(0, ...sums.values())))
}

/** @param {Folded} window @param {Parameters<typeof infoPctOf>[1]} own @param {number | null} windowS */
const ofServers = (window, own, windowS) => {
  /** @type {Folded[]} */
  const rows = Object.values(window.nodes ?? {}).filter(({ role }) => role === 'master')
  const now = lastOfEachShard(rows)
  const sum = (/** @type {string} */ name, of = rows) => sumOf(of.map((row) => row[name]))
  // Between the first and the last INFO of the window.
  const overS = longestMs(rows, windowS === null ? Number.POSITIVE_INFINITY : windowS * 1000) / 1000
  const masters = now.map(({ address, memory_bytes = null, held }) => ({
    address,
    memory_bytes,
    data_bytes: held ? Math.round(held.bytes / held.n) : null,
    keys: held ? Math.round(held.keys / held.n) : null,
  }))
  const limits = now.map((row) => Object.keys(row.limits ?? { 0: 1 }).map(Number))
  const isLimited = limits.every(([limit]) => limit > 0)
  return {
    info_hit_pct: infoPctOf(rows, own),
    evicted_per_s: per(sum('evictions'), overS),
    expired_per_s: per(sum('expirations'), overS),
    memory_bytes: sum('memory_bytes', now),
    maxmemory_bytes: isLimited ? sumOf(limits.map(([limit]) => limit)) : null,
    data_bytes: sumOf(masters.map((one) => one.data_bytes)),
    keys: sumOf(masters.map((one) => one.keys)),
    masters,
    policy: now[0]?.policy ?? null,
    fragmentation: per(sum('rss_bytes', now), sum('memory_bytes', now)),
    over_limit_pct: per(sum('over_limit_s'), sum('over_ms'), 1e5),
    limit_changed:
      limits.some((each) => each.length > 1) ||
      now.some(({ policies }) => Object.keys(policies ?? {}).length > 1),
  }
}

/** @param {Folded} window */
const decilesIn = (window) => {
  const found = window['cache.deciles']
  if (!found?.hits) return null
  return Array.from({ length: parts }, (_, i) => {
    const [hits, misses] = [found.hits[i + 1] ?? 0, found.misses[i + 1] ?? 0]
    return per(hits, hits + misses, 100)
  })
}

const times = S.nullable(someTimes)
const shape = S.object({
  ...S.each(['hits', 'misses', 'fills', 'coalesced', 'invalidated'], S.number),
  ...S.each(['hit_pct', 'hit_pct_low', 'hit_pct_high', 'drift_points_per_min'], S.figure),
  is_moving: S.flag,
  deciles: S.nullable(S.list(S.figure)),
  ...S.each(['misses_per_s', 'source_per_s', 'source_mean_us', 'most_at_once', 'stampede'], S.figure),
  ...S.each(['info_hit_pct', 'evicted_per_s', 'expired_per_s', 'memory_bytes', 'maxmemory_bytes'], S.figure),
  ...S.each(['data_bytes', 'keys', 'fragmentation', 'over_limit_pct'], S.figure),
  masters: S.list(S.object({ address: S.text, ...S.each(['memory_bytes', 'data_bytes', 'keys'], S.figure) })),
  policy: S.note,
  limit_changed: S.flag,
  hit_latency_us: times,
  miss_latency_us: times,
})

/** @param {Folded | null} found */
const p50p99 = (found) => (found ? `p50 ${micros(found.p50)}, p99 ${micros(found.p99)}` : '')
const points = (/** @type {number} */ n) => n.toFixed(Math.abs(n) < 0.995 ? 2 : 1)

/** @typedef {Shaped<typeof shape>} Cache */
const rounded = (/** @type {number | null} */ pct) => (pct === null ? '-' : Math.round(pct))

/** @param {Cache} of */
const hitWords = ({ hit_pct: hit, hit_pct_low: low, hit_pct_high: high, deciles, ...of }) =>
  facts([
    hit === null && 'no key was asked for',
    hit !== null &&
      `${points(hit)} %${low === null || high === null ? '' : ` (${points(low)} to ${points(high)})`}`,
    of.misses_per_s !== null && `${rate(of.misses_per_s)} misses/s`,
    deciles && `by tenth of the keys, hottest first: ${deciles.map(rounded).join(', ')} %`,
  ])

/** @param {Cache} of */
const memoryWords = ({ memory_bytes: used, maxmemory_bytes: limit, policy, fragmentation, ...of }) =>
  used !== null &&
  facts([
    limit === null
      ? `${bytes(used)}, without a limit`
      : `${bytes(used)} of ${bytes(limit)}, ${plainText(policy ?? 'policy unknown')}`,
    of.keys !== null && `${count(of.keys)} keys`,
    of.evicted_per_s !== null && `${rate(of.evicted_per_s)} evicted/s`,
    of.expired_per_s !== null && of.expired_per_s > 0 && `${rate(of.expired_per_s)} expired/s`,
    of.over_limit_pct !== null &&
      of.over_limit_pct > 0 &&
      `above its limit for ${percent(of.over_limit_pct)} of the time`,
    fragmentation !== null && `fragmentation ${fragmentation.toFixed(2)}`,
  ])

/** @param {Cache} of */
const sourceWords = ({ source_per_s: perS, source_mean_us: us, most_at_once: most, stampede, coalesced }) =>
  perS !== null &&
  facts([
    `${rate(perS)} requests/s`,
    us !== null && us > 0 && `${micros(us)} on average`,
    most !== null && most > 0 && `at most ${count(most)} at once`,
    stampede !== null && stampede > 1 && `${count(stampede)} fills of one key at once`,
    coalesced > 0 && `${count(coalesced)} waited for the same key`,
  ])

// Below this a server's memory is not all in memory: it swaps.
const leastResident = 0.9
// A trend that changes the share less than this while it is measured does not matter.
const leastDrift = 0.5

/** By how many points the share moved while it was measured; 0: no trend is seen. @param {Pick<Cache, 'is_moving' | 'drift_points_per_min'>} of @param {number | null | undefined} measuredS */
export const movedPoints = ({ is_moving: isMoving, drift_points_per_min: drift }, measuredS) =>
  isMoving ? Math.abs((drift ?? 0) * (measuredS ?? 0)) / 60 : 0

/** The section of run.json. */
export const cacheSection = section('cache', shape, {
  metrics: {
    'cache.hit_pct': partMetric('hits', 'pct', 'more'),
    'cache.hit_pct_low': partMetric('hits, low end', 'pct', 'more'),
    'cache.misses_per_s': metric('misses', 'rate'),
    'cache.source_per_s': metric('requests of the source', 'rate'),
    'cache.source_mean_us': metric('time of the source, on average', 'us', 'neither'),
    'cache.most_at_once': metric('requests at the source at once', 'count'),
    'cache.stampede': metric('fills of one key at once', 'count'),
    'cache.evicted_per_s': metric('evictions', 'rate', 'neither'),
    'cache.expired_per_s': metric('expirations', 'rate', 'neither'),
    'cache.memory_bytes': metric('memory of the cache', 'bytes'),
    'cache.fragmentation': metric('fragmentation of memory', 'ratio'),
    'cache.over_limit_pct': partMetric('time above maxmemory', 'pct'),
    'cache.info_hit_pct': partMetric('hits by INFO', 'pct', 'more'),
    ...percentileMetrics('cache.hit_latency', 'hit', ['p50', 'p99', 'max']),
    ...percentileMetrics('cache.miss_latency', 'miss', ['p50', 'p99', 'max']),
  },
  brief: (of) => ({ hits: hitWords(of) }),
  rows: (of) => ({
    hits: hitWords(of),
    'hit, miss':
      (of.hit_latency_us || of.miss_latency_us) &&
      facts([
        of.hit_latency_us && `hit ${p50p99(of.hit_latency_us)}`,
        of.miss_latency_us && `miss ${p50p99(of.miss_latency_us)}`,
      ]),
    source: sourceWords(of),
    memory: memoryWords(of),
  }),
  reasons: (of, { measured_s: measuredS }) => {
    const drift = of.drift_points_per_min ?? 0
    return {
      // It moves the share, too.
      'cache-limit':
        of.limit_changed &&
        'maxmemory of a server, or what it evicts, changed while it was measured: the share of hits is of neither',
      'cache-moving':
        movedPoints(of, measuredS) > leastDrift &&
        `the share of hits still ${drift > 0 ? 'rose' : 'fell'} by ${points(Math.abs(drift))} points a minute: the cache was not warm; run for longer`,
      'cache-short':
        of.hit_pct !== null &&
        of.hit_pct_low === null &&
        note('too few seconds to tell whether the cache was warm: run for longer'),
      'cache-swap':
        of.fragmentation !== null &&
        of.fragmentation < leastResident &&
        note(
          `only ${percent(of.fragmentation * 100)} of the servers' memory is resident: the machine swaps; give it more memory, or lower maxmemory`,
          true,
        ),
    }
  },
})

const share = S.object({ ...S.each(['memory_bytes', 'lru_pct'], S.number), policy_pct: S.figure })
const curve = S.object({
  policy: S.text,
  points: S.list(share),
  needs: S.list(S.object({ hit_pct: S.number, memory_bytes: S.figure })),
  ...S.each(['ceiling_pct', 'footprint_bytes', 'sampled_keys', 'sampled_part'], S.number),
  ...S.each(['predicted_pct', 'maxmemory_samples', 'lfu_log_factor', 'lfu_decay_min'], S.figure),
})

/** What the same requests would have had with other memory. */
export const curveSection = section('miss_curve', curve, {
  metrics: {
    'miss_curve.ceiling_pct': partMetric('hits with unlimited memory', 'pct', 'more'),
    'miss_curve.predicted_pct': partMetric('hits by the miss ratio curve', 'pct', 'more'),
    'miss_curve.footprint_bytes': metric('memory of all keys that were asked for', 'bytes'),
  },
  reasons: ({ footprint_bytes: footprint }, { cache: { maxmemory_bytes: limit } }) => ({
    'cache-whole':
      limit !== null &&
      footprint < limit &&
      note(
        `all keys that were asked for fit: they take ${bytes(footprint)} of ${bytes(limit)}, so nothing is evicted; give less by --maxmemory`,
      ),
  }),
  rows: ({ policy, needs, ceiling_pct: ceiling, footprint_bytes: footprint, predicted_pct: here }) => ({
    'hits by memory': facts([
      `${plainText(policy)}: ${needs.map(({ hit_pct: pct, memory_bytes: most }) => `${pct} % ${most === null ? 'with none' : `with ${bytes(most)}`}`).join(', ')}`,
      `${points(ceiling)} % at most (${bytes(footprint)})`,
      here !== null && `${points(here)} % predicted for this memory`,
    ]),
  }),
})

export const cache = measure({
  name: 'cache',
  of: ['writers'],
  record: {
    ...namedFields('cache', added, amount('count')),
    'cache.at_once': worst('count'),
    'cache.stampede': worst('count'),
    'cache.late': counts(),
    'cache.source': counts(),
    'cache.moments': counts(),
    'cache.over_s': length(),
    'cache.deciles': counts(),
    hit_us: timesField(),
    miss_us: timesField(),
  },
  by: 'each',
  applies: ({ cache: of }) => Boolean(of),

  async open({ plan, elapsed, load }) {
    const { series } = await import('../probes/latency.js')
    const [hitTimes, missTimes] = [series({ isFolded: true }), series({ isFolded: true })]
    const deciles = decilesOf(plan, elapsed)
    const none = {
      ...{ hits: 0, misses: 0, fills: 0, coalesced: 0, invalidated: 0 },
      ...{ sourced: 0, sourceMs: 0, atOnce: 0, stampede: 0 },
    }
    /** @type {CacheCounts} */
    const seen = {
      ...{ ...none, hitTimes, missTimes, decile: deciles.add },
      ...{ late: { hits: 0, misses: 0 }, isMeasuring: false, startMeasuring },
    }
    const whole = { hit: 0, miss: 0 }
    let saidS = 0
    // A line ends a little before its second: what it has of the warm-up is left out.
    function startMeasuring() {
      seen.isMeasuring = true
      if (seen.hits + seen.misses === 0) return
      seen.late.hits += seen.hits
      seen.late.misses += seen.misses
      deciles.take()
      Object.assign(seen, none)
      saidS = elapsed() / 1000
    }
    /** @type {number | null} */
    let overS = null
    return {
      counts: seen,
      /** A box of several may come late. */
      startRun() {
        saidS = elapsed() / 1000
      },
      /** What comes after the last answer is no part of the last second. */
      stop() {
        const endMs = Math.max(plan.durationMs ?? 0, load()?.writing.lastSettledMs() ?? 0)
        overS = Math.max(saidS, Math.min(elapsed(), endMs) / 1000)
      },
      /** Replies by their meaning, of the whole run. */
      replies: () => ({
        hit: whole.hit + seen.hits + seen.late.hits,
        miss: whole.miss + seen.misses + seen.late.misses,
      }),
      second() {
        const { hits, misses, sourced, sourceMs, atOnce, stampede, late } = seen
        const atS = overS ?? elapsed() / 1000
        whole.hit += hits + late.hits
        whole.miss += misses + late.misses
        seen.late = { hits: 0, misses: 0 }
        const found = {
          ...Object.fromEntries(added.map((name) => [`cache.${name}`, seen[name]])),
          'cache.at_once': atOnce,
          'cache.stampede': stampede,
          'cache.late': late.hits + late.misses > 0 ? late : null,
          'cache.source': sourced > 0 ? { n: sourced, ms: sourceMs } : null,
          'cache.moments': momentsOf(hits, hits + misses, atS, atS - saidS),
          'cache.over_s': atS - saidS,
          'cache.deciles': deciles.take(),
          hit_us: hitTimes.endSecond(),
          miss_us: missTimes.endSecond(),
        }
        saidS = atS
        Object.assign(seen, none)
        return found
      },
      close() {
        hitTimes.close()
        missTimes.close()
      },
    }
  },

  summary({ window, plan, overS }) {
    if (!plan?.cache) return {}
    const sums = Object.fromEntries(added.map((name) => [name, window[`cache.${name}`] ?? 0]))
    const moments = window['cache.moments']
    const { share, half, slope, isMoving } = shareOfHits(sums.hits, sums.hits + sums.misses, {
      ...moments,
      // Boxes share what is in the cache: their shares of one second count as one.
      n: Math.floor((moments?.n ?? 0) / (plan.totalAgents ?? 1)),
    })
    // Seconds of the servers begin and end at other moments.
    const inWindow = window['cache.over_s'] || overS || null
    const beside = (/** @type {number} */ way) =>
      share === null || half === null ? null : Math.min(100, Math.max(0, (share + way * half) * 100))
    const own = plan.totalAgents > 1 ? null : { hits: sums.hits, misses: sums.misses }
    const ofServer = ofServers(window, own, inWindow)
    return {
      cache: {
        ...sums,
        hit_pct: share === null ? null : share * 100,
        hit_pct_low: beside(-1),
        hit_pct_high: beside(1),
        drift_points_per_min: slope === null ? null : slope * 6000,
        is_moving: isMoving,
        deciles: decilesIn(window),
        misses_per_s: per(sums.misses, inWindow),
        source_per_s: per(sums.fills, inWindow),
        source_mean_us: per(window['cache.source']?.ms, window['cache.source']?.n, 1000),
        most_at_once: window['cache.at_once'] ?? null,
        stampede: window['cache.stampede'] ?? null,
        ...ofServer,
        // Replicas count the reads that they answer.
        info_hit_pct: (plan.reads ?? 'master') === 'master' ? ofServer.info_hit_pct : null,
        ...(strategyNamed(plan.strategy).play.inFields && { info_hit_pct: null, expired_per_s: null }),
        policy: ofServer.policy ?? plan.cache.policy,
        hit_latency_us: percentilesIn(window.hit_us),
        miss_latency_us: percentilesIn(window.miss_us),
      },
    }
  },
  result: { cache: shape },
  metrics: {},
  times: [
    { name: 'hit', path: 'cache.hit_latency_us', unit: 'us' },
    { name: 'miss', path: 'cache.miss_latency_us', unit: 'us' },
  ],
  prometheus: [
    ...added.map((name) => counter(`cache_${name}_total`, `keys of a cache: ${name}`, `cache.${name}`)),
    histogram('cache_hit_seconds', 'requests that the cache had', 'hit_us'),
    histogram('cache_miss_seconds', 'requests that the source was asked for', 'miss_us'),
  ],
})
