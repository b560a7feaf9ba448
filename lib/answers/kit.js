// An answer is declared once: its shape, its sentence, rows and tables. Its text, page, JSON file and schema are made of this.
import { alignedTable, blocksText, wrapped } from '../base/layout.js'
import { document, just } from '../base/shape.js'
import { plainText } from '../base/units.js'

/**
 * @import { Chart } from '../chart/parts.js'
 * @import { Sections } from '../report/sections.js'
 *
 * @typedef {'text' | 'page'} Place
 * @typedef {string | false | null | undefined} Text a false one is left out
 * @typedef {Record<string, Text | readonly string[] | { only: Place, text: Text | readonly string[] }>} Rows by their labels; a list: as many rows
 * @typedef {object} Verdict
 * @property {string} title
 * @property {string} question
 * @property {string} word
 * @property {boolean} good
 * @property {boolean} [neutral]
 * @property {string} sentence
 * @property {string} [short] the sentence beside the word
 *
 * @typedef {object} More of a column
 * @property {Place} [only]
 * @property {number} [rank] the highest leaves a narrow text first
 * @property {(row: any) => any} [sort] by which the page orders it, where that is not the value
 *
 * @typedef {object} AnswerTable
 * @property {string} title
 * @property {readonly any[]} rows
 * @property {readonly Column<any>[]} columns
 * @property {string[]} [notes]
 * @property {string[]} [foot]
 * @property {Place} [only]
 * @property {boolean} [folded] on the page
 */
/**
 * Texts stand at the left, figures at the right: they have `shown`.
 * @template R
 * @typedef {[title: string, value: (row: R) => any, shown?: ((value: any) => string) | null, more?: More]} Column
 */

/**
 * A table whose columns know the type of its rows.
 * @template R
 * @param {string} title
 * @param {readonly R[]} rows
 * @param {readonly Column<R>[]} columns
 * @param {Omit<AnswerTable, 'title' | 'rows' | 'columns'>} [more]
 * @returns {AnswerTable}
 */
export const table = (title, rows, columns, more) => ({ title, rows, columns, ...more })

/** Of the text alone, or of the page. @param {Place} only @param {Text | readonly string[]} text */
export const only = (only, text) => ({ only, text })

const labelWidth = 13
const nothing = () => ({ title: '', question: '', word: '', good: true, sentence: '' })
const isOn = (/** @type {Place} */ here, /** @type {Place | undefined} */ only) => !only || only === here

/** @param {readonly Column<any>[]} columns @param {Place} here */
const columnsOn = (columns, here) =>
  columns.flatMap(([title, value, shown, { only, rank, sort = shown ? value : undefined } = {}]) => {
    const read = (/** @type {any} */ row) => (shown ? shown(value(row)) : value(row))
    return isOn(here, only) ? [{ title, rank, sort, left: !shown, cell: read }] : []
  })

/** @param {AnswerTable} table @returns {Sections['tables'][number]} */
const pageTable = ({ title, columns, rows, notes = [], foot = [], folded }) => {
  const shown = columnsOn(columns, 'page')
  const note = [...notes, ...foot].join(' ')
  return {
    title,
    ...(folded && { fold: title, more: true }),
    ...(note && { note }),
    columns: shown.map(({ title, left }) => ({ title, ...(left && { left }) })),
    rows: rows.map((row) =>
      shown.map((one) => ({ text: one.cell(row), ...(one.sort && { sort: one.sort(row) ?? null }) })),
    ),
  }
}

/**
 * @template {Record<string, any>} A
 * @param {object} declared
 * @param {string} declared.kind
 * @param {string} [declared.file] name of its files, where that is not its kind
 * @param {any} [declared.schema] of its JSON
 * @param {(answer: A) => Verdict} [declared.verdict]
 * @param {(answer: A) => Record<string, Text>} [declared.highlights]
 * @param {(answer: A) => string[][]} [declared.prose] paragraphs
 * @param {(answer: A) => Rows} [declared.rows]
 * @param {(answer: A) => (AnswerTable | null)[]} [declared.tables]
 * @param {(answer: A) => string[]} [declared.warnings]
 * @param {readonly (Chart<A> & { wide?: boolean })[]} [declared.charts]
 */
export const answer = ({ kind, file = kind, schema, verdict = nothing, charts = [], ...declared }) => {
  const { highlights, prose, rows, tables, warnings } = declared
  /** @param {A} one @param {Place} here */
  const rowsOn = (one, here) =>
    Object.entries(rows?.(one) ?? {}).flatMap(([label, row]) => {
      const { only, text } = row && typeof row === 'object' && 'only' in row ? row : { text: row }
      return isOn(here, only) ? [text].flat().flatMap((each) => (each ? [{ label, text: each }] : [])) : []
    })
  /** @param {A} one @param {Place} here */
  const tablesOn = (one, here) =>
    (tables?.(one) ?? []).flatMap((table) => (table && isOn(here, table.only) ? table : []))
  /** @param {A} one @returns {Sections} */
  const sections = (one) => {
    const { title, question, short, sentence, ...found } = verdict(one)
    return {
      title,
      question,
      verdict: { ...found, sentence: short ?? sentence },
      highlights: Object.entries(highlights?.(one) ?? {}).flatMap(([label, text]) =>
        text ? [{ label, text }] : [],
      ),
      facts: [...(prose?.(one) ?? []).flat().map((text) => ({ label: '', text })), ...rowsOn(one, 'page')],
      tables: tablesOn(one, 'page').map(pageTable),
      warnings: (warnings?.(one) ?? []).map((text) => ({ text, serious: false })),
    }
  }
  return {
    kind,
    schema,
    sections,
    sentence: (/** @type {A} */ one) => verdict(one).sentence,

    /** @param {A} one @param {{ columns?: number, page?: string }} [layout] */
    text: (one, { columns = 110, page } = {}) => {
      const lines = (/** @type {readonly string[]} */ texts) =>
        texts.flatMap((text) => (text ? wrapped(plainText(text), columns) : []))
      const row = (/** @type {{ label: string, text: string }} */ { label, text }) =>
        wrapped(plainText(text), columns - labelWidth).map(
          (line, at) => (at === 0 ? label : '').padEnd(labelWidth) + line,
        )
      return blocksText([
        lines([verdict(one).sentence]),
        ...(prose?.(one) ?? []).map(lines),
        rowsOn(one, 'text').flatMap(row),
        ...tablesOn(one, 'text').map(({ title, notes = [], foot = [], columns: all, rows }) => [
          ...lines([title.toUpperCase(), ...notes]),
          ...alignedTable(columnsOn(all, 'text'), [...rows], columns),
          ...lines(foot),
        ]),
        lines((warnings?.(one) ?? []).map((message) => `! ${message}`)),
        page === undefined ? [] : [`page: ${page}`],
      ])
    },

    /** By path in the folder of the results. @param {A} one @returns {Promise<Record<string, string>>} */
    files: async (one) => {
      const pictures = charts.flatMap((chart) => {
        const option = chart.option(one)
        return option ? [{ ...chart, option }] : []
      })
      // A command that prints only needs no page.
      const { pageAndCharts } = await import('../report/write-report.js')
      const made = await pageAndCharts(`${file}.html`, sections(one), pictures)
      return { [`${file}.json`]: `${JSON.stringify(one, null, 2)}\n`, ...made }
    },
  }
}

/** The schema of an answer. @template {string} const K @template {Record<string, any>} const P @param {K} kind @param {P} properties */
export const answerSchema = (kind, properties) =>
  document(`${kind}.json: the answer of millrace ${kind}`, {
    schema: just(1),
    kind: just(kind),
    ...properties,
  })
