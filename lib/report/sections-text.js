// A report as plain text.
import { alignedTable, wrapped } from './layout.js'

/** @typedef {import('./sections.js').Sections} Sections */

const labelWidth = 11

/** @param {import('./sections.js').Cell} cell */
const cellText = ({ text, detail }) => (detail ? `${text} (${detail})` : text)

/** @param {import('./sections.js').Table} table @param {number} columns */
const tableLines = ({ title, columns: heads, rows }, columns) => [
  title.toUpperCase(),
  ...alignedTable(
    heads.map((head, at) => ({
      ...head,
      cell: (/** @type {import('./sections.js').Cell[]} */ row) => cellText(row[at]),
    })),
    rows,
    columns,
  ),
]

/**
 * @param {Sections} sections
 * @param {{ columns?: number }} [look]
 */
export const sectionsText = (
  { title, question, verdict, facts, tables, warnings },
  { columns = 120 } = {},
) => {
  const blocks = [
    [title, ...wrapped(question, columns)],
    [
      `${verdict.word.toUpperCase()}: ${verdict.sentence}`,
      ...warnings.flatMap(({ text, serious }) =>
        wrapped(text, columns - 4).map((line, row) => `  ${row > 0 ? ' ' : serious ? '✗' : '!'} ${line}`),
      ),
    ],
    facts.flatMap(({ label, text }) =>
      wrapped(text, columns - labelWidth, ' · ').map(
        (line, row) => (row === 0 ? label : '').padEnd(labelWidth) + line,
      ),
    ),
    ...tables.map((table) => tableLines(table, columns)),
  ]
  return `${blocks.map((block) => block.join('\n')).join('\n\n')}\n`
}
