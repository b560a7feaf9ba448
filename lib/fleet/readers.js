// What the readers of a fleet's run came to: the sections of a consumer's result, of all of them, from what their boxes
// sent. They are no part of the accounting of items. Pure.
import { medianOf } from '../measure/fetches.js'
import { mergedPercentiles } from '../measure/latency.js'
import { ofReaders } from '../measures/index.js'
import { addCounts } from './interval.js'
import { measuredOfBoxes, withMeasured } from './measured.js'

/**
 * @typedef {object} ReaderEnd the last word of a box that reads
 * @property {import('./interval.js').ReadSums} sums
 * @property {number} from_ms of its part, after the run's start
 * @property {number} end_ms
 * @property {boolean} interrupted
 * @property {import('./measured.js').Measured} measured what its measures come to
 * @property {any} fetches
 * @property {readonly (readonly [items: number, fetches: number])[]} sizes how many fetches had so many items
 * @property {any} replication_ms
 * @property {any} verify
 * @property {import('../measure/live-share.js').LiveShare | null} live
 * @property {any} uniqueness
 * @property {readonly { at_ms: number, kind: string, text: string }[]} events
 * @property {readonly import('../result/ruling.js').Warning[]} warnings
 *
 * @typedef {{ card: import('./gather.js').Card, folded: import('./fold.js').BoxFold | null, end: ReaderEnd | null, reads: import('./interval.js').ReadSums | null }} ReaderBox
 */

const mostExamples = 10

/** @param {ReaderBox} box @param {number} at */
const rowOf = ({ card, folded, end, reads }, at) => {
  const { client } = withMeasured({ end, folded }, ofReaders)
  const [fromMs, toMs] = [end?.from_ms ?? folded?.from_ms ?? 0, end?.end_ms ?? folded?.at_ms ?? 0]
  const { count = 0, items = 0 } = reads?.fetches ?? {}
  return {
    box: at + 1,
    host: card.host,
    pid: card.pid,
    readers: card.agents,
    state: end === null ? 'lost' : end.interrupted ? 'interrupted' : 'done',
    version: card.version,
    cores: card.cores,
    clock: { offset_ms: card.offset_ms, uncertainty_ms: card.uncertainty_ms },
    from_s: fromMs / 1000,
    to_s: toMs / 1000,
    fetches: count,
    items,
    items_per_s: toMs > fromMs ? (items * 1000) / (toMs - fromMs) : null,
    duration_ms: { p50: end?.fetches.duration_ms?.p50 ?? null, p99: end?.fetches.duration_ms?.p99 ?? null },
    busy_pct: client.busy_pct ?? null,
    thread_cpu_pct: client.thread_cpu_pct ?? null,
    cpu_pct: client.cpu_pct ?? null,
    stopped_ms: client.stopped_ms ?? 0,
    intervals: folded?.seq ?? 0,
    intervals_lost: folded?.skipped ?? 0,
  }
}

/** @param {import('./fold.js').Checkpoint['sums']} sums @param {'duration_us' | 'ids_us' | 'values_us'} name */
const millisecondsIn = (sums, name) => {
  const found = sums[name]?.hdr ? mergedPercentiles([sums[name].hdr]) : null
  if (!found) return null
  const ms = Object.entries(found).map(([key, us]) => [key, us / 1000])
  return { ...Object.fromEntries(ms), count: Number(sums[name]?.samples) }
}

/** @param {readonly ReaderBox[]} boxes @param {Record<string, number>} counts @param {any} plan */
const ratesOf = (boxes, counts, { pacing, periodMs, consumers }) => {
  const [from, to] = [
    boxes.map(({ end, folded }) => end?.from_ms ?? folded?.from_ms ?? 0),
    boxes.map(({ end, folded }) => end?.end_ms ?? folded?.at_ms ?? 0),
  ]
  const overS = (Math.max(0, ...to) - Math.min(...from)) / 1000
  const per = (/** @type {number} */ n) => (overS > 0 ? n / overS : null)
  const all = boxes.reduce((sum, { card }) => sum + card.agents.length * consumers, 0)
  return {
    nominal: pacing === 'closed' ? null : (all * 1000) / periodMs,
    achieved: per(counts.count ?? 0),
    items: per(counts.items ?? 0),
    value_bytes: per(counts.bytes ?? 0),
  }
}

/** The median of all fetches; a box that was lost did not say how many had how many items. @param {readonly ReaderBox[]} boxes */
const itemsOf = (boxes) => {
  if (boxes.some(({ end }) => end === null)) return null
  /** @type {import('../measure/fetches.js').Sizes} */
  const all = new Map()
  for (const [items, fetches] of boxes.flatMap(({ end }) => end?.sizes ?? []))
    all.set(items, (all.get(items) ?? 0) + fetches)
  return medianOf(all)
}

