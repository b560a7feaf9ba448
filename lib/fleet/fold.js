// The fold of a run's stream: intervals of boxes in, seconds of the whole fleet and one checkpoint out. Pure but for its
// histograms: no clock, no server. The same interval twice counts once, so that a box may send again what it is not sure of.
import { counts } from '../measures/fields.js'
import { foldOf as secondsOf } from '../measures/fold.js'
import { ownOfBoxes, reading, TIMES } from '../measures/index.js'
import { mergedSecond, secondOf, storedIn, timesIn } from './interval.js'

/**
 * @import { storedTimes } from '../measures/fields.js'
 * @import { Folded } from '../measures/fold.js'
 * @import { Interval, ReadInterval, Sums } from './interval.js'
 *
 * @typedef {object} BoxFold what is known of a box by its intervals
 * @property {number} seq the last interval
 * @property {number} skipped intervals that never came
 * @property {number} from_ms when its first interval began
 * @property {number} at_ms end of its last interval
 * @property {number} epoch_ms the same, by the control's clock
 * @property {number | null} achieved in its last interval; of a reader, items that it read
 * @property {number | null} p99_us in its last interval; of a reader, of a whole read
 * @property {Record<string, number | null>} client in its last interval
 * @property {{ window: Folded, whole: Folded }} measured what its seconds come to
 * @property {number} longest_ms between the ends of two intervals
 * @property {Sums} [sums]
 *
 * @typedef {object} Checkpoint plain data
 * @property {1} v
 * @property {string} last id of the last entry folded
 * @property {{ name: string, n: number }} [commit] that put it there
 * @property {Record<string, BoxFold>} boxes
 * @property {Partial<Record<string, ReturnType<typeof storedTimes>>>} sums of all seconds that were given out
 * @property {Record<string, ReturnType<ReturnType<typeof mergedSecond>['state']>>} open seconds that are not yet complete
 * @property {{ at_ms: number, state: object } | null} sampler what the last leader knew of the nodes
 * @property {number} closed_to the last second that was given out
 */

// A second is completed once this many later ones have begun, even if boxes are missing in it.
const patienceSeconds = 3

/** What is known of the last interval of a writer, or of a reader. @param {Interval | ReadInterval} interval @returns {Partial<BoxFold>} */
const lastOf = (interval) => {
  if ('kind' in interval) return reading.last(interval)
  const { achieved, latency_us: latency, sums } = interval
  return { achieved, p99_us: latency.intended?.p99 ?? null, sums }
}

/** @param {Interval | ReadInterval} interval @param {BoxFold | undefined} before @returns {BoxFold} */
const boxAfter = (interval, before) => {
  const { seq, at_ms, epoch_ms, client } = interval
  const [window, whole] = [before?.measured.window, before?.measured.whole].map((sum) =>
    secondsOf(ownOfBoxes, sum),
  )
  whole.add(interval)
  if (interval.phase !== 'warm-up') window.add(interval)
  return /** @type {BoxFold} */ ({
    seq,
    skipped: (before?.skipped ?? 0) + seq - 1 - (before?.seq ?? 0),
    from_ms: before?.from_ms ?? Math.max(0, at_ms - 1000),
    at_ms,
    epoch_ms,
    client,
    measured: { window: window.sum, whole: whole.sum },
    longest_ms: Math.max(before?.longest_ms ?? 0, before ? at_ms - before.at_ms : 0),
    ...lastOf(interval),
  })
}

// The rest of a second at the end of a box has only a few milliseconds: its rate and its CPU are not those of a second.
const ofNoSecond = { writers: 0, boxes: 0, achieved: null, client: {} }

/** @param {Interval | ReadInterval} rest @param {BoxFold} before @returns {BoxFold} */
const boxAtEnd = (rest, before) => {
  const { client, achieved, p99_us } = before
  return { ...boxAfter(rest, before), client, achieved, p99_us }
}

