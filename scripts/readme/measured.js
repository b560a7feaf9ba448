// 'What we measured': experiments' results as a part of docs/results.md, each with its table, its picture and its command.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { OptionError } from '../../lib/errors.js'
import { ids } from '../../lib/experiments/catalogue.js'
import { ratioWords } from '../../lib/experiments/summary.js'
import { figureNamed, shownFigure } from '../../lib/report/figures.js'
import { markdownText } from '../../lib/report/markdown.js'
import { readExperiment } from '../../lib/report/record.js'
import { centreOf } from '../../lib/report/statistics.js'

/**
 * @typedef {import('../../lib/report/experiment-document.js').ExperimentDocument} ExperimentDocument
 * @typedef {import('../../lib/report/experiment-document.js').ExperimentRow} ExperimentRow
 */

/** @typedef {Map<string, { document: ExperimentDocument, at: string }>} Results by the id of the experiment */

// What is asked first, and the experiment whose first ratio answers it.
const questions = [
  ['actual-value', 'values instead of references in the sorted set'],
  ['list', 'a list instead of a sorted set'],
  ['set', 'a set per minute instead of a sorted set'],
  ['extra-sorted-set', 'a second sorted set of the same items'],
  ['lua-single', 'a script call an item instead of plain commands'],
  ['more-writers', '8 writers instead of 6, at the same rate'],
  ['shards', 'one sorted set on 3 shards: the shard that holds it, to the coldest'],
  ['ten-sorted-sets', '10 sorted sets instead of 1, on 3 shards: the busiest master'],
  ['consumers-all', 'consumers that fetch everything from replicas: the masters'],
  ['consumers-limit', 'consumers that fetch the newest 1,000: the replicas'],
]

/** The newest result of each experiment. @param {string} folder @returns {Promise<Results>} */
export const newestResults = async (folder) => {
  const names = await readdir(folder).catch((error) => {
    throw new OptionError(`${folder} cannot be read (${error.code})`, { cause: error })
  })
  /** @type {Results} */
  const found = new Map()
  for (const name of names.sort()) {
    const at = join(folder, name)
    const document = await readExperiment(at)
    if (!document || !ids().includes(document.id)) continue
    const isWhole = document.warnings.every(({ code }) => code !== 'unfinished')
    if (isWhole || !found.has(document.id)) found.set(document.id, { document, at })
  }
  if (found.size === 0) throw new OptionError(`${folder}: no result of a published experiment in there`)
  return found
}

/** @param {ExperimentRow} row @param {string} name */
const cellOf = ({ figures, published }, name) => {
  const shown = (/** @type {number | undefined} */ value) =>
    markdownText(shownFigure(figureNamed(name), value))
  const theirs = published?.[name]
  const ours = shown(figures[name] && centreOf(figures[name]))
  return theirs === undefined ? ours : `${ours} *(${shown(theirs)})*`
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

/** @param {ExperimentDocument} document @param {string[][]} pictures what is to be seen, and the file */
const partOf = (document, pictures) => {
  const { question, verdict, rows, command, id } = document
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
    ...pictures.flatMap(([words, picture]) => [`![${markdownText(`${id}: ${words}`)}](${picture})`, '']),
    `    ${command}`,
    '',
    '</details>',
  ].join('\n')
}

/**
 * The questions that are asked first, with the ratios that answer them.
 * @param {Results} results
 */
export const answersPart = (results) => {
  const rows = questions.flatMap(([id, question]) => {
    const ours = results.get(id)?.document.ratios[0]?.ours
    if (!ours) return []
    const open = ours.low === null || ours.high === null || (ours.low <= 1 && ours.high >= 1)
    return [`| ${question} | ${ratioWords(ours)}${open ? ': open' : ''} | \`${id}\` |`]
  })
  return ['| what | CPU, times | ID |', '| --- | --- | --- |', ...rows].join('\n')
}

/**
 * Takes the pictures into charts/measured, and returns the part.
 * @param {Results} results
 * @param {string} root of the project
 */
export const measuredPart = (results, root) => {
  const measured = ids().flatMap((id) => results.get(id) ?? [])
  const pictures = join(root, 'charts', 'measured')
  mkdirSync(pictures, { recursive: true })
  for (const name of readdirSync(pictures))
    if (ids().some((id) => name.startsWith(`${id}-`))) rmSync(join(pictures, name))
  const summary = [
    '| experiment | ratio | measured (95 %) | published | ours |',
    '| --- | --- | ---: | ---: | --- |',
    ...measured.map(({ document }) => lineOf(document)),
  ].join('\n')
  const parts = measured.map(({ document, at }) => {
    const drawn = existsSync(join(at, 'charts')) ? readdirSync(join(at, 'charts')) : []
    const figures = document.columns
      .filter(({ chart }) => chart !== false)
      .map(({ name }) => [figureNamed(name).title, `${name.replaceAll(/[._]/g, '-')}.svg`])
    const isDrawn = (/** @type {string[]} */ [, name]) => drawn.includes(name)
    // Of phases the course of time, of others the first figure.
    const figure = [['CPU over time', 'cpu.svg'], ...figures].find(isDrawn)
    const chosen = [['ratios', 'ratios.svg'], ...(figure ? [figure] : [])].filter(isDrawn)
    for (const [, name] of chosen)
      copyFileSync(join(at, 'charts', name), join(pictures, `${document.id}-${name}`))
    return partOf(
      document,
      chosen.map(([words, name]) => [words, `../charts/measured/${document.id}-${name}`]),
    )
  })
  return [summary, ...parts].join('\n\n')
}