/**
 * What fetches counted besides items, such as members of a set: the mean of all fetches, and the last that was read.
 * A box that was lost did not say.
 * @param {readonly ReaderBox[]} boxes
 */
const numbersOf = (boxes) => {
  const ended = boxes
    .flatMap(({ end, reads }) => (end ? [{ end, fetches: reads?.fetches.count ?? 0 }] : []))
    .toSorted((a, b) => a.end.end_ms - b.end.end_ms)
  const names = new Set(ended.flatMap(({ end }) => Object.keys(end.fetches.numbers)))
  return Object.fromEntries(
    [...names].map((name) => {
      const said = ended.filter(({ end }) => name in end.fetches.numbers)
      const all = said.reduce((sum, { fetches }) => sum + fetches, 0)
      const sum = said.reduce(
        (total, { end, fetches }) => total + end.fetches.numbers[name].mean * fetches,
        0,
      )
      return [name, { mean: sum / all, last: said[said.length - 1].end.fetches.numbers[name].last }]
    }),
  )
}

/** @param {readonly ReaderBox[]} boxes */
const verifyOf = (boxes) => {
  const all = boxes.flatMap(({ reads }) => (reads?.verify ? [reads.verify] : []))
  if (all.length === 0) return null
  const examples = boxes.flatMap(({ end }) => end?.verify?.examples ?? []).slice(0, mostExamples)
  return { ...all.reduce(addCounts, {}), examples }
}

/** The reader that found the least of what is alive. @param {readonly ReaderBox[]} boxes */
const liveOf = (boxes) =>
  boxes.flatMap(({ end }) => (end?.live ? [end.live] : [])).toSorted((a, b) => a.share - b.share)[0] ?? null

/**
 * @param {object} known
 * @param {readonly import('./gather.js').Card[]} known.cards
 * @param {Readonly<Record<string, any>>} known.ends
 * @param {import('./fold.js').Checkpoint} known.checkpoint
 * @param {any} known.plan of the readers; null: none has joined
 */
export const readersOfFleet = ({ cards, ends, checkpoint, plan }) => {
  /** @type {ReaderBox[]} */
  const boxes = cards
    .filter(({ kind, agents }) => kind === 'consumer' && agents.length > 0)
    .map((card) => {
      const folded = checkpoint.boxes[card.id] ?? null
      const end = ends[card.id] ?? null
      return { card, folded, end, reads: end?.sums ?? folded?.reads ?? null }
    })
    .sort(
      (a, b) => a.card.agents[0] - b.card.agents[0] || (a.folded?.from_ms ?? 0) - (b.folded?.from_ms ?? 0),
    )
  if (boxes.length === 0 || plan === null) return null
  const rows = boxes.map(rowOf)
  const { fetches, ...sections } = measuredOfBoxes({ boxes, checkpoint, stored: 0, plan }, ofReaders)
  const counts = boxes.reduce((sum, { reads }) => addCounts(sum, reads?.fetches ?? {}), {})
  const failedBy = boxes.reduce((sum, { reads }) => addCounts(sum, reads?.failed_by ?? {}), {})
  const ended = boxes.flatMap(({ end }) => end ?? [])
  const there = new Set(rows.flatMap(({ readers }) => readers))
  return {
    kind: /** @type {const} */ ('consumer'),
    plan: { ...plan, agents: [...there].sort((a, b) => a - b) },
    consumers: there.size * plan.consumers,
    fetches: {
      ...counts,
      failed_by: failedBy,
      items_p50: itemsOf(boxes),
      duration_ms: millisecondsIn(checkpoint.sums, 'duration_us'),
      ids_ms: millisecondsIn(checkpoint.sums, 'ids_us'),
      values_ms: millisecondsIn(checkpoint.sums, 'values_us'),
      numbers: numbersOf(boxes),
      ...fetches,
    },
    rate: ratesOf(boxes, counts, plan),
    replication_ms: ended.find(({ replication_ms: ms }) => ms)?.replication_ms ?? null,
    verify: verifyOf(boxes),
    live: liveOf(boxes),
    uniqueness: ended.find(({ uniqueness }) => uniqueness)?.uniqueness ?? null,
    ...sections,
    boxes: rows,
    notes: boxes.flatMap(({ end }, at) =>
      (end?.warnings ?? []).map((warning) => ({
        ...warning,
        message: `reader box ${at + 1}: ${warning.message}`,
      })),
    ),
    events: boxes.flatMap(({ end, folded, card }, at) => [
      ...(end?.events ?? []).map((event) => ({
        ...event,
        at_ms: event.at_ms + (end?.from_ms ?? 0),
        text: `reader box ${at + 1}: ${event.text}`,
      })),
      ...(end
        ? []
        : [
            {
              at_ms: folded?.at_ms ?? 0,
              kind: 'fleet',
              text: `the last sign of reader box ${at + 1} (${card.host})`,
            },
          ]),
    ]),
  }
}
