// The state that the live page shows: lines of intervals.ndjson and events in, messages for the page out. Its size does not
// depend on how long the run lasts.
import { exceededBy, mergedBuckets } from '../base/buckets.js'
import { isPartial } from '../base/partial.js'
import { sums as total } from '../base/sums.js'
import { exactly } from '../base/typed.js'
import { amount, counts, eachField } from '../measures/fields.js'
import { at, folded, put } from '../measures/fold.js'
import { doneIn, others, reading, readsName } from '../measures/index.js'
import { bucketsIn } from '../probes/latency.js'

/**
 * @import { Buckets } from '../base/buckets.js'
 * @import { NodeRow } from '../probes/node-sampler.js'
 * @import { ClientUse } from '../measures/client-limit.js'
 * @import { OfOthers } from '../measures/index.js'
 * @import { Folded, Line } from '../measures/fold.js'
 * @import { AnyPlan } from '../measures/measure.js'
 * @import { Field } from '../measures/fields.js'
 *
 * @typedef {{ at_ms: number, kind: string, text: string }} Event
 * @typedef {{ good: boolean, neutral?: boolean, isQuotable?: boolean, word: string, sentence: string,
 *   highlights?: readonly { label: string, text: string }[] }} RunState highlights: the numbers of the result
 *
 * @typedef {object} About what is known before the first second
 * @property {string} run
 * @property {'producer' | 'consumer'} kind
 * @property {string} title
 * @property {string} question of the run, in a sentence
 * @property {AnyPlan} plan the fields that charts need
 * @property {number | null} nominal items or operations a second
 * @property {number | null} totalMs null: until it is stopped
 * @property {number} warmUpS
 * @property {string} box this process
 * @property {readonly string[]} [thresholds] as they were typed
 *
 * @typedef {{ at_ms: number, phase?: string, achieved?: number | null, items_per_s?: number | null, nodes: NodeRow[],
 *   client?: ClientUse, latency_us?: { intended: LatestTimes | null, service: LatestTimes | null },
 *   duration_us?: LatestTimes | null } & OfOthers<LatestTimes>} Latest the last whole second as it came, without its histograms
 * @typedef {{ p50: number | null, max: number | null }} LatestTimes
 *
 * @typedef {ClientUse & { name: string, role?: string, state?: string, health?: string, trouble?: string, last_s?: number | null,
 *   achieved?: number | null, p99_us?: number | null, loop_delay_ms_p99?: number | null, clock_ms?: number,
 *   waiting_bytes?: number | null, rss_mb?: number | null, stopped_ms?: number | null }} BoxRow a box, or this process
 *
 * @typedef {ReturnType<ReturnType<typeof stateOf>['all']>} Whole the state that a new page needs
 * @typedef {Omit<Whole, 'kind'>} Shown
 * @typedef {Whole | ReturnType<ReturnType<typeof stateOf>['about' | 'second' | 'boxes' | 'event' | 'warning' | 'end']>} Message
 */

/** As they are kept for long: lists of two take five times as much. @param {Buckets} buckets */
const packed = (buckets) => Float64Array.from(buckets.flat())

/** @param {Float64Array} numbers @returns {Buckets} */
const unpacked = (numbers) =>
  Array.from({ length: numbers.length / 2 }, (_, at) => [numbers[2 * at], numbers[2 * at + 1]])

// The seconds of a run in a fixed number of points, however long it lasts: older seconds are merged with their
// neighbours, by the fold of measures. Percentiles are read off merged buckets, never averaged.

/**
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
const times = ['duration_us', others.path]

/** @param {Folded | null | undefined} found of a line @returns {Times | null} */
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

const mostEvents = 200
const lateMs = 500
// One in 1, 1.3, 1.8 ... 1,000,000: fewer points than a distribution has in the report.
const depths = Array.from({ length: 49 }, (_, at) => 10 ** (at / 8))
const fewestBeyond = 10

/** Sums over the whole run. */
const distributionOf = () => {
  /** @type {Buckets} */
  let buckets = []
  let max = 0
  let samples = 0
  return {
    /** @param {Folded | null | undefined} found */
    add(found) {
      if (!found) return
      buckets = mergedBuckets([buckets, bucketsIn(found.hdr)])
      max = Math.max(max, found.max)
      samples += found.samples ?? found.count
    },
    curve: () =>
      depths
        .filter((beyond) => beyond * fewestBeyond <= samples)
        .map((beyond) => ({ beyond, us: exceededBy(buckets, beyond, max) })),
    times: () => ({
      p99: samples >= fewestBeyond * 100 ? exceededBy(buckets, 100, max) : null,
      max: samples > 0 ? max : null,
    }),
  }
}

/** A latency without the fields that only merging needs. @param {(LatestTimes & { buckets?: unknown, hdr?: string }) | null | undefined} found */
const bare = (found) => {
  if (!found) return found
  const { buckets, hdr, ...rest } = found
  return rest
}

/** As the heat map draws it. @param {Times | null | undefined} found */
const drawn = (found) => found && { ...found, ...(found.buckets && { buckets: unpacked(found.buckets) }) }

