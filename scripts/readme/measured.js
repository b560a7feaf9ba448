// docs/reference/results: each experiment of docs/data on a page with its table, its ratios, its picture and its command.
import { times } from '../../lib/base/units.js'
import { experimentIds } from '../../lib/experiments/catalogue.js'
import { publishedRatioWords } from '../../lib/experiments/summary.js'
import { shownFigure } from '../../lib/report/cells.js'
import { experimentPictures } from '../../lib/report/charts.js'
import { markdownText } from '../../lib/report/markdown.js'
import { measureNamed } from '../../lib/result/metrics.js'
import { centreOf } from '../../lib/result/statistics.js'
import { linkedFrom } from './marks.js'
import { pictureFile } from './picture-file.js'

/** @import { ExperimentDocument, ExperimentRow } from '../../lib/result/experiment-document.js' */

/** @param {ExperimentRow} row @param {string} name */
const cellOf = ({ figures, published }, name) => {
  const shown = (/** @type {number | undefined} */ value) =>
    markdownText(shownFigure(measureNamed(name), value))
  const theirs = published?.[name]
  const ours = shown(figures[name] && centreOf(figures[name]))
  return theirs === undefined ? ours : `${ours} *(${shown(theirs)})*`
}

/** @param {ExperimentDocument} document */
const tableOf = ({ columns, rows }) => {
  const shown = columns.filter(({ name }) => rows.some(({ figures }) => figures[name]))
  return [
    `| | ${shown.map(({ name, title }) => markdownText(title ?? measureNamed(name).title)).join(' | ')} |`,
    `| --- |${' ---: |'.repeat(shown.length)}`,
    ...rows.map(
      (row) =>
        `| ${markdownText(row.label)}${row.marks.length > 0 ? ' †' : ''} | ${shown.map(({ name }) => cellOf(row, name)).join(' | ')} |`,
    ),
  ]
}

/** A reason is printed once. @param {ExperimentDocument} document */
const ratiosOf = ({ ratios }) => {
  const given = new Set()
  return ratios.map(({ label, figure, ours, published, standing, why }) => {
    const beside = published === null ? '' : `; published ${times(published)}: ${standing}`
    const reason = standing === 'agrees' || standing === 'undecided' || given.has(why) ? null : why
    given.add(why)
    const words = `${label}, ${measureNamed(figure).title}: ${publishedRatioWords(ours)}${beside}`
    return markdownText(reason ? `${words}. ${reason}` : words)
  })
}

const pageFor = (/** @type {string} */ id) => `docs/reference/results/${id}.md`
const linkTo = (/** @type {string} */ id) => `[${id}](${pageFor(id)})`

/** An experiment's first ratio, in a line. @param {ExperimentDocument} document */
const lineOf = ({ id, ratios, verdict }) => {
  const [main] = ratios
  if (!main) return `| ${linkTo(id)} | ${markdownText(verdict)} | | | |`
  const { label, figure, ours, published, standing } = main
  const what = `${label}, ${measureNamed(figure).title}`
  return `| ${linkTo(id)} | ${markdownText(what)} | ${publishedRatioWords(ours)} | ${published === null ? '' : times(published)} | ${standing ?? ''} |`
}

/** The ratios, and the first figure of the rows. @param {ExperimentDocument} document */
const picturesOf = (document) =>
  experimentPictures(document)
    .slice(0, 2)
    .map((picture) => ({ picture, file: `${document.id}-${picture.name}.svg` }))

const isFrontPage = (/** @type {string} */ id) => !experimentIds().includes(id)

/** @param {ExperimentDocument} document */
const pageOf = (document) => {
  const { question, verdict, rows, command, id, setup, started, hardware, versions } = document
  const marks = rows.flatMap(({ label, marks }) => marks.map(({ text }) => `${label}: ${text}`))
  return [
    `# ${id}`,
    '',
    markdownText(question),
    '',
    `**${markdownText(verdict)}**`,
    '',
    ...tableOf(document),
    '',
    ...ratiosOf(document).map((text) => `- ${text}`),
    ...marks.map((text) => `- † ${markdownText(text)}`),
    '',
    ...picturesOf(document).flatMap(({ picture, file }) => [
      `![${markdownText(`${id}: ${picture.title}`)}](charts/measured/${file})`,
      '',
    ]),
    `Measured ${started.slice(0, 10)} on ${hardware}, Node ${versions.node}, servers ${versions.servers.join(', ')}: ${markdownText(setup)}.`,
    `Data: [data/${id}.ndjson](docs/data/${id}.ndjson).`,
    '',
    `    ${command}`,
    '',
  ].join('\n')
}

/** Ours first, then the published ones in their order. @param {Map<string, ExperimentDocument>} experiments */
const inOrder = (experiments) => [
  ...[...experiments.values()].filter(({ id }) => isFrontPage(id)),
  ...experimentIds().flatMap((id) => experiments.get(id) ?? []),
]

/** All of them in one table. @param {Map<string, ExperimentDocument>} experiments */
export const measuredPart = (experiments) =>
  [
    '| experiment | ratio | measured (95 %) | published | ours |',
    '| --- | --- | ---: | ---: | --- |',
    ...inOrder(experiments).map(lineOf),
  ].join('\n')

/** The page of each, by path. @param {Map<string, ExperimentDocument>} experiments @returns {Record<string, string>} */
export const measuredPages = (experiments) =>
  Object.fromEntries(
    inOrder(experiments).map((document) => {
      const file = pageFor(document.id)
      return [file, linkedFrom(file, pageOf(document))]
    }),
  )

/** Pictures of these pages, by path. @param {Map<string, ExperimentDocument>} experiments @returns {Record<string, string>} */
export const measuredFiles = (experiments) =>
  Object.fromEntries(
    inOrder(experiments)
      .flatMap(picturesOf)
      .map(({ picture, file }) => [`charts/measured/${file}`, pictureFile(picture)]),
  )
