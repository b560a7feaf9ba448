// An answer is declared once: its shape, its sentence, rows and tables. Its text, page, JSON file and schema are made of this.
import { alignedTable, blocksText, marked, wrapped } from '../base/layout.js'
import { anything, document, just } from '../base/shape.js'
import { plainText, several } from '../base/units.js'
import { millraceVersion } from '../base/version.js'

/**
 * @import { Schema } from '../base/shape-types.js'
 * @import { Chart } from '../chart/parts.js'
 * @import { NamedPicture } from './charts.js'
 * @import { Cell, Sections, Table } from './cells.js'
 *
 * @typedef {'text' | 'page'} Place
 * @typedef {string | false | null | undefined} Text a false one is left out
 * @typedef {Record<string, Text | readonly string[] | { only: Place, text: Text | readonly string[] }>} Rows by their labels; a list: as many rows
 * @typedef {string | { text: string, serious?: boolean, only?: Place, first?: boolean }} Remark serious: the answer does not count; first: in a text it comes before the rows
 *
 * @typedef {object} Verdict
 * @property {string} title
 * @property {string} question
 * @property {string} word
 * @property {boolean} good
 * @property {boolean} [neutral]
 * @property {string} sentence
 * @property {string} [short] the sentence beside the word
 *
 * @typedef {object} AnswerTable
 * @property {string} title
 * @property {Place} [only]
 * @property {boolean} [more]
 * @property {boolean} isEmpty
 * @property {() => Table} onPage
 * @property {(width: number, isWhole: boolean) => string[]} inText isWhole: no column leaves
 *
 * @typedef {object} TableOptions
 * @property {readonly (Text | { only: Place, text: Text })[]} [notes]
 * @property {string} [empty] said in place of rows where there are none; without it such a table is left out
 * @property {readonly string[]} [foot] of the text below it
 * @property {boolean} [stacks] a text that is too narrow for columns of rank 1 has the first column in lines of its own
 * @property {Place} [only]
 * @property {boolean} [more] folded on the page, and in a text only if it is verbose
 * @property {boolean} [folded] on the page
 */
/**
 * @template R
 * @typedef {object} More of a column
 * @property {Place} [only]
 * @property {number} [rank] the highest leaves a narrow text first
 * @property {boolean} [whole] of the first column: others leave a narrow text before it is shortened
 * @property {(row: R) => Cell['sort']} [sort] by which the page orders it, where that is not the value
 * @property {(row: R) => Text} [detail] less important: below the cell on the page, in brackets in a text
 * @property {(row: R) => Text} [link] of the page, relative
 */
/**
 * @template R
 * @typedef {More<R> & { title: string, left: boolean, cell: (row: R) => string }} Column
 */

/**
 * A column of texts, at the left.
 * @template R
 * @param {string} title
 * @param {(row: R) => string} cell
 * @param {More<R>} [more]
 * @returns {Column<R>}
 */
export const words = (title, cell, more) => ({ title, left: true, cell, ...more })

/**
 * A column of figures, at the right, ordered by them.
 * @template R
 * @template {Cell['sort']} V
 * @param {string} title
 * @param {(row: R) => V} value
 * @param {(value: V) => string} shown
 * @param {More<R>} [more]
 * @returns {Column<R>}
 */
export const figure = (title, value, shown, more) => ({
  title,
  left: false,
  cell: (row) => shown(value(row)),
  sort: (row) => value(row) ?? null,
  ...more,
})

const isOn = (/** @type {Place} */ here, /** @type {Place | undefined} */ only) => !only || only === here

/** @template R @param {Column<R>} column @param {R} row @returns {Cell} */
const cellOf = ({ cell, sort, detail, link }, row) => {
  const [below, to] = [detail?.(row), link?.(row)]
  return {
    text: cell(row),
    ...(sort && { sort: sort(row) ?? null }),
    ...(below && { detail: below }),
    ...(to && { link: to }),
  }
}

/** @template R @param {Column<R>} column @param {R} row */
const textOf = ({ cell, detail }, row) => {
  const beside = detail?.(row)
  return plainText(beside ? `${cell(row)} (${beside})` : cell(row))
}

/** @param {readonly Text[]} texts @param {number} width */
const linesOf = (texts, width) => texts.flatMap((text) => (text ? wrapped(plainText(text), width) : []))

