// What is printed at the end of an experiment: pure, from its document.

import { alignedTable, blocksText, marked, wrapped } from '../base/layout.js'
import { plainData, times } from '../base/units.js'
import { shownFigure } from '../report/cells.js'
import { drawnOfAll } from '../result/chief-metrics.js'
import { measureNamed } from '../result/metrics.js'
import { publishedWords } from '../result/published-words.js'
import { centreOf } from '../result/statistics.js'
import { publishedRatioWords } from './ratios.js'

/** @import { ExperimentDocument, ExperimentRow } from '../result/experiment-document.js' */

/** The mean, and in brackets what was published. @param {ExperimentRow} row @param {string} name */
const cellText = (row, name) => {
  const figure = row.figures[name]
  const ours = shownFigure(measureNamed(name), figure && centreOf(figure))
  const theirs = row.published?.[name]
  return theirs === undefined ? ours : `${ours} [${shownFigure(measureNamed(name), theirs)}]`
}

/** @param {ExperimentDocument} document @param {{ columns?: number }} [layout] */
export const experimentText = (document, { columns = 120 } = {}) => {
  const it = /** @type {ExperimentDocument} */ (plainData(document))
  const width = Math.max(60, Math.min(columns, 200))
  const ofRatios = new Set(it.ratios.map(({ figure }) => figure))
  // Where the width is short, columns of ratios stay, then those with a chart.
  const rankOf = (/** @type {string} */ name, /** @type {boolean | undefined} */ chart) => {
    if (ofRatios.has(name)) return 1
    if (chart === false) return 4
    return drawnOfAll.includes(name) ? 3 : 2
  }
  const table = alignedTable(
    [
      { title: it.id, left: true, whole: true, cell: (/** @type {ExperimentRow} */ row) => row.label },
      { title: 'runs', cell: (row) => String(row.runs.length) },
      ...it.columns.map(({ name, title, chart }, at) => ({
        title: title ?? measureNamed(name).title,
        cell: (/** @type {ExperimentRow} */ row) => cellText(row, name),
        rank: rankOf(name, chart) * it.columns.length + at,
      })),
    ],
    it.rows,
    width,
  )
  const ratios = it.ratios.map(({ label, figure, ours, published: theirs, standing }) => {
    const beside = theirs === null ? '' : `; published ${times(theirs)}: ${standing}`
    return `${label}, ${measureNamed(figure).title}: ${publishedRatioWords(ours)}${beside}`
  })
  const marks = it.rows.flatMap(({ label, marks: own }) => own.map(({ text }) => `${label}: ${text}`))
  const warnings = it.warnings.map(({ message }) => message)
  const note = ['geometric means over the rounds; in brackets the published figure', publishedWords(it)]
    .filter(Boolean)
    .join('; ')
  return blocksText([
    [...wrapped(it.question, width), ...wrapped(it.verdict, width)],
    [...table, ...wrapped(note, width)],
    ratios.flatMap((line) => marked('-', line, width, '')),
    [...marks, ...warnings].flatMap((line) => marked('!', line, width, '')),
  ])
}
