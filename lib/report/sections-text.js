// An experiment as report.txt: what its page says, in plain text. Runs have texts of their own.

import { dash } from '../base/units.js'
import { alignedTable, blocksText, marked, painter, wrapped } from './layout.js'
import { entry } from './text.js'
import { gap } from './words.js'

/** @typedef {import('./sections.js').Sections} Sections */

/** @param {import('./sections.js').Cell} cell */
const cellText = ({ text, detail }) => (detail ? `${text} (${detail})` : text)

/** @param {import('./sections.js').Table} table @param {number} columns */
const tableLines = ({ title, note, columns: heads, rows }, columns) => {
  const table = alignedTable(
    heads.map((head, at) => ({
      ...head,
      cell: (/** @type {import('./sections.js').Cell[]} */ row) => cellText(row[at]),
    })),
    rows,
    Number.POSITIVE_INFINITY,
  )
  const fits = table.every((line) => line.length <= columns)
  return [
    title.toUpperCase(),
    ...wrapped(note ?? '', columns),
    ...(fits ? table : rows.flatMap((row) => rowLines(heads, row, columns))),
  ]
}

/**
 * A row that is too wide for a line: its name, then its figures by theirs.
 * @param {{ title: string }[]} heads
 * @param {import('./sections.js').Cell[]} row
 * @param {number} columns
 */
const rowLines = (heads, [name, ...cells], columns) => {
  const told = cells.map((cell, at) => [heads[at + 1].title, cell.text === dash ? '' : cellText(cell)])
  const text = told.filter(([, value]) => value).map(([title, value]) => `${title} ${value}`)
  return [name.text, ...wrapped(text.join(gap), columns - 2, gap).map((line) => `  ${line}`)]
}

/**
 * @param {Sections} sections
 * @param {{ columns?: number }} [look]
 */
export const sectionsText = (
  { title, question, verdict, facts, tables, warnings },
  { columns = 120 } = {},
) => {
  const page = { columns, paint: painter(false) }
  return blocksText([
    [title, ...wrapped(question, columns)],
    [
      `${verdict.word.toUpperCase()}: ${verdict.sentence}`,
      ...warnings.flatMap(({ text, serious }) => marked(serious ? '✗' : '!', text, columns)),
    ],
    facts.flatMap(({ label, text }) => entry(page, label, text)),
    ...tables.map((table) => tableLines(table, columns)),
  ])
}
