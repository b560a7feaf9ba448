// The answer of `millrace experiment`: its sentence, and its report, from experiment.json.
import { exactly } from '../base/typed.js'
import { facts, period } from '../base/units.js'
import { drawnOfAll } from '../result/chief-metrics.js'
import { asSentence, publishedWords } from '../result/experiment-document.js'
import { measureNamed } from '../result/metrics.js'
import { centreOf } from '../result/statistics.js'
import { shownFigure } from './cells.js'
import { answer, figure, only, table, words } from './kit.js'
import { moment } from './words.js'

/**
 * @import { ExperimentColumn, ExperimentDocument, ExperimentRatio, ExperimentRow } from '../result/experiment-document.js'
 * @import { Column } from './kit.js'
 *
 * @typedef {ExperimentDocument & { pages?: readonly string[] }} Experiment pages: its runs that have one
 */

/** @param {string} name */
const shownAs = (name) => (/** @type {number | null | undefined} */ value) =>
  shownFigure(measureNamed(name), value)

/** @param {number | null} low @param {number | null} high @param {(value: number | null) => string} shown */
const between = (low, high, shown) => low !== high && `${shown(low)} – ${shown(high)}`

/**
 * A figure in its columns: in a text the published one is in brackets, on a page beside it.
 * @param {Experiment} experiment
 * @param {ExperimentColumn} column
 * @param {number} rank
 * @returns {Column<ExperimentRow>[]}
 */
const columnsOf = ({ rows }, { name, title = measureNamed(name).title }, rank) => {
  const shown = shownAs(name)
  const centre = (/** @type {ExperimentRow} */ { figures }) => figures[name] && centreOf(figures[name])
  const theirs = (/** @type {ExperimentRow} */ { published }) => published?.[name]
  const interval = (/** @type {ExperimentRow} */ { figures }) => {
    const found = figures[name]
    return found && between(found.low, found.high, shown)
  }
  return [
    figure(title, centre, shown, {
      only: 'text',
      rank,
      detail: (row) => theirs(row) !== undefined && shown(theirs(row)),
    }),
    figure(title, centre, shown, { only: 'page', detail: interval }),
    ...(rows.some((row) => theirs(row) !== undefined)
      ? [figure('published', theirs, shown, { only: 'page' })]
      : []),
  ]
}

/** Where the width is short, columns of ratios stay, then those with a chart. @param {Experiment} experiment */
const ranksIn = ({ columns, ratios }) => {
  const ofRatios = new Set(ratios.map(({ figure }) => figure))
  return columns.map(({ name, chart }, at) => {
    const group = ofRatios.has(name) ? 1 : chart === false ? 4 : drawnOfAll.includes(name) ? 3 : 2
    return group * columns.length + at
  })
}

/** @param {Experiment} experiment */
const resultsTable = (experiment) => {
  const { columns, rows, pages = [] } = experiment
  const ranks = ranksIn(experiment)
  return table(
    'Results',
    rows,
    [
      words('row', ({ label }) => label, {
        whole: true,
        link: ({ runs: [run] }) => run && `${run}/${pages.includes(run) ? 'report.html' : 'run.json'}`,
      }),
      figure('runs', ({ runs }) => runs.length, String, { only: 'text' }),
      ...columns.flatMap((column, at) => columnsOf(experiment, column, ranks[at])),
      words('notes', ({ marks }) => marks.map(({ text }) => text).join('; '), { only: 'page' }),
    ],
    {
      notes: [
        only('text', 'Geometric means of the repeats; in brackets what was published.'),
        only('page', 'The geometric mean of the repeats, with its 95 % interval.'),
        asSentence(publishedWords(experiment)).trim(),
      ],
    },
  )
}

const shownRatio = (/** @type {number | null | undefined} */ ratio) => shownFigure({ unit: 'ratio' }, ratio)

/** @param {Experiment} experiment */
const ratiosTable = ({ ratios }) =>
  table(
    'Ratios',
    ratios,
    [
      words('ratio', ({ label }) => label),
      words('of', ({ figure }) => measureNamed(figure).title, { rank: 1 }),
      figure('measured', ({ ours }) => ours.ratio, shownRatio, {
        detail: ({ ours }) => ours.low !== null && between(ours.low, ours.high, shownRatio),
      }),
      ...(ratios.some(({ published, claim }) => published != null || claim) ? publishedColumns : []),
    ],
    { notes: ['What carries over to other machines, with its 95 % interval.'] },
  )

/** @type {Column<ExperimentRatio>[]} */
const publishedColumns = [
  figure('published', ({ published }) => published, shownRatio),
  words('ours', ({ standing }) => standing ?? ''),
  words(
    'what was concluded, and why ours differs',
    ({ claim, contradicts, why }) => [claim, contradicts ?? why].filter(Boolean).join(': '),
    { only: 'page' },
  ),
]

/** @param {Experiment} experiment */
const versionWords = ({ versions: { servers, millrace, node } }) =>
  facts([servers.length > 0 && `server ${servers.join(', ')}`, `millrace ${millrace}, node ${node}`])

export const experiment = answer({
  kind: 'experiment',
  verdict: (/** @type {Experiment} */ { id, question, verdict, warnings }) => ({
    title: `Experiment · ${id}`,
    question,
    good: warnings.every(({ invalidates }) => !invalidates),
    neutral: true,
    word: 'Finding',
    sentence: `${question} ${verdict}`,
    short: verdict,
  }),
  rows: (one) => ({
    'set-up': only('page', one.setup),
    time: only(
      'page',
      facts([moment(one.started), one.duration_s !== undefined && period(one.duration_s * 1000)]),
    ),
    versions: only('page', versionWords(one)),
    machine: only('page', one.hardware),
    again: only('page', one.command),
  }),
  tables: (one) => [resultsTable(one), ratiosTable(one)],
  warnings: ({ rows, warnings }) => [
    ...rows.flatMap(({ label, marks }) =>
      marks.map(({ text }) => ({ text: `${label}: ${text}`, only: exactly('text') })),
    ),
    ...warnings.map(({ message, invalidates = true }) => ({ text: message, serious: invalidates })),
  ],
})
