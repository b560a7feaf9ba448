// One box's second as it travels to the control server: the line of its intervals.ndjson, and sums since the box began,
// so that the last interval of a box that died says what became of its items. Milliseconds since the run's start;
// histograms are encoded and merge bucket by bucket.
import { sums } from '../base/sums.js'
import { noCounts } from '../measure/ledger.js'
import { storedTimes, timesOf } from '../measures/fields.js'
import { secondOfSources } from '../measures/fold.js'
import { lineOf, ownOfBoxes, recordOf, TIMES, upgraded } from '../measures/index.js'

/**
 * @import { Counts } from '../measure/ledger.js'
 * @import { NodeRow } from '../measure/node-sampler.js'
 * @import { Folded } from '../measures/fold.js'
 * @import { Second, SecondLatency as Latency } from '../result/record.js'
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
 * @typedef {Omit<Second, 'over_ms' | 'items' | 'client'> & { epoch_ms: number, items: Counts, achieved: number | null,
 *   latency_us: { intended: Latency | null, service: Latency | null }, client: Record<string, number | null>,
 *   writers: number | null, nodes: NodeRow[] }} Line as intervals.ndjson of one box, or
 *   merged of all: the nodes of the leader alone, the client of the busiest thread with the sum of the CPU
 *
 * @typedef {{ v: 1, box: string, seq: number, lateness_us: Latency | null, sampler?: object } & Line & Sums} Interval
 *   seq: from 1, without gaps; sampler: of the leader, so that the next one goes on with its window
 *
 * @typedef {{ v: 1, box: string, seq: number, kind: 'consumer', at_ms: number, epoch_ms: number, items_per_s: number | null,
 *   client: Record<string, number | null>, [measured: string]: any }} ReadInterval of a box that reads
 */

/** The second that an interval belongs to: its line is written a little before the second is over. @param {number} atMs */
export const secondOf = (atMs) => Math.round(atMs / 1000)

/** @param {Interval | ReadInterval} interval */
export const encodeInterval = (interval) => JSON.stringify(interval)

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

const record = recordOf()

/** Histograms from what was stored of them. @param {Readonly<Record<string, any>>} stored */
export const timesIn = (stored) =>
  Object.fromEntries(Object.entries(stored).map(([path, one]) => [path, timesOf(one)]))

/** @param {Folded} sums @param {readonly string[]} [paths] */
export const storedIn = (sums, paths = TIMES) =>
  Object.fromEntries(paths.map((path) => [path, storedTimes(sums[path])]))

/**
 * One second of all boxes, which come one at a time and in any order.
 * @param {any} [kept] what `kept()` gave
 */
export const mergedSecond = (kept = null) => {
  /** @type {any} */
  const line = kept?.line ?? {
    at_ms: 0,
    epoch_ms: 0,
    phase: '',
    items: noCounts(),
    achieved: null,
    writers: 0,
    boxes: 0,
    nodes: [],
  }
  const measured = secondOfSources(record, { ...kept?.measured, ...timesIn(kept?.sums ?? {}) })
  const series = () => TIMES.filter((path) => measured.sum[path])
  const own = () => Object.fromEntries(Object.entries(measured.sum).filter(([path]) => path in ownOfBoxes))

  /** @param {string} path @returns {Latency | null} */
  const latencyIn = (path) => {
    const { buckets, samples } = measured.sum[path]
    const found = buckets.percentiles()
    return found && { ...found, count: buckets.count(), samples, hdr: String(buckets.encoded()) }
  }
  return {
    /** @param {Record<string, any>} interval of a box, or a merged line */
    add(interval) {
      line.at_ms = Math.max(line.at_ms, interval.at_ms)
      line.epoch_ms = Math.max(line.epoch_ms, interval.epoch_ms)
      if (line.phase !== 'measuring') line.phase = interval.phase ?? line.phase
      line.items = sums([line.items, interval.items ?? {}])
      if (interval.achieved != null) line.achieved = (line.achieved ?? 0) + interval.achieved
      // The client of a second is that of the writers.
      const { client, ...rest } = upgraded(interval, 1)
      measured.add(interval.kind === 'consumer' ? rest : { ...rest, client })
      line.writers += interval.writers ?? 0
      line.boxes += interval.boxes ?? 1
    },
    boxes: () => line.boxes,
    /** Its histograms, added to those of the whole run. @param {Folded} whole */
    addTo(whole) {
      for (const path of series()) record[path].inASecond(whole[path], measured.sum[path])
    },
    /** A line of intervals.ndjson. @returns {Line & { boxes: number }} */
    line: () => ({
      ...line,
      ...lineOf({
        ...own(),
        ...Object.fromEntries(TIMES.map((path) => [path, measured.sum[path] ? latencyIn(path) : null])),
      }),
    }),
    /** Plain data that the second can be taken up from. */
    kept: () => ({
      line,
      measured: own(),
      sums: storedIn(measured.sum, series()),
    }),
    close() {
      for (const path of series()) measured.sum[path].buckets.close()
    },
  }
}

/**
 * The lines of a run in order: a box that could not reach the control sends its seconds later, as further lines.
 * @param {readonly (Line & { boxes: number })[]} lines
 */
export const joinedSeconds = (lines) => {
  /** @type {Map<number, any[]>} */
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