/** A table, or where it has no room for columns of rank 1, the first column in lines of its own. @template R @param {Column<R>[]} columns @param {R[]} rows @param {number} width */
const stacked = (columns, rows, width) => {
  const whole = alignedTable(columns, rows, width)
  if (columns.every(({ rank, title }) => rank !== 1 || whole[0].includes(title))) return whole
  const [first, ...others] = columns
  const [titles, ...lines] = alignedTable(others, rows, width - 2)
  return [`  ${titles}`, ...lines.flatMap((line, at) => [first.cell(rows[at]), `  ${line}`])]
}

/**
 * @template R
 * @param {string} title
 * @param {readonly R[]} rows
 * @param {readonly Column<R>[]} columns
 * @param {TableOptions & { short?: readonly R[] }} [options] short: the rows of the text, where they are fewer
 * @returns {AnswerTable}
 */
export const table = (title, rows, columns, options = {}) => {
  const { only, more, folded, empty, stacks, notes = [], foot = [], short = rows } = options
  const shownOn = (/** @type {Place} */ here) => columns.filter((column) => isOn(here, column.only))
  const saidOn = (/** @type {Place} */ here) =>
    [rows.length === 0 && empty, ...notes].flatMap((note) => {
      const { only, text } = note && typeof note === 'object' ? note : { text: note }
      return isOn(here, only) && text ? [text] : []
    })
  return {
    title,
    only,
    more,
    isEmpty: rows.length === 0 && empty === undefined,
    onPage() {
      const shown = shownOn('page')
      const note = [...saidOn('page'), ...foot].join(' ')
      return {
        title,
        ...((folded || more) && { fold: title }),
        ...(more && { more: true }),
        ...(note && { note }),
        columns: shown.map(({ title, left }) => ({ title, ...(left && { left }) })),
        rows: rows.map((row) => shown.map((column) => cellOf(column, row))),
      }
    },
    inText(width, isWhole) {
      const shown = shownOn('text').map((column) => ({
        ...column,
        cell: (/** @type {R} */ row) => textOf(column, row),
      }))
      const lines = (stacks ? stacked : alignedTable)(
        shown,
        [...short],
        isWhole ? Number.POSITIVE_INFINITY : width,
      )
      return [
        ...linesOf([title.toUpperCase(), ...saidOn('text')], width),
        ...(short.length > 0 ? lines : []),
        ...linesOf(foot, width),
      ]
    },
  }
}

/** Of the text alone, or of the page. @template {Text | readonly string[]} T @param {Place} only @param {T} text */
export const only = (only, text) => ({ only, text })

/** @param {Remark} remark */
const remarkIn = (remark) => {
  const {
    text,
    serious = false,
    first = false,
    only,
  } = typeof remark === 'string' ? { text: remark } : remark
  return { text, serious, first, only }
}

/** Lines of the remarks that come first, or of the others. @param {readonly ReturnType<typeof remarkIn>[]} remarks @param {boolean} areFirst @param {number} columns */
const marksOf = (remarks, areFirst, columns) =>
  remarks
    .filter(({ first }) => first === areFirst)
    .flatMap(({ text }) => marked('!', plainText(text), columns, ''))

const labelWidth = 13
const nothing = () => ({ title: '', question: '', word: '', good: true, sentence: '' })

/**
 * @template {object} A
 * @param {object} declared
 * @param {string} declared.kind
 * @param {string} [declared.file] name of its files, where that is not its kind
 * @param {Schema} [declared.schema] of its JSON
 * @param {(answer: A) => Verdict} [declared.verdict]
 * @param {(answer: A) => Record<string, Text>} [declared.highlights]
 * @param {(answer: A) => readonly (readonly string[])[]} [declared.prose] paragraphs
 * @param {(answer: A) => Rows} [declared.rows]
 * @param {(answer: A) => readonly (AnswerTable | null)[]} [declared.tables]
 * @param {(answer: A) => readonly Remark[]} [declared.warnings]
 * @param {readonly (Omit<Chart<A>, 'note'> & { note: string | ((answer: A) => string), wide?: boolean })[]} [declared.charts]
 * @param {(answer: A) => readonly NamedPicture[]} [declared.pictures] of the page, where their number depends on the answer
 * @param {true} [declared.remarksLast] on the page only serious warnings come before the picture
 */
