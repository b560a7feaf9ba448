// The seconds of a run in a fixed number of points, however long it lasts: older seconds are merged with their
// neighbours. Counts are summed, rates weighted by time, percentiles read off merged buckets, never averaged.
import { exceededBy, mergedBuckets } from '../base/buckets.js'
import { sums } from '../base/sums.js'
import { bucketsIn } from '../measure/latency.js'
import { TIMES } from '../measures/index.js'

/**
 * @import { Buckets } from '../base/buckets.js'
 * @import { NodeRow } from '../measure/node-sampler.js'
 *
 * @typedef {{ p50: number, p90: number, p99: number, p999: number, max: number, samples: number, buckets?: Buckets }} Times
 *
 * @typedef {object} Point one second, or several that were merged; what was not measured is null or absent
 * @property {number} at_ms its end
 * @property {number} over_ms
 * @property {string} [phase]
 * @property {Record<string, number>} [items]
 * @property {number | null} [achieved]
 * @property {number | null} [items_per_s]
 * @property {{ intended: Times | null, service: { samples: number } | null }} [latency_us]
 * @property {Times | null} [bystander_us]
 * @property {Times | null} [duration_us]
 * @property {Times | null} [ids_us]
 * @property {Times | null} [values_us]
 * @property {Times | null} [freshness_us]
 * @property {Pick<NodeRow, 'address' | 'shard' | 'role' | 'gap' | 'over_ms' | 'engine_cpu_pct' | 'memory_bytes'>[]} nodes
 */

const times = /** @type {readonly ('bystander_us' | 'freshness_us' | 'duration_us')[]} */ (TIMES)

/** @param {any} found of a line @returns {Times | null} */
const timesOf = (found) => {
  if (!found) return null
  const { p50, p90, p99, p999, max, samples, count, hdr } = found
  return { p50, p90, p99, p999, max, samples: samples ?? count, buckets: bucketsIn(hdr) }
}

/** @param {any} found of a line */
const samplesOf = (found) => found && { samples: found.samples ?? found.count }

/** What is drawn of a node. @param {NodeRow} row */
const nodeOf = ({ address, shard, role, gap, over_ms, engine_cpu_pct, memory_bytes }) => ({
  ...{ address, shard, role, gap, over_ms },
  engine_cpu_pct: engine_cpu_pct === null ? null : engine_cpu_pct && +engine_cpu_pct.toFixed(2),
  memory_bytes,
})

/** @param {any} line of intervals.ndjson @param {number} fromMs @returns {Point} */
export const pointOf = (line, fromMs) => ({
  at_ms: line.at_ms,
  over_ms: line.at_ms - fromMs,
  ...(line.phase !== undefined && { phase: line.phase }),
  ...(line.items && { items: line.items }),
  ...(line.achieved !== undefined && { achieved: line.achieved }),
  ...(line.items_per_s !== undefined && { items_per_s: line.items_per_s }),
  ...(line.latency_us && {
    latency_us: { intended: timesOf(line.latency_us.intended), service: samplesOf(line.latency_us.service) },
  }),
  ...Object.fromEntries(
    times.filter((name) => line[name] !== undefined).map((name) => [name, timesOf(line[name])]),
  ),
  nodes: (line.nodes ?? []).map(nodeOf),
})

/** @param {Times | null | undefined} a @param {Times | null | undefined} b */
const mergedTimes = (a, b) => {
  if (!a || !b) return a ?? b ?? null
  const buckets = mergedBuckets([a.buckets ?? [], b.buckets ?? []])
  const max = Math.max(a.max, b.max)
  const at = (/** @type {number} */ beyond) => exceededBy(buckets, beyond, max)
  return {
    ...{ p50: at(2), p90: at(10), p99: at(100), p999: at(1000), max },
    samples: a.samples + b.samples,
    buckets,
  }
}

/**
 * @param {number | null | undefined} a
 * @param {number | null | undefined} b
 * @param {[number, number]} weights
 */
const weighted = (a, b, [ofA, ofB]) => {
  if (typeof a !== 'number') return b
  return typeof b === 'number' ? (a * ofA + b * ofB) / (ofA + ofB) : a
}

