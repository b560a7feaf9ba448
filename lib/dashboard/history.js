// The seconds of a run in a fixed number of points, however long it lasts: older seconds are merged with their
// neighbours, by the fold of measures. Percentiles are read off merged buckets, never averaged.
import { exceededBy, mergedBuckets, packed, unpacked } from '../base/buckets.js'
import { amount, counts, eachField } from '../measures/fields.js'
import { folded, put } from '../measures/fold.js'
import { othersPath } from '../measures/index.js'
import { bucketsIn } from '../probes/latency.js'

/**
 * @import { NodeRow } from '../probes/node-sampler.js'
 * @import { OfOthers } from '../measures/index.js'
 * @import { Field } from '../measures/fields.js'
 * @import { Folded, Line } from '../measures/fold.js'
 *
 * @typedef {{ p50: number, p90: number, p99: number, p999: number, max: number, samples: number, buckets?: Float64Array }} Times packed
 *
 * @typedef {'duration_us' | keyof OfOthers<Times>} TimesOfSecond
 *
 * @typedef {PointOfRun & Partial<Record<TimesOfSecond, Times | null>>} Point one second, or several that were merged; what was
 *   not measured is null or absent
 *
 * @typedef {object} PointOfRun
 * @property {number} at_ms its end
 * @property {number} over_ms
 * @property {string} [phase]
 * @property {Record<string, number>} [items]
 * @property {number | null} [achieved]
 * @property {number | null} [items_per_s]
 * @property {{ intended: Times | null, service: { samples: number } | null }} [latency_us]
 * @property {Pick<NodeRow, 'address' | 'shard' | 'role' | 'gap' | 'over_ms' | 'engine_cpu_pct' | 'memory_bytes'>[]} nodes
 */

/** What charts of the live page draw, besides the latency. @type {readonly TimesOfSecond[]} */
const times = ['duration_us', othersPath]

/** @param {Folded | null} found of a line @returns {Times | null} */
const timesOf = (found) => {
  if (!found) return null
  const { p50, p90, p99, p999, max, samples, count, hdr } = found
  return { p50, p90, p99, p999, max, samples: samples ?? count, buckets: packed(bucketsIn(hdr)) }
}

/** @param {Folded | null} found of a line */
const samplesOf = (found) => found && { samples: found.samples ?? found.count }

/** The fields of a node that charts read. @param {NodeRow} row */
const nodeOf = (row) => ({
  address: row.address,
  shard: row.shard,
  role: row.role,
  gap: row.gap,
  over_ms: row.over_ms,
  engine_cpu_pct: row.engine_cpu_pct === null ? null : row.engine_cpu_pct && +row.engine_cpu_pct.toFixed(2),
  memory_bytes: row.memory_bytes,
})

/** @param {Line} line of intervals.ndjson @param {number} fromMs @returns {Point} */
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
  const buckets = mergedBuckets([a, b].flatMap(({ buckets: own }) => (own ? [unpacked(own)] : [])))
  const max = Math.max(a.max, b.max)
  const at = (/** @type {number} */ beyond) => exceededBy(buckets, beyond, max)
  return {
    p50: at(2),
    p90: at(10),
    p99: at(100),
    p999: at(1000),
    max,
    samples: a.samples + b.samples,
    buckets: packed(buckets),
  }
}

/** @type {Field} */
const bucketed = {
  kind: 'times',
  unit: 'us',
  inAnyOrder: true,
  overTime: mergedTimes,
  acrossSources: mergedTimes,
  inASecond: mergedTimes,
}
const fields = {
  over_ms: amount('ms'),
  items: counts(),
  achieved: counts(),
  items_per_s: counts(),
  'latency_us.intended': bucketed,
  'latency_us.service': counts(),
  ...Object.fromEntries(times.map((name) => [name, bucketed])),
  nodes: eachField(({ role, address }) => `${role} ${address}`, { over_ms: amount('ms'), cpu: amount('ms') }),
}

/** Rates times how long they were measured, which add up. @param {Point} point @param {number} [ms] of time besides */
const amountsIn = (point, ms = point.over_ms) => {
  const amountOf = (/** @type {number | null | undefined} */ perS) =>
    typeof perS === 'number' ? { n: perS * point.over_ms, ms } : null
  return {
    ...point,
    over_ms: ms,
    achieved: amountOf(point.achieved),
    items_per_s: amountOf(point.items_per_s),
    nodes: point.nodes.map(({ engine_cpu_pct: pct, over_ms: overMs = 0, gap, ...row }) =>
      gap
        ? { address: row.address, shard: row.shard, role: row.role, gap }
        : { ...row, over_ms: overMs, cpu: typeof pct === 'number' ? pct * overMs : null },
    ),
  }
}

/** A node that was asked in any of the seconds has no gap. @param {Folded} row */
const nodeIn = ({ gap, over_ms, cpu, ...row }) =>
  over_ms === null
    ? { ...row, gap }
    : { ...row, over_ms, engine_cpu_pct: cpu === null ? null : cpu / over_ms }

/** The sum of two points, with the state of the later one. @param {Point} later @param {Folded} sum @returns {Point} */
const pointIn = ({ at_ms, phase, ...later }, { achieved, items_per_s, nodes, ...sum }) => {
  const rateOf = (/** @type {{ n: number, ms: number } | null} */ found) =>
    found && found.n / (found.ms || sum.over_ms)
  const rates = { achieved: rateOf(achieved), items_per_s: rateOf(items_per_s) }
  /** @type {any} */
  const point = { at_ms, ...(phase !== undefined && { phase }) }
  for (const [path, value] of Object.entries({ ...sum, ...rates }))
    if (path.split('.')[0] in later) put(point, path, value)
  return { ...point, nodes: Object.values(nodes).map(nodeIn) }
}

/** Two neighbours as one. @param {Point} a @param {Point} b */
export const mergedPoints = (a, b) => pointIn(b, folded(fields, [amountsIn(a), amountsIn(b)]))

/** A point with the numbers of other boxes in the same time. @param {Point} a @param {Point} late @returns {Point} */
const withLate = (a, late) => {
  const { at_ms, nodes } = a
  return { ...pointIn({ ...late, ...a }, folded(fields, [amountsIn(a), amountsIn(late, 0)])), at_ms, nodes }
}

/** @param {{ limit?: number, recent?: number }} [size] recent: this many last points are never merged */
export const historyOf = ({ limit = 600, recent = 120 } = {}) => {
  /** @type {Point[]} */
  const points = []
  /** The oldest of the pairs of neighbours with the shortest time together. */
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
     * @returns {{ at: number, count: number, point: Point } | null} the merged point, and how many it replaces
     */
    add(point) {
      points.push(point)
      if (points.length <= limit) return null
      const at = shortestPair()
      const merged = mergedPoints(points[at], points[at + 1])
      points.splice(at, 2, merged)
      return { at, count: 2, point: merged }
    },
    /** Adds numbers that arrive after the point of their time. @param {Point} point */
    addLate(point) {
      const found = points.findIndex(({ at_ms: atMs }) => atMs >= point.at_ms - 500)
      const at = found < 0 ? points.length - 1 : found
      const merged = withLate(points[at], point)
      points.splice(at, 1, merged)
      return { at, count: 1, point: merged }
    },
  }
}
