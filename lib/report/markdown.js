// A report as Markdown, to be pasted or kept beside code.

/** @import { Cell, Sections, Table } from './cells.js' */

/** Escapes all markup: names of hosts and texts of errors come from others. @param {string} text */
export const markdownText = (text) => text.replace(/[\\`*_[\]<>|#~!&]/g, '\\$&')

/** @param {Cell} cell */
const cellText = ({ text, detail, link }) =>
  link
    ? `[${markdownText(text)}](<${encodeURI(link).replace(/[<>]/g, '')}>)`
    : markdownText(detail ? `${text} (${detail})` : text)

/** @param {Table} table */
const tableText = ({ title, note, columns, rows }) => [
  `## ${markdownText(title)}`,
  '',
  ...(note ? [markdownText(note), ''] : []),
  `| ${columns.map((column) => markdownText(column.title) || ' ').join(' | ')} |`,
  `| ${columns.map(({ left }) => (left ? '---' : '---:')).join(' | ')} |`,
  ...rows.map((row) => `| ${row.map(cellText).join(' | ')} |`),
  '',
]

/** @param {Sections} sections @param {{ title: string, file: string }[]} [pictures] that lie beside it */
export const markdownReport = (
  { title, question, verdict, highlights, facts, tables, warnings },
  pictures = [],
) =>
  [
    `# ${markdownText(title)}`,
    '',
    markdownText(question),
    '',
    `**${verdict.word}**: ${markdownText(verdict.sentence)}`,
    '',
    ...warnings.map(({ text, serious }) => `- ${serious ? '**invalid**: ' : ''}${markdownText(text)}`),
    ...(warnings.length > 0 ? [''] : []),
    ...highlights.map(({ label, text }) => `- ${markdownText(label)}: **${markdownText(text)}**`),
    ...(highlights.length > 0 ? [''] : []),
    ...facts.map(({ label, text }) => `- ${label}: ${markdownText(text)}`),
    '',
    ...pictures.flatMap((picture) => [`![${markdownText(picture.title)}](${picture.file})`, '']),
    ...tables.flatMap(tableText),
  ].join('\n')
