// One box's second as it travels to the control server: the line of its intervals.ndjson, and sums since the box began,
// so that the last interval of a box that died says what became of its items. Milliseconds since the run's start;
// histograms are encoded and merge bucket by bucket.

import { amount, counts, latest, storedTimes, timesOf, worst } from '../measures/fields.js'
import { secondOfSources } from '../measures/fold.js'
import { lineOf, ofReading, recordOf, TIMES } from '../measures/index.js'
import { percentilesIn } from '../measures/measure.js'
import { noCounts } from '../probes/ledger.js'

/**
 * @import { Counts } from '../probes/ledger.js'
 * @import { NodeRow } from '../probes/node-sampler.js'
 * @import { Fields, Folded, Line as OfAny, Times as Latency } from '../measures/fold.js'
 *
 * @typedef {object} Sums of a box since it began
 * @property {Counts} whole
 * @property {Counts} measured after the warm-up
 * @property {({ agent: number } & Counts)[]} agents
 * @property {Record<string, number>} failed_by
 * @property {{ sent: number, repeated: number, acked: number }} commands
 * @property {Record<string, number>} errors_by
 * @property {Record<string, number>} repeated_by
 * @property {{ count: number, late: number, next: number }} ticks next: of the schedule, the first not offered
 *
 * @typedef {Omit<OfAny, 'items' | 'client' | 'latency_us'> & { epoch_ms: number, items: Counts, achieved: number | null,
 *   latency_us: { intended: Latency | null, service: Latency | null }, client: Record<string, number | null>,
 *   writers: number | null, nodes: NodeRow[] }} Line as intervals.ndjson of one box, or
 *   merged of all: the nodes of the leader alone, the client of the busiest thread with the sum of the CPU
 *
 * @typedef {{ v: 1, box: string, seq: number, lateness_us: Latency | null, sampler?: object } & Line & { sums: Sums }} Interval
 *   seq: from 1, without gaps; sampler: of the leader, so that the next one goes on with its window
 *
 * @typedef {{ v: 1, box: string, seq: number, kind: 'consumer', at_ms: number, epoch_ms: number, items_per_s: number | null,
 *   client: Record<string, number | null>, [measured: string]: unknown }} ReadInterval of a box that reads
 */

/** The second that an interval belongs to: its line is written a little before the second is over. @param {number} atMs */
export const secondOf = (atMs) => Math.round(atMs / 1000)

/**
 * What a stream's entry holds; null where it is no interval of this version.
 * @param {string} text
 * @returns {Interval | ReadInterval | null}
 */
export const decodeInterval = (text) => {
  try {
    const found = JSON.parse(text)
    const isOne = found?.v === 1 && typeof found.box === 'string' && Number.isInteger(found.seq)
    return isOne && Number.isFinite(found.at_ms) ? found : null
  } catch {
    return null
  }
}

// What a second has besides its measures.
/** @type {Fields} */
const common = {
  at_ms: worst('ms'),
  epoch_ms: worst('ms'),
  items: counts(),
  achieved: amount('count'),
  writers: amount('count'),
  boxes: amount('count'),
  phase: {
    ...latest(),
    inASecond: (/** @type {string} */ sum, /** @type {string} */ phase) =>
      sum === 'measuring' ? sum : phase,
  },
}
const record = { ...common, ...recordOf() }
// The client and the nodes of a second are those of the writers.
const recordOfReads = { ...common, ...recordOf(ofReading) }
const isTimes = new Set(TIMES)
const nothing = () => ({
  at_ms: 0,
  epoch_ms: 0,
  phase: '',
  items: noCounts(),
  achieved: null,
  writers: 0,
  boxes: 0,
  nodes: [],
})

/** Histograms from their stored form. @param {Readonly<Record<string, Parameters<typeof timesOf>[0]>>} stored */
export const timesIn = (stored) =>
  Object.fromEntries(Object.entries(stored).map(([path, one]) => [path, timesOf(one)]))

/** @param {Folded} sums @param {readonly string[]} [paths] */
export const storedIn = (sums, paths = TIMES) =>
  Object.fromEntries(paths.map((path) => [path, storedTimes(sums[path])]))

/** One second of all boxes, which come one at a time and in any order. @param {{ own: Folded, times: Parameters<typeof timesIn>[0] } | null} [state] what `state()` gave */
export const mergedSecond = (state = null) => {
  const { sum, add } = secondOfSources(state ? { ...state.own, ...timesIn(state.times) } : nothing())
  const series = () => TIMES.filter((path) => sum[path])
  const own = () => Object.fromEntries(Object.entries(sum).filter(([path]) => !isTimes.has(path)))

  /** @param {string} path @param {boolean} withBuckets @returns {Latency | null} */
  const latencyIn = (path, withBuckets) => {
    const { buckets, samples } = sum[path]
    const found = buckets.percentiles()
    if (!found) return null
    const times = {
      ...found,
      ...percentilesIn(sum[path], 1, found),
      count: buckets.count(),
      samples,
      hdr: String(buckets.encoded()),
    }
    // Beside the text, and not in JSON.
    if (withBuckets) Object.defineProperty(times, 'buckets', { value: buckets })
    return times
  }
  return {
    /** @param {Folded} interval of a box, or a merged line */
    add(interval) {
      add({ boxes: 1, ...interval }, interval.kind === 'consumer' ? recordOfReads : record)
    },
    boxes: () => sum.boxes,
    /** Its histograms, added to those of the whole run. @param {Folded} whole */
    addTo(whole) {
      for (const path of series()) record[path].inASecond(whole[path], sum[path])
    },
    /** A line of intervals.ndjson; its histograms need not be decoded until this is closed. @param {boolean} [withBuckets] @returns {Line & { boxes: number }} */
    line: (withBuckets = false) =>
      /** @type {any} */ (
        lineOf({
          ...own(),
          ...Object.fromEntries(TIMES.map((path) => [path, sum[path] ? latencyIn(path, withBuckets) : null])),
        })
      ),
    /** Plain data that the second can be taken up from. */
    state: () => ({ own: own(), times: storedIn(sum, series()) }),
    close() {
      for (const path of series()) sum[path].buckets.close()
    },
  }
}

/**
 * The lines of a run in order: a box that could not reach the control sends its seconds later, as further lines.
 * @param {readonly (Line & { boxes: number })[]} lines
 */
export const joinedSeconds = (lines) => {
  /** @type {Map<number, (Line & { boxes: number })[]>} */
  const by = new Map()
  for (const line of lines) by.set(secondOf(line.at_ms), [...(by.get(secondOf(line.at_ms)) ?? []), line])
  return [...by]
    .sort(([a], [b]) => a - b)
    .map(([, [first, ...more]]) => {
      if (more.length === 0) return first
      const second = mergedSecond()
      for (const line of [first, ...more]) second.add(line)
      const joined = second.line()
      second.close()
      return joined
    })
}
