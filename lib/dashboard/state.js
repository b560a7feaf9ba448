// The state that the live page shows: lines of intervals.ndjson and events in, messages for the page out. Its size does not
// depend on how long the run lasts.
import { exceededBy, mergedBuckets, unpacked } from '../base/buckets.js'
import { sums as total } from '../base/sums.js'
import { exactly } from '../base/typed.js'
import { doneIn, othersPath, reading, readsName } from '../measures/index.js'
import { bucketsIn } from '../probes/latency.js'
import { historyOf, pointOf } from './history.js'

/**
 * @import { Buckets } from '../base/buckets.js'
 * @import { NodeRow } from '../probes/node-sampler.js'
 * @import { ClientUse } from '../measures/client-limit.js'
 * @import { OfOthers } from '../measures/index.js'
 * @import { Point, Times } from './history.js'
 * @import { Folded, Line } from '../measures/fold.js'
 * @import { AnyPlan } from '../measures/measure.js'
 * @import { Row } from '../measures/fields.js'
 *
 * @typedef {{ at_ms: number, kind: string, text: string }} Event
 * @typedef {{ good: boolean, neutral?: boolean, word: string, sentence: string }} RunState
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
 *   duration_us?: LatestTimes | null } & OfOthers<LatestTimes>} Latest the last second as it came, without its histograms
 * @typedef {{ p50: number | null, max: number | null }} LatestTimes
 *
 * @typedef {ClientUse & { name: string, role?: string, state?: string, health?: string, trouble?: string, last_s?: number | null,
 *   achieved?: number | null, p99_us?: number | null, loop_delay_ms_p99?: number | null, clock_ms?: number,
 *   waiting_bytes?: number, rss_mb?: number, stopped_ms?: number }} BoxRow a box, or this process
 *
 * @typedef {ReturnType<ReturnType<typeof stateOf>['all']>} Whole the state that a new page needs
 * @typedef {Omit<Whole, 'kind'>} Shown
 * @typedef {Whole | ReturnType<ReturnType<typeof stateOf>['about' | 'second' | 'boxes' | 'event' | 'warning' | 'end']>} Message
 */

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
    /** @param {{ hdr: string, max: number, samples?: number, count: number } | null | undefined} found */
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

/** A latency without the fields that only merging needs. @param {Folded | null | undefined} found */
const bare = (found) => {
  if (!found) return found
  const { buckets, hdr, ...rest } = found
  return rest
}

/** As the heat map draws it. @param {Times | null | undefined} found */
const drawn = (found) => found && { ...found, ...(found.buckets && { buckets: unpacked(found.buckets) }) }

/** A point as the page gets it: buckets are only for the heat map. @param {Point} point */
const shownPoint = ({ latency_us: latency, duration_us: duration, [othersPath]: others, ...point }) => ({
  ...point,
  ...(latency && { latency_us: { ...latency, intended: drawn(latency.intended) } }),
  ...(duration !== undefined && { duration_us: drawn(duration) }),
  ...(others !== undefined && { [othersPath]: bare(others) }),
})

/** @param {Line} line @returns {Latest} */
const latestOf = ({ latency_us: latency, ...line }) => ({
  ...Object.fromEntries(
    Object.entries(line).map(([key, value]) => [key, key.endsWith('_us') ? bare(value) : value]),
  ),
  ...(latency && { latency_us: { intended: bare(latency.intended), service: bare(latency.service) } }),
  nodes: (line.nodes ?? []).map((/** @type {Row} */ { commands, ...row }) => row),
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
    /** @param {Line} line of intervals.ndjson; of a fleet with the rows of its `boxes` */
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
      const { [readsName]: reads } = line
      sums = total([sums, line.items ?? reads ?? {}])
      // In a fleet that also reads, the page shows the outcomes of reads separately.
      if (line.items && reads) beside = total([beside, reading.lost(reads)])
      if (!late) latest = latestOf(line)
      boxes = Array.isArray(line.boxes) ? line.boxes : [{ name: about?.box ?? '', ...line.client }]
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
