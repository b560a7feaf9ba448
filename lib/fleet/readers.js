// What the readers of a fleet's run came to: the sections of a consumer's result, of all of them, from what their boxes
// sent. They are no part of the accounting of items. Pure.
import { ofReaders, reading } from '../measures/index.js'
import { boxRow, measuredOfBoxes, withMeasured } from './measured.js'

/**
 * @import { LiveShare } from '../loads/fetches/verifying.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { BoxFold, Checkpoint } from './fold.js'
 * @import { BoxDescription } from './gather.js'
 * @import { Measured } from './measured.js'
 * @import { AnyPlan } from '../measures/measure.js'
 * @import { Run } from '../measures/section.js'
 *
 * @typedef {object} ReaderEnd the last word of a box that reads
 * @property {number} from_ms of its part, after the run's start
 * @property {number} end_ms
 * @property {boolean} interrupted
 * @property {Measured} measured what its measures come to
 * @property {LiveShare | null} live
 * @property {Run | null} uniqueness
 * @property {readonly { at_ms: number, kind: string, text: string }[]} events
 * @property {readonly Warning[]} warnings
 * @property {Run} [reads] their section
 *
 * @typedef {{ description: BoxDescription, folded: BoxFold | null, end: ReaderEnd | null }} ReaderBox
 */

/** When it read, after the run's start. @param {ReaderBox} box */
const spanOf = ({ end, folded }) => ({
  fromMs: end?.from_ms ?? folded?.from_ms ?? 0,
  toMs: end?.end_ms ?? folded?.at_ms ?? 0,
})

/** @param {ReaderBox} box @param {number} at */
const rowOf = (box, at) => {
  const sections = withMeasured(box, ofReaders)
  const { fromMs, toMs } = spanOf(box)
  return boxRow(box, sections.client, {
    box: at + 1,
    readers: box.description.agents,
    fromMs,
    toMs,
    counted: reading.box(sections, box.end?.reads, (toMs - fromMs) / 1000),
    uses: ['busy_pct', 'thread_cpu_pct', 'cpu_pct'],
  })
}

/** How long they read, from the first to the last. @param {readonly ReaderBox[]} boxes */
const lengthS = (boxes) => {
  const spans = boxes.map(spanOf)
  return (
    (Math.max(0, ...spans.map(({ toMs }) => toMs)) - Math.min(...spans.map(({ fromMs }) => fromMs))) / 1000
  )
}

/** The reader that found the least of what is alive. @param {readonly ReaderBox[]} boxes */
const liveOf = (boxes) =>
  boxes.flatMap(({ end }) => (end?.live ? [end.live] : [])).toSorted((a, b) => a.share - b.share)[0] ?? null

/**
 * @param {object} known
 * @param {readonly BoxDescription[]} known.descriptions
 * @param {Readonly<Record<string, ReaderEnd>>} known.ends
 * @param {Checkpoint} known.checkpoint
 * @param {AnyPlan} known.plan of the readers; null: none has joined
 */
export const readersOfFleet = ({ descriptions, ends, checkpoint, plan }) => {
  /** @type {ReaderBox[]} */
  const boxes = descriptions
    .filter(({ kind, agents }) => kind === 'consumer' && agents.length > 0)
    .map((description) => ({
      description,
      folded: checkpoint.boxes[description.id] ?? null,
      end: ends[description.id] ?? null,
    }))
    .sort(
      (a, b) =>
        a.description.agents[0] - b.description.agents[0] ||
        (a.folded?.from_ms ?? 0) - (b.folded?.from_ms ?? 0),
    )
  if (boxes.length === 0 || plan === null) return null
  const rows = boxes.map(rowOf)
  const ended = boxes.flatMap(({ end }) => end ?? [])
  const there = new Set(boxes.flatMap(({ description }) => description.agents))
  const all = { ...plan, agents: [...there].sort((a, b) => a - b) }
  return {
    /** @type {'consumer'} */
    kind: 'consumer',
    plan: all,
    consumers: there.size * plan.consumers,
    live: liveOf(boxes),
    uniqueness: ended.find(({ uniqueness }) => uniqueness)?.uniqueness ?? null,
    ...measuredOfBoxes({ boxes, checkpoint, stored: 0, plan: all, overS: lengthS(boxes) }, ofReaders)
      .sections,
    boxes: rows,
    notes: boxes.flatMap(({ end }, at) =>
      (end?.warnings ?? []).map((warning) => ({
        ...warning,
        message: `reader box ${at + 1}: ${warning.message}`,
      })),
    ),
    events: boxes.flatMap(({ end, folded, description }, at) => [
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
              text: `the last sign of reader box ${at + 1} (${description.host})`,
            },
          ]),
    ]),
  }
}