export const answer = ({
  kind,
  file = kind,
  schema = anything,
  verdict = nothing,
  charts = [],
  ...declared
}) => {
  const { highlights, prose, rows, tables, warnings, pictures, remarksLast } = declared
  /** @param {A} one @param {Place} here @param {boolean} [all] those of the other place too */
  const rowsOn = (one, here, all = false) =>
    Object.entries(rows?.(one) ?? {}).flatMap(([label, row]) => {
      const { only, text } = row && typeof row === 'object' && 'only' in row ? row : { text: row }
      const texts = all || isOn(here, only) ? [text].flat() : []
      return texts.flatMap((each) => (each ? [{ label, text: each }] : []))
    })
  /** @param {A} one @param {Place} here */
  const tablesOn = (one, here) =>
    (tables?.(one) ?? []).flatMap((each) => (each && isOn(here, each.only) && !each.isEmpty ? [each] : []))
  /** @param {A} one @param {Place} here */
  const remarksOn = (one, here) =>
    (warnings?.(one) ?? []).map(remarkIn).filter(({ only }) => isOn(here, only))
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
      tables: tablesOn(one, 'page').map((each) => each.onPage()),
      warnings: remarksOn(one, 'page').map(({ text, serious }) => ({ text, serious })),
      ...(remarksLast && { remarksLast }),
    }
  }
  /** @param {A} one @returns {NamedPicture[]} */
  const drawn = (one) => [
    ...charts.flatMap((chart) => {
      const option = chart.option(one)
      const note = typeof chart.note === 'string' ? chart.note : chart.note(one)
      return option ? [{ ...chart, option, note }] : []
    }),
    ...(pictures?.(one) ?? []),
  ]
  return {
    kind,
    file,
    schema,
    sections,
    pictures: drawn,
    sentence: (/** @type {A} */ one) => verdict(one).sentence,

    /** @param {A} one @param {{ columns?: number, page?: string, verbose?: boolean, isFile?: boolean }} [layout] verbose: with the rows of the page, and all tables; isFile: tables may be wider than the text */
    text: (one, { columns = 110, page, verbose = false, isFile = false } = {}) => {
      const row = (/** @type {{ label: string, text: string }} */ { label, text }) =>
        linesOf([text], columns - labelWidth).map(
          (line, at) => (at === 0 ? label : '').padEnd(labelWidth) + line,
        )
      const remarks = remarksOn(one, 'text')
      const all = tablesOn(one, 'text')
      const shown = all.filter(({ more }) => verbose || !more)
      const hidden = all.filter((each) => !shown.includes(each))
      return blocksText([
        linesOf([verdict(one).sentence], columns),
        marksOf(remarks, true, columns),
        ...(prose?.(one) ?? []).map((texts) => linesOf(texts, columns)),
        rowsOn(one, 'text', verbose).flatMap(row),
        ...shown.map((each) => each.inText(columns, isFile)),
        hidden.length > 1
          ? [`${several(hidden.length, 'more table')}: -v`]
          : hidden.map(({ title }) => `${title}: -v`),
        marksOf(remarks, false, columns),
        page === undefined ? [] : [`page: ${page}`],
      ])
    },

    /** One file that needs no other. @param {A} one @returns {Promise<string>} */
    page: async (one) => {
      // A command that prints only needs no page.
      const { pageOf } = await import('./page/page.js')
      return pageOf(sections(one), drawn(one), millraceVersion())
    },

    /** By path in the folder of the results. @param {A} one @returns {Promise<Record<string, string>>} */
    files: async (one) => {
      const { pageAndCharts } = await import('./write-report.js')
      const made = await pageAndCharts(`${file}.html`, sections(one), drawn(one))
      return { [`${file}.json`]: `${JSON.stringify(one, null, 2)}\n`, ...made }
    },
  }
}

/** Of kinds that are not the name of a command. @type {Readonly<Record<string, string>>} */
const commands = {
  'find-memory': 'find --over memory',
  'plan-cache': 'plan cache-aside',
  scale: 'plan scale',
  staff: 'plan staff',
}

/** The schema of an answer. @template {string} const K @template {Record<string, Schema>} const P @param {K} kind @param {P} properties */
export const answerSchema = (kind, properties) =>
  document(`${kind}.json: the answer of millrace ${commands[kind] ?? kind}`, {
    schema: just(1),
    kind: just(kind),
    ...properties,
  })
