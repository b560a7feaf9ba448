// A result as plain text that can be pasted: the answer first, and with `verbose` everything behind it. Lines of at
// most `columns`, ending in a line feed.

import { alignedTable, blocksText, marked, painter, wrapped } from '../base/layout.js'
import { dash, gap } from '../base/units.js'
import { runSections } from './run-sections.js'

/**
 * @import { RunDocument } from '../result/document.js'
 * @import { Brief } from './brief.js'
 * @import { Cell, Sections, Table } from './cells.js'
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
const summaryColumns = 80
const mostLines = 12

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

/** A text of few lines; what is more is in the details. @param {string} text @param {number} width @param {number} [most] */
const fewLines = (text, width, most = 2) => {
  const lines = wrapped(text, width)
  const last = lines.length > most ? `${lines[most - 1].slice(0, width - 1)}…` : lines[most - 1]
  return [...lines.slice(0, most - 1), ...(last === undefined ? [] : [last])]
}

/** The end of a run: at most twelve lines of eighty columns. @param {Page} page @param {Brief} brief @param {string[]} last */
const briefLines = ({ columns, paint }, { head, run, rows, note }, last) => {
  const mark = head.good ? '✓' : '✗'
  const ink = (/** @type {string} */ text) => (head.good ? paint.green : paint.red)(paint.bold(text))
  const title = `${mark} ${head.word}`
  const [first, ...more] = fewLines(`${title}  ${head.text}`, columns - 2, 3)
  return [
    first.replace(title, ink(title)),
    ...more.map((line) => `  ${line}`),
    ...(run === null ? [] : fewLines(run, columns - 2).map((line) => `  ${line}`)),
    ...rows.flatMap(({ label, text }) => {
      const [line, ...others] = fewLines(text, columns - labelWidth - 2)
      return [
        `  ${paint.dim(label.padEnd(labelWidth))}${line}`,
        ...others.map((other) => ' '.repeat(labelWidth + 2) + other),
      ]
    }),
    ...(note
      ? fewLines(note, columns - 4).map((line, at) => `  ${at === 0 ? paint.yellow('!') : ' '} ${line}`)
      : []),
    ...last,
  ]
}

// What leaves first where the end of a run would be longer.
const leaving = ['other clients', 'newest item', 'network', 'memory', 'events', 'bottleneck']

/** @param {Page} page @param {Brief} brief @param {string[]} last */
const fittedLines = (page, brief, last) => {
  let { rows } = brief
  const lines = () => briefLines(page, { ...brief, rows }, last)
  for (const label of leaving)
    if (lines().length > mostLines) rows = rows.filter((row) => row.label !== label)
  return lines()
}

/** Where the page is, and how the rest is shown. @param {Page} page @param {string} report */
const placeLine = ({ columns, paint }, report) => {
  const more = '  (-v: more)'
  const fits = labelWidth + 2 + report.length + more.length <= columns
  return `  ${paint.dim('report'.padEnd(labelWidth))}${report}${fits ? more : ''}`
}

/** The end of a run without what the details below it have: its note is a warning, or in a row. @param {Brief} brief @param {Sections} sections @returns {Brief} */
const withoutDetails = (brief, { answer = [] }) => ({
  ...brief,
  rows: brief.rows.filter(({ label }) => !answer.some((row) => row.label === label)),
  note: null,
})

/** The end of a run as lines of text. @param {RunDocument} document */
export const summaryOf = (document) => {
  const { brief } = runSections(document)
  return fittedLines({ columns: summaryColumns, paint: painter(false) }, brief, ['']).slice(0, -1)
}

/** @param {RunDocument} document @param {TextSize} [size] */
export const runText = (
  document,
  { columns = 80, color = false, verbose = false, report, notStored } = {},
) => {
  const page = { columns: Math.max(fewestColumns, columns), paint: painter(color) }
  const sections = runSections(document)
  const { question, brief, answer, facts, tables, repeat } = sections
  const lost = notStored ? wrapped(`NOT STORED: ${notStored}`, page.columns).map(page.paint.red) : []
  if (!verbose)
    return blocksText([[...lost, ...fittedLines(page, brief, report ? [placeLine(page, report)] : [])]])
  const where = [
    ...(report ? [{ label: 'report', text: report }] : []),
    ...(repeat ? [{ label: 'run it again', text: repeat }] : []),
  ]
  return blocksText([
    [...lost, ...briefLines(page, withoutDetails(brief, sections), [])],
    [...verdictLines(page, sections), ...wrapped(question, page.columns)],
    answer.flatMap((row) => entry(page, row)),
    facts.flatMap((row) => entry(page, row, gap)),
    ...tables.flatMap((table) => (table.more ? [] : [tableLines(page, table)])),
    where.flatMap((row) => entry(page, row)),
  ])
}
