// The sections of run.json that measures make, of one box and of all of a fleet.
import { timesOf } from '../measures/fields.js'
import { sumOfSources } from '../measures/fold.js'
import { applying, factsBeside, ownOfBoxes, recordOf, sectionsOf } from '../measures/index.js'

/**
 * @import { Folded } from '../measures/fold.js'
 * @import { Measure, Summing } from '../measures/contract.js'
 * @import { BoxFold, Checkpoint } from './fold.js'
 * @import { BoxDescription } from './gather.js'
 *
 * @typedef {{ window: Folded, whole: Folded, facts: Folded }} Measured of one box
 * @typedef {{ end: { measured?: Measured } | null, folded: BoxFold | null }} Box
 */

const nothing = { window: {}, whole: {}, facts: {} }

/**
 * The sums that a box reported at its end; for a lost box, the sums of its seconds. A box that does not reach the control goes on as
 * the leader that it was: its readings of the nodes are those that the control took, as the next leader has the others too.
 * @param {Box} box
 * @returns {Measured}
 */
const sumsOf = ({ end, folded }) => {
  if (!end?.measured) return folded ? { ...folded.measured, facts: {} } : nothing
  if (!folded) return end.measured
  const { window, whole, facts } = end.measured
  const taken = folded.measured
  return {
    window: { ...window, nodes: taken.window.nodes ?? null },
    whole: { ...whole, nodes: taken.whole.nodes ?? null },
    facts,
  }
}

/** What one box measured. @param {Box} box @param {readonly Measure[]} measures */
export const withMeasured = (box, measures) => {
  const { window, whole, facts } = sumsOf(box)
  const none = { window: {}, whole: {} }
  return sectionsOf({ facts, stored: 0, own: { window, whole } }, none, {}, measures)
}

/**
 * A box of run.json, of writers or of readers.
 * @param {{ description: BoxDescription, folded: BoxFold | null, end: { interrupted: boolean } | null }} box
 * @param {Folded} client what its process took
 * @param {{ box: number, fromMs: number, toMs: number, counted: object, uses: string[], more?: object, writers?: readonly number[], readers?: readonly number[] }} row
 */
export const boxRow = (
  { description, folded, end },
  client,
  { box, fromMs, toMs, counted, uses, more, ...shares },
) => ({
  box,
  host: description.host,
  pid: description.pid,
  ...shares,
  state: end === null ? 'lost' : end.interrupted ? 'interrupted' : 'done',
  version: description.version,
  cores: description.cores,
  clock: { offset_ms: description.offset_ms, uncertainty_ms: description.uncertainty_ms },
  from_s: fromMs / 1000,
  to_s: toMs / 1000,
  ...counted,
  ...Object.fromEntries(uses.map((name) => [name, client[name] ?? null])),
  stopped_ms: client.stopped_ms ?? 0,
  ...more,
  intervals: folded?.seq ?? 0,
  intervals_lost: folded?.skipped ?? 0,
})

/** The boxes' own sums, added up. @param {readonly Box[]} boxes */
export const sumOfSeconds = (boxes) => {
  const all = boxes.map(sumsOf)
  const sum = (/** @type {'window' | 'whole'} */ name) =>
    sumOfSources(
      ownOfBoxes,
      all.map((sums) => sums[name]),
    )
  return { window: sum('window'), whole: sum('whole') }
}

/**
 * The sections for all boxes: histograms are added second by second, everything else box by box.
 * @param {{ boxes: readonly Box[], checkpoint: Checkpoint, own?: ReturnType<typeof sumOfSeconds> } & Pick<Summing, 'stored' | 'plan' | 'overS' | 'costed'>} known
 * @param {readonly Measure[]} measures
 */
export const measuredOfBoxes = (
  { boxes, checkpoint, plan, own = sumOfSeconds(boxes), ...known },
  measures,
) => {
  const times = Object.fromEntries(
    Object.keys(recordOf(measures)).flatMap((path) => {
      const sum = checkpoint.sums[path]
      return sum?.hdr ? [[path, timesOf(sum)]] : []
    }),
  )
  const facts = factsBeside(boxes.map((box) => sumsOf(box).facts))
  const sums = { ...known, facts, linesBefore: 0, own }
  const sections = sectionsOf(sums, { window: times, whole: times }, plan, applying(measures, plan))
  for (const { buckets } of Object.values(times)) buckets.close()
  return { sections, sums }
}
