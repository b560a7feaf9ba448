// A result as plain text that can be pasted: the answer first, and with `verbose` everything behind it. Lines of at
// most `columns`, ending in a line feed.

import { alignedTable, blocksText, marked, painter, wrapped } from '../base/layout.js'
import { dash, gap } from '../base/units.js'
import { runSections } from './run-sections.js'

/**
 * @import { RunDocument } from '../result/document.js'
 * @import { Cell, Sections, Table } from './sections.js'
 *
 * @typedef {ReturnType<typeof painter>} Paint
 * @typedef {{ columns: number, paint: Paint }} Page
 *
 * @typedef {object} TextSize
 * @property {number} [columns]
 * @property {boolean} [color]
 * @property {boolean} [verbose] nodes, commands, times and the rest too
 * @property {string} [report] where the page is
 * @property {string} [notStored] why there is no run.json
 */

const fewestColumns = 40
const labelWidth = 16

/** A label in front, its text broken at spaces and hanging. @param {Page} page @param {{ label: string, text: string }} row @param {string} [at] where it may break */
const entry = ({ columns, paint }, { label, text }, at = ' ') =>
  wrapped(text, columns - labelWidth, at).map(
    (line, row) => paint.dim((row === 0 ? label : '').padEnd(labelWidth)) + line,
  )

/** @param {Cell} cell */
const cellText = ({ text, detail }) => (detail ? `${text} (${detail})` : text)

/** @param {Page} page @param {Table} table */
const tableLines = ({ columns, paint }, { title, note, columns: heads, rows }) => {
  const [titles, ...lines] = alignedTable(
    heads.map((head, at) => ({
      ...head,
      cell: (/** @type {Cell[]} */ row) => cellText(row[at]),
    })),
    rows,
    Number.POSITIVE_INFINITY,
  )
  const fits = [titles, ...lines].every((line) => line.length <= columns)
  return [
    ...wrapped(title.toUpperCase(), columns).map(paint.bold),
    ...(note ? wrapped(note, columns).map(paint.dim) : []),
    ...(fits ? [paint.dim(titles), ...lines] : rows.flatMap((row) => rowLines(heads, row, columns))),
  ]
}

/**
 * A row that is too wide for a line: its name, then its cells by their titles.
 * @param {Table['columns']} heads
 * @param {Cell[]} row
 * @param {number} columns
 */
const rowLines = (heads, [name, ...cells], columns) => {
  const texts = cells.flatMap((cell, at) =>
    cell.text === dash || cell.text === '' ? [] : [`${heads[at + 1].title} ${cellText(cell)}`.trim()],
  )
  return [
    ...wrapped(name.text, columns),
    ...wrapped(texts.join(gap), columns - 2, gap).map((line) => `  ${line}`),
  ]
}

/** @param {Page} page @param {Sections} sections */
const verdictLines = ({ columns, paint }, { verdict, warnings, limits = [] }) => {
  const word = `${verdict.word.toUpperCase()}:`
  const ink = (/** @type {string} */ text) => (verdict.good ? paint.green : paint.red)(paint.bold(text))
  return [
    ...wrapped(`${word} ${verdict.sentence}`, columns).map((line, at) =>
      at === 0 ? line.replace(word, ink(word)) : line,
    ),
    ...warnings.flatMap(({ text, serious }) =>
      marked(serious ? paint.red('✗') : paint.yellow('!'), text, columns),
    ),
    ...limits.flatMap(({ text, passed }) => wrapped(text, columns).map(passed ? paint.green : paint.red)),
  ]
}

/** @param {Sections} sections @param {TextSize} layout */
export const sectionsText = (
  sections,
  { columns = 80, color = false, verbose = false, report, notStored } = {},
) => {
  const page = { columns: Math.max(fewestColumns, columns), paint: painter(color) }
  const { title, question, answer, facts, tables, repeat } = sections
  const lost = notStored ? wrapped(`NOT STORED: ${notStored}`, page.columns).map(page.paint.red) : []
  const verdict = [...lost, ...verdictLines(page, sections)]
  const asked = wrapped(question, page.columns)
  const shown = tables.filter((table) => (verbose || !answer ? !table.more : table.answer))
  const where = [
    ...(report ? [{ label: 'report', text: report }] : []),
    ...(repeat ? [{ label: 'run it again', text: repeat }] : []),
  ]
  return blocksText([
    ...(answer ? [[...verdict, ...asked]] : [[title, ...asked], verdict]),
    (answer ?? []).flatMap((row) => entry(page, row)),
    verbose || !answer ? facts.flatMap((row) => entry(page, row, gap)) : [],
    ...shown.map((table) => tableLines(page, table)),
    where.flatMap((row) => entry(page, row)),
  ])
}

/** @param {RunDocument} document @param {TextSize} [size] */
export const runText = (document, size = {}) => sectionsText(runSections(document), size)
