// The sections of run.json that measures make, of one box and of all of a fleet.
import { histogramSum } from '../measure/latency.js'
import { sumOfSources } from '../measures/fold.js'
import { factsBeside, ownOfBoxes, recordOf, summaryOf, sumsWith } from '../measures/index.js'

/**
 * @typedef {import('../measures/measure.js').Measure} Measure
 * @typedef {import('../measures/fold.js').Folded} Folded
 * @typedef {{ window: Folded, whole: Folded, facts: Folded }} Measured of one box
 * @typedef {{ end: { measured?: Measured } | null, folded: import('./fold.js').BoxFold | null }} Box
 */

const nothing = { window: {}, whole: {}, facts: {} }

/** What a box said at its end; of one that was lost, what its seconds come to. @param {Box} box @returns {Measured} */
const sumsOf = ({ end, folded }) => end?.measured ?? (folded ? { ...folded.measured, facts: {} } : nothing)

/** Of one box. @param {Box} box @param {readonly Measure[]} measures @returns {any} */
export const withMeasured = (box, measures) => {
  const none = Object.fromEntries(Object.keys(recordOf(measures)).map((path) => [path, null]))
  const { window, whole, facts } = sumsOf(box)
  const sums = { window: { ...none, ...window }, whole: { ...none, ...whole }, facts, stored: 0, plan: {} }
  return summaryOf(sums, measures)
}

/**
 * Of all boxes: histograms are added up second by second, everything else box by box.
 * @param {{ boxes: readonly Box[], checkpoint: import('./fold.js').Checkpoint, stored: number, plan: any, overS?: number }} known
 * @param {readonly Measure[]} measures
 */
export const measuredOfBoxes = ({ boxes, checkpoint, stored, plan, overS }, measures) => {
  const all = boxes.map(sumsOf)
  const times = Object.fromEntries(
    Object.keys(recordOf(measures)).flatMap((path) => {
      const known = checkpoint.sums[path]
      return known?.hdr ? [[path, { buckets: histogramSum(known.hdr), samples: known.samples }]] : []
    }),
  )
  const [window, whole] = /** @type {const} */ (['window', 'whole']).map((name) =>
    sumOfSources(
      ownOfBoxes,
      all.map((sums) => sums[name]),
    ),
  )
  const sums = {
    ...{ stored, overS },
    facts: factsBeside(all.map(({ facts }) => facts)),
    fromMs: 0,
    own: { window, whole },
  }
  const sections = summaryOf(sumsWith(sums, times, plan, measures), measures)
  for (const { buckets } of Object.values(times)) buckets.close()
  return { sections, sums }
}
