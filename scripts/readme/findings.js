// Ratios in words: 'a quarter less' only where the interval excludes no difference.

import { times } from '../../lib/base/units.js'
import { grossCost, netCost } from '../../lib/measures/server.js'
import { shownFigure } from '../../lib/report/cells.js'
import { measureNamed } from '../../lib/result/metrics.js'

/** @import { ExperimentDocument, ExperimentRatio, ExperimentRow } from '../../lib/result/experiment-document.js' */

/** @param {ExperimentDocument} document @param {string} label its start, without the variant @param {string} figure */
export const ratioNamed = ({ id, ratios }, label, figure) => {
  const found = ratios.find((ratio) => ratio.figure === figure && ratio.label.startsWith(label))
  if (!found) throw new Error(`docs/data/${id}.ndjson has no ratio ${label} of ${figure}`)
  return found
}

/** That of the servers' CPU: without their idle cost, which draws ratios to 1, where all runs know it. @param {ExperimentDocument} document @param {string} label */
export const cpuRatioNamed = (document, label) => {
  const isNet = document.ratios.some(({ figure, label: one }) => figure === netCost && one.startsWith(label))
  return ratioNamed(document, label, isNet ? netCost : grossCost)
}

/** The cost that all rows have: without the idle cost, else with it. @param {ExperimentDocument} document */
export const cpuFigureOf = ({ rows }) =>
  rows.every(({ figures }) => netCost in figures) ? netCost : grossCost

/** 'server CPU', and whether the idle cost is in it. @param {ExperimentRatio} ratio */
export const cpuWords = ({ figure }) => (figure === netCost ? 'server CPU' : 'server CPU (idle included)')

/** A row of which some runs are not valid. @param {ExperimentRow | undefined} row */
export const isInvalid = (row) => row?.marks.some(({ code }) => code === 'invalid') ?? false

/** Below what has the mark. @param {string} page that says why */
export const invalidNote = (page) => `† some of its runs are not valid: [why](${page})`

/** Whether the data show a difference. @param {ExperimentRatio} ratio */
export const isClear = ({ ours: { low, high } }) => low !== null && high !== null && (low > 1 || high < 1)

/** @param {number} ratio */
const percentOff = (ratio) => Math.abs(Math.round((ratio - 1) * 100))

/** `25 % less` @param {ExperimentRatio} ratio */
export const differenceWords = ({ ours: { ratio } }) =>
  `${percentOff(ratio)} % ${ratio < 1 ? 'less' : 'more'}`

/** `25 % less CPU (20 to 30 %)`; with its interval. @param {ExperimentRatio} ratio @param {string} what */
export const changeWords = (ratio, what) => {
  const { low, high } = ratio.ours
  if (low === null || high === null || !isClear(ratio))
    return `no clear difference in ${what} (ratio ${ratioText(ratio)})`
  const ends = [percentOff(low), percentOff(high)].sort((a, b) => a - b)
  const range = ends[0] === ends[1] ? '' : ` (${ends[0]} to ${ends[1]} %)`
  return `${differenceWords(ratio)} ${what}${range}`
}

/** `0.75 (0.67 to 0.84)` @param {ExperimentRatio} ratio */
export const ratioText = ({ ours: { ratio, low, high } }) =>
  low === null || high === null ? times(ratio) : `${times(ratio)} (${times(low)} to ${times(high)})`

/** @param {string} name @param {number | undefined} value */
export const figureText = (name, value) => shownFigure(measureNamed(name), value)