/** @param {Point['nodes'][number]} a @param {Point['nodes'][number]} b */
const mergedNode = (a, b) => {
  if (a.gap || b.gap) return a.gap ? b : a
  const weights = /** @type {[number, number]} */ ([a.over_ms ?? 0, b.over_ms ?? 0])
  return {
    ...b,
    over_ms: (a.over_ms ?? 0) + (b.over_ms ?? 0) || undefined,
    engine_cpu_pct: weighted(a.engine_cpu_pct, b.engine_cpu_pct, weights),
  }
}

/** @param {Point['nodes']} a @param {Point['nodes']} b */
const mergedNodes = (a, b) => {
  const keyOf = (/** @type {Point['nodes'][number]} */ { address, role }) => `${role} ${address}`
  const rows = new Map(a.map((row) => [keyOf(row), row]))
  for (const row of b) {
    const earlier = rows.get(keyOf(row))
    rows.set(keyOf(row), earlier ? mergedNode(earlier, row) : row)
  }
  return [...rows.values()]
}

/** Two neighbours as one. @param {Point} a @param {Point} b @returns {Point} */
export const mergedPoints = (a, b) => {
  const weights = /** @type {[number, number]} */ ([a.over_ms, b.over_ms])
  return {
    ...b,
    over_ms: a.over_ms + b.over_ms,
    ...(a.items && b.items && { items: sums([a.items, b.items]) }),
    ...(b.achieved !== undefined && { achieved: weighted(a.achieved, b.achieved, weights) }),
    ...(b.items_per_s !== undefined && { items_per_s: weighted(a.items_per_s, b.items_per_s, weights) }),
    ...(b.latency_us && {
      latency_us: {
        intended: mergedTimes(a.latency_us?.intended, b.latency_us.intended),
        service: {
          samples: (a.latency_us?.service?.samples ?? 0) + (b.latency_us.service?.samples ?? 0),
        },
      },
    }),
    ...Object.fromEntries(
      times.filter((name) => b[name] !== undefined).map((name) => [name, mergedTimes(a[name], b[name])]),
    ),
    nodes: mergedNodes(a.nodes, b.nodes),
  }
}

/** A point with what other boxes did in the same time. @param {Point} a @param {Point} late @returns {Point} */
const withLate = (a, late) => {
  const part = late.over_ms / a.over_ms
  const achieved = (a.achieved ?? 0) + (late.achieved ?? 0) * part
  return {
    ...mergedPoints(a, late),
    at_ms: a.at_ms,
    over_ms: a.over_ms,
    ...(a.achieved !== undefined && { achieved }),
    ...Object.fromEntries(
      times.filter((name) => name in late).map((name) => [name, mergedTimes(a[name], late[name])]),
    ),
    nodes: a.nodes,
  }
}

/**
 * @param {{ limit?: number, recent?: number }} [size] recent: the last so many points stay as they came
 */
export const historyOf = ({ limit = 600, recent = 120 } = {}) => {
  /** @type {Point[]} */
  const points = []
  /** The two neighbours that are shortest together, the oldest such. */
  const shortestPair = () => {
    let found = 0
    let leastMs = Number.POSITIVE_INFINITY
    for (let at = 0; at + 1 < points.length - recent; at++) {
      const ms = points[at].over_ms + points[at + 1].over_ms
      // Lengths of seconds differ by some milliseconds.
      if (ms < leastMs - 500) {
        found = at
        leastMs = ms
      }
    }
    return found
  }
  return {
    points,
    /**
     * @param {Point} point
     * @returns {{ at: number, count: number, point: Point } | null} what stands for so many points that were there
     */
    add(point) {
      points.push(point)
      if (points.length <= limit) return null
      const at = shortestPair()
      const merged = mergedPoints(points[at], points[at + 1])
      points.splice(at, 2, merged)
      return { at, count: 2, point: merged }
    },
    /**
     * What came later of a time that has its point.
     * @param {Point} point
     */
    addLate(point) {
      const found = points.findIndex(({ at_ms: atMs }) => atMs >= point.at_ms - 500)
      const at = found < 0 ? points.length - 1 : found
      const merged = withLate(points[at], point)
      points.splice(at, 1, merged)
      return { at, count: 1, point: merged }
    },
  }
}