/** A point as the page gets it: buckets are only for the heat map. @param {Point} point */
const shownPoint = ({ latency_us: latency, duration_us: duration, [others.path]: ofOthers, ...point }) => ({
  ...point,
  ...(latency && { latency_us: { ...latency, intended: drawn(latency.intended) } }),
  ...(duration !== undefined && { duration_us: drawn(duration) }),
  ...(ofOthers !== undefined && { [others.path]: bare(ofOthers) }),
})

/** @param {Folded & Pick<Line, 'at_ms' | 'latency_us' | 'nodes'>} line @returns {Latest} */
const latestOf = ({ latency_us: latency, ...line }) => ({
  at_ms: line.at_ms,
  ...Object.fromEntries(
    Object.entries(line).map(([key, value]) => [key, key.endsWith('_us') ? bare(value) : value]),
  ),
  ...(latency && {
    latency_us: { intended: bare(latency.intended) ?? null, service: bare(latency.service) ?? null },
  }),
  nodes: (line.nodes ?? []).map(({ commands, ...row }) => row),
})

/** The rate, and the CPU of all nodes by what was done in the seconds that have both. */
const tallyOf = () => {
  const rate = { done: 0, ms: 0 }
  const cost = { done: 0, s: 0 }
  return {
    /** @param {number} done @param {number} ms @param {readonly NodeRow[]} nodes */
    add(done, ms, nodes) {
      rate.done += done
      rate.ms += ms
      const used = nodes.flatMap(({ cpu_s: s }) => (typeof s === 'number' ? s : []))
      if (nodes.length === 0 || used.length < nodes.length) return
      cost.done += done
      cost.s += used.reduce((sum, s) => sum + s, 0)
    },
    figures: () => ({
      rate: rate.ms > 0 ? (rate.done * 1000) / rate.ms : null,
      cpuUs: cost.done > 0 ? (cost.s * 1e6) / cost.done : null,
    }),
  }
}

/** @param {{ limit?: number, recent?: number }} [size] of the history */
export const stateOf = (size) => {
  const history = historyOf(size)
  const intended = distributionOf()
  const service = distributionOf()
  /** @type {About | null} */
  let about = null
  /** @type {Event[]} */
  let events = []
  let earlierEvents = 0
  /** @type {string[]} */
  const warnings = []
  /** @type {Record<string, number>} */
  let sums = {}
  /** @type {Record<string, number>} by their words */
  let beside = {}
  /** @type {Latest | null} */
  let latest = null
  /** @type {readonly BoxRow[]} */
  let boxes = []
  /** @type {RunState | null} */
  let verdict = null
  let atMs = 0
  const tally = tallyOf()

  const now = () => ({
    latest,
    boxes,
    sums,
    beside,
    distribution: { intended: intended.curve(), service: service.curve() },
    whole: { ...intended.times(), ...tally.figures() },
  })
  return {
    /** The state that a new page needs. */
    all: () => {
      const points = history.points.map(shownPoint)
      const kind = exactly('whole')
      return { kind, about, events, earlierEvents, warnings, verdict, points, ...now() }
    },
    /** @param {About} given */
    about(given) {
      about = given
      return { kind: exactly('about'), about }
    },
    /** @param {Line & { boxes?: BoxRow[] }} line of intervals.ndjson; of a fleet with the rows of its `boxes` */
    second(line) {
      // A box that could not reach the control sends old seconds.
      const late = line.at_ms < atMs - lateMs
      const point = pointOf(line, late ? line.at_ms - 1000 : atMs)
      atMs = Math.max(atMs, line.at_ms)
      if (line.phase === undefined || line.phase === 'measuring')
        tally.add(line.items?.acked ?? doneIn(line), late ? 0 : point.over_ms, line.nodes ?? [])
      const merged = late ? history.addLate(point) : history.add(point)
      intended.add(line.latency_us?.intended ?? line.duration_us)
      service.add(line.latency_us?.service)
      const reads = at(line, readsName)
      sums = total([sums, line.items ?? reads ?? {}])
      // In a fleet that also reads, the page shows the outcomes of reads separately.
      if (line.items && reads) beside = total([beside, reading.lost(reads)])
      // Rates of the partial second at the end of a run mean nothing.
      const isWhole = latest === null || !isPartial(point)
      if (!late && isWhole) latest = latestOf(line)
      if (Array.isArray(line.boxes)) boxes = line.boxes
      else if (isWhole) boxes = [{ name: about?.box ?? '', ...line.client }]
      return {
        /** @type {'second'} */
        kind: 'second',
        point: late ? null : shownPoint(point),
        merged: merged && { ...merged, point: shownPoint(merged.point) },
        ...now(),
      }
    },
    /** Boxes of a fleet, before its first second too. @param {readonly BoxRow[]} given */
    boxes(given) {
      boxes = given
      return { kind: exactly('boxes'), boxes }
    },
    /** @param {Event} event */
    event(event) {
      events = [...events, event]
      if (events.length > mostEvents) {
        events = events.slice(-mostEvents)
        earlierEvents++
      }
      return { kind: exactly('event'), event, earlierEvents }
    },
    /** @param {string} text */
    warning(text) {
      if (warnings.length < mostEvents) warnings.push(text)
      return { kind: exactly('warning'), text }
    },
    hasEnded: () => verdict !== null,
    /** @param {RunState} given */
    end(given) {
      verdict = given
      return { kind: exactly('end'), verdict }
    },
  }
}
