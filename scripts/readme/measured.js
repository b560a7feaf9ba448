// 'What we measured': experiments' results as a part of the README, each with its table, its picture and its command.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { OptionError } from '../../lib/errors.js'
import { ids } from '../../lib/experiments/catalogue.js'
import { ratioWords } from '../../lib/experiments/summary.js'
import { figureNamed, shownFigure } from '../../lib/report/figures.js'
import { markdownText } from '../../lib/report/markdown.js'
import { readExperiment } from '../../lib/report/record.js'

/**
 * @typedef {import('../../lib/report/experiment-document.js').ExperimentDocument} ExperimentDocument
 * @typedef {import('../../lib/report/experiment-document.js').ExperimentRow} ExperimentRow
 */

const start = '<!-- measured:start -->'
const end = '<!-- measured:end -->'

/** The newest result of each experiment. @param {string} folder */
const newest = async (folder) => {
  const names = await readdir(folder).catch((error) => {
    throw new OptionError(`${folder} cannot be read (${error.code})`, { cause: error })
  })
  /** @type {Map<string, { document: ExperimentDocument, at: string }>} */
  const found = new Map()
  for (const name of names.sort()) {
    const at = join(folder, name)
    const document = await readExperiment(at)
    if (document) found.set(document.id, { document, at })
  }
  return found
}

/** @param {ExperimentRow} row @param {string} name */
const cellOf = ({ figures, published }, name) => {
  const shown = (/** @type {number | undefined} */ value) =>
    markdownText(shownFigure(figureNamed(name), value))
  const theirs = published?.[name]
  return theirs === undefined
    ? shown(figures[name]?.median)
    : `${shown(figures[name]?.median)} *(${shown(theirs)})*`
}

/** @param {ExperimentDocument} document */
const tableOf = ({ columns, rows }) => {
  const told = columns.filter(({ name }) => rows.some(({ figures }) => figures[name]))
  return [
    `| | ${told.map(({ name, title }) => markdownText(title ?? figureNamed(name).title)).join(' | ')} |`,
    `| --- |${' ---: |'.repeat(told.length)}`,
    ...rows.map(
      (row) =>
        `| ${markdownText(row.label)}${row.marks.length > 0 ? ' †' : ''} | ${told.map(({ name }) => cellOf(row, name)).join(' | ')} |`,
    ),
  ]
}

/** A reason is told once. @param {ExperimentDocument} document */
const ratiosOf = ({ ratios }) => {
  const told = new Set()
  return ratios.map(({ label, figure, ours, published, standing, why }) => {
    const beside = published === null ? '' : `; published ${published.toFixed(2)}: ${standing}`
    const reason = standing === 'agrees' || standing === 'undecided' || told.has(why) ? null : why
    told.add(why)
    const words = `${label}, ${figureNamed(figure).title}: ${ratioWords(ours)}${beside}`
    return markdownText(reason ? `${words}. ${reason}` : words)
  })
}

/** An experiment's first ratio, in a line. @param {ExperimentDocument} document */
const lineOf = ({ id, ratios, verdict }) => {
  const [main] = ratios
  if (!main) return `| ${id} | ${markdownText(verdict)} | | | |`
  const { label, figure, ours, published, standing } = main
  const what = `${label}, ${figureNamed(figure).title}`
  return `| ${id} | ${markdownText(what)} | ${ratioWords(ours)} | ${published?.toFixed(2) ?? ''} | ${standing ?? ''} |`
}

const htmlText = (/** @type {string} */ text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** @param {ExperimentDocument} document @param {string[]} pictures */
const partOf = (document, pictures) => {
  const { id, question, verdict, rows, command } = document
  const marks = [...new Set(rows.flatMap(({ marks }) => marks.map(({ text }) => text)))]
  const told = markdownText(verdict)
  return [
    `<details><summary><b>${id}</b>: ${htmlText(question)}</summary>`,
    '',
    `**${told}**`,
    '',
    ...tableOf(document),
    '',
    ...ratiosOf(document).map((text) => `- ${text}`),
    ...marks.map((text) => `- † ${markdownText(text)}`),
    '',
    ...pictures.flatMap((picture) => [`![${markdownText(question)}](${picture})`, '']),
    `    ${command}`,
    '',
    '</details>',
  ].join('\n')
}

/**
 * Takes the pictures into charts/measured, and returns the part.
 * @param {string} folder results of experiments
 * @param {string} root of the project
 */
export const measuredPart = async (folder, root) => {
  const results = await newest(folder)
  const measured = ids().flatMap((id) => results.get(id) ?? [])
  if (measured.length === 0) throw new OptionError(`${folder}: no result of a published experiment in there`)
  const pictures = join(root, 'charts', 'measured')
  rmSync(pictures, { recursive: true, force: true })
  mkdirSync(pictures, { recursive: true })
  const summary = [
    '| experiment | ratio | measured (95 %) | published | ours |',
    '| --- | --- | ---: | ---: | --- |',
    ...measured.map(({ document }) => lineOf(document)),
  ].join('\n')
  const parts = measured.map(({ document, at }) => {
    const drawn = existsSync(join(at, 'charts')) ? readdirSync(join(at, 'charts')) : []
    const figures = document.columns
      .filter(({ chart }) => chart !== false)
      .map(({ name }) => `${name.replaceAll(/[._]/g, '-')}.svg`)
    // Of phases the course of time, of others the first figure.
    const figure = ['cpu.svg', ...figures].find((name) => drawn.includes(name))
    const chosen = ['ratios.svg', ...(figure ? [figure] : [])].filter((name) => drawn.includes(name))
    for (const name of chosen)
      copyFileSync(join(at, 'charts', name), join(pictures, `${document.id}-${name}`))
    return partOf(
      document,
      chosen.map((name) => `charts/measured/${document.id}-${name}`),
    )
  })
  return [summary, ...parts].join('\n\n')
}

/**
 * @param {string} readme
 * @param {string} part
 */
export const withMeasured = (readme, part) => {
  const from = readme.indexOf(start)
  const to = readme.indexOf(end)
  if (from < 0 || to < from) throw new Error(`README.md lacks ${start} or ${end}`)
  return `${readme.slice(0, from + start.length)}\n\n${part}\n\n${readme.slice(to)}`
}
