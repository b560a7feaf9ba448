// One box's second as it travels to the control server: the line of its intervals.ndjson, and sums since the box began,
// so that the last interval of a box that died says what became of its items. Milliseconds since the run's start;
// histograms are encoded and merge bucket by bucket.
import { sums } from '../base/sums.js'
import { histogramSum } from '../measure/latency.js'
import { noCounts } from '../measure/ledger.js'
import { at, secondOfSources } from '../measures/fold.js'
import { lineOf, ownOfBoxes, TIMES, upgraded } from '../measures/index.js'

/**
 * @import { Counts } from '../measure/ledger.js'
 * @import { NodeRow } from '../measure/node-sampler.js'
 * @import { SecondLatency as Latency } from '../result/record.js'
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
 * @typedef {object} Line as intervals.ndjson of one box, or merged of all
 * @property {number} at_ms end of the second
 * @property {number} epoch_ms
 * @property {string} phase
 * @property {Counts} items
 * @property {number | null} achieved
 * @property {{ intended: Latency | null, service: Latency | null }} latency_us
 * @property {Latency | null} bystander_us from the leader alone
 * @property {Record<string, number | null>} client of a fleet: the busiest thread, the sum of the CPU
 * @property {number | null} writers at work
 * @property {NodeRow[]} nodes from the leader alone
 * @property {Record<string, number>} [fetches] of all readers, as are the times of fetches and the items they read
 * @property {number | null} [items_per_s]
 *
 * @typedef {{ v: 1, box: string, seq: number, lateness_us: Latency | null, sampler?: object } & Line & Sums} Interval
 *   seq: from 1, without gaps; sampler: of the leader, so that the next one goes on with its window
 *
 * @typedef {{ v: 1, box: string, seq: number, kind: 'consumer', at_ms: number, epoch_ms: number, items_per_s: number | null,
 *   fetches: Record<string, number>, client: Record<string, number | null>, [measured: string]: any }} ReadInterval of a box that reads
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
  const measured = secondOfSources(ownOfBoxes, kept?.measured)
  /** @type {Map<string, { sum: ReturnType<typeof histogramSum>, samples: number }>} */
  const series = new Map()
  for (const [name, { hdr, samples }] of Object.entries(kept?.sums ?? {}))
    series.set(name, { sum: histogramSum(hdr), samples })

  /** @param {string} name @returns {Latency | null} */
  const latencyIn = (name) => {
    const known = series.get(name)
    const found = known?.sum.percentiles()
    if (!known || !found) return null
    return { ...found, count: known.sum.count(), samples: known.samples, hdr: String(known.sum.encoded()) }
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
      for (const path of TIMES) {
        const one = at(interval, path)
        if (!one) continue
        const known = series.get(path) ?? { sum: histogramSum(), samples: 0 }
        known.sum.add(one.hdr)
        known.samples += one.samples ?? 0
        series.set(path, known)
      }
    },
    boxes: () => line.boxes,
    /** Its histograms, added to those of the whole run. @param {Map<string, { sum: ReturnType<typeof histogramSum>, samples: number }>} whole */
    addTo(whole) {
      for (const [name, { sum, samples }] of series) {
        const known = whole.get(name)
        if (!known) continue
        known.sum.addSum(sum)
        known.samples += samples
      }
    },
    /** A line of intervals.ndjson. @returns {Line & { boxes: number }} */
    line: () => ({
      ...line,
      ...lineOf({
        ...measured.sum,
        ...Object.fromEntries(TIMES.map((path) => [path, latencyIn(path)])),
      }),
    }),
    /** Plain data that the second can be taken up from. */
    kept: () => ({
      line,
      measured: measured.sum,
      sums: Object.fromEntries(
        [...series].map(([name, { sum, samples }]) => [name, { hdr: sum.encoded(), samples }]),
      ),
    }),
    close() {
      for (const { sum } of series.values()) sum.close()
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
