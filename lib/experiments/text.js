// What is printed at the end of an experiment: pure, from its document.

import { plainData } from '../base/units.js'
import { shownFigure } from '../report/cells.js'
import { alignedTable, blocksText, marked, wrapped } from '../report/layout.js'
import { publishedWords } from '../report/published-words.js'
import { measureNamed } from '../result/measures.js'
import { centreOf } from '../result/statistics.js'
import { ratioWords } from './summary.js'

/**
 * @typedef {import('../result/experiment-document.js').ExperimentDocument} ExperimentDocument
 * @typedef {import('../result/experiment-document.js').ExperimentRow} ExperimentRow
 */

/** The mean, and in brackets what was published. @param {ExperimentRow} row @param {string} name */
const cellText = (row, name) => {
  const figure = row.figures[name]
  const ours = shownFigure(measureNamed(name), figure && centreOf(figure))
  const theirs = row.published?.[name]
  return theirs === undefined ? ours : `${ours} [${shownFigure(measureNamed(name), theirs)}]`
}

/**
 * @param {ExperimentDocument} document
 * @param {{ columns?: number }} [look]
 */
export const experimentText = (document, { columns = 120 } = {}) => {
  const it = /** @type {ExperimentDocument} */ (plainData(document))
  const width = Math.max(60, Math.min(columns, 200))
  const table = alignedTable(
    [
      { title: it.id, left: true, whole: true, cell: (/** @type {ExperimentRow} */ row) => row.label },
      { title: 'runs', cell: (row) => String(row.runs.length) },
      ...it.columns.map(({ name, title, chart }, at) => ({
        title: title ?? measureNamed(name).title,
        cell: (/** @type {ExperimentRow} */ row) => cellText(row, name),
        // What is drawn is what the experiment is about.
        rank: name === 'bystander.p99' ? 0 : chart === false ? 100 + at : at + 1,
      })),
    ],
    it.rows,
    width,
  )
  const ratios = it.ratios.map(({ label, figure, ours, published: theirs, standing }) => {
    const beside = theirs === null ? '' : `; published ${theirs.toFixed(2)}: ${standing}`
    return `${label}, ${measureNamed(figure).title}: ${ratioWords(ours)}${beside}`
  })
  const marks = it.rows.flatMap(({ label, marks: own }) => own.map(({ text }) => `${label}: ${text}`))
  const warnings = it.warnings.map(({ message }) => message)
  const note = ['medians over the rounds; in brackets the published figure', publishedWords(it)]
    .filter(Boolean)
    .join('; ')
  return blocksText([
    [it.question, it.verdict],
    [...table, ...wrapped(note, width)],
    ratios,
    [...marks, ...warnings].flatMap((line) => marked('!', line, width, '')),
  ])
}