/** @param {Checkpoint | null} [from] */
export const fleetFoldOf = (from = null) => {
  let last = from?.last ?? '0-0'
  let closedTo = from?.closed_to ?? -1
  /** @type {Record<string, BoxFold>} */
  const boxes = { ...from?.boxes }
  const sums = timesIn(Object.fromEntries(TIMES.map((path) => [path, from?.sums[path] ?? null])))
  /** @type {Map<number, ReturnType<typeof mergedSecond>>} */
  const open = new Map(
    Object.entries(from?.open ?? {}).map(([second, kept]) => [Number(second), mergedSecond(kept)]),
  )
  let newest = Math.max(closedTo, ...open.keys())
  let sampler = from?.sampler ?? null

  /** @param {number} second */
  const take = (second) => {
    const merged = open.get(second)
    open.delete(second)
    closedTo = Math.max(closedTo, second)
    // Decoding is most of the cost of a fold: each histogram is decoded once, into its second.
    merged?.addTo(sums)
    const line = merged?.line()
    merged?.close()
    return line ?? null
  }

  const linesOf = (/** @type {(second: number) => boolean} */ isDue) =>
    [...open.keys()]
      .filter(isDue)
      .sort((a, b) => a - b)
      .map(take)
      .filter((line) => line !== null)

  return {
    /**
     * @param {string} id of the stream's entry
     * @param {Interval | ReadInterval | null} interval null: an entry of something else
     * @returns {boolean} whether it counts
     */
    add(id, interval) {
      last = id
      if (!interval) return false
      const before = boxes[interval.box]
      if (before && interval.seq <= before.seq) return false
      // A box that led before may send samples of that time later.
      if ('sampler' in interval && interval.sampler && interval.at_ms >= (sampler?.at_ms ?? 0))
        sampler = { at_ms: interval.at_ms, state: interval.sampler }
      const second = secondOf(interval.at_ms)
      const merged = open.get(second) ?? mergedSecond()
      const isRest = before !== undefined && secondOf(before.at_ms) === second
      boxes[interval.box] = isRest ? boxAtEnd(interval, before) : boxAfter(interval, before)
      merged.add(isRest ? { ...interval, ...ofNoSecond } : interval)
      open.set(second, merged)
      newest = Math.max(newest, second)
      return true
    },
    /**
     * The lines of seconds that are complete, or waited for long enough; of a second that was given out before, what
     * came of it since.
     * @param {number} expected boxes that are at work
     */
    closed: (expected) =>
      linesOf((second) => {
        const isWhole = (open.get(second)?.boxes() ?? 0) >= expected && newest > second
        return second <= closedTo || isWhole || newest - second >= patienceSeconds
      }),
    /** All remaining seconds, at the end of the run. */
    rest: () => linesOf(() => true),
    boxes: () => boxes,
    /** The id of the last entry folded. */
    checkpointId: () => last,
    /** @returns {Checkpoint} */
    checkpoint: () => ({
      v: 1,
      last,
      boxes: { ...boxes },
      sums: storedIn(sums),
      open: Object.fromEntries([...open].map(([second, merged]) => [second, merged.state()])),
      sampler,
      closed_to: closedTo,
    }),
    close() {
      for (const { buckets } of Object.values(sums)) buckets.close()
      for (const merged of open.values()) merged.close()
    },
  }
}

const added = counts()
const noSums = { whole: {}, measured: {}, failed_by: {}, commands: {}, errors_by: {}, repeated_by: {} }

/** All of a fleet's writers: items, causes and commands, added up. @param {readonly (Sums | undefined)[]} boxes */
export const sumOfBoxes = (boxes) =>
  boxes
    .flatMap((sums) => sums ?? [])
    .reduce(
      (sum, { agents, ticks, ...one }) => added.acrossSources(sum, one),
      /** @type {Record<keyof typeof noSums, any>} */ (noSums),
    )
