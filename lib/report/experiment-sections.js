// What the report of an experiment says.

import { dash, facts, period, plainData } from '../base/units.js'
import { measureNamed } from '../result/metrics.js'
import { asSentence, publishedWords } from '../result/published-words.js'
import { centreOf } from '../result/statistics.js'
import { cell, figureCell, shownFigure } from './cells.js'
import { moment } from './words.js'

/**
 * @import { ExperimentDocument, FigureOfRow } from '../result/experiment-document.js'
 * @import { Cell, Sections, Table } from './sections.js'
 */

/** @param {string} name @param {FigureOfRow | undefined} figure @returns {Cell} */
const intervalCell = (name, figure) => {
  if (!figure) return cell(dash, null)
  const { low, high } = figure
  const centre = centreOf(figure)
  const shown = (/** @type {number} */ value) => shownFigure(measureNamed(name), value)
  return { ...cell(shown(centre), centre), ...(low !== high && { detail: `${shown(low)} – ${shown(high)}` }) }
}

/** @param {ExperimentDocument} experiment @param {readonly string[]} pages @returns {Table} */
const rowsTable = (experiment, pages) => {
  const { columns, rows } = experiment
  const hasPublished = (/** @type {string} */ name) =>
    rows.some(({ published }) => published?.[name] !== undefined)
  return {
    title: 'Results',
    note: `The geometric mean of the repeats, with its 95 % interval.${asSentence(publishedWords(experiment))}`,
    columns: [
      { title: 'row', left: true },
      ...columns.flatMap(({ name, title }) => [
        { title: title ?? measureNamed(name).title },
        ...(hasPublished(name) ? [{ title: 'published' }] : []),
      ]),
      { title: 'notes', left: true },
    ],
    rows: rows.map(({ label, figures, published, marks, runs }) => [
      {
        text: label,
        ...(runs.length > 0 && {
          link: `${runs[0]}/${pages.includes(runs[0]) ? 'report.html' : 'run.json'}`,
        }),
      },
      ...columns.flatMap(({ name }) => [
        intervalCell(name, figures[name]),
        ...(hasPublished(name) ? [figureCell(name, published?.[name])] : []),
      ]),
      cell(marks.map(({ text }) => text).join('; ')),
    ]),
  }
}

/** @param {ExperimentDocument} experiment @returns {Table[]} */
const ratiosTable = ({ ratios }) => {
  const shown = (/** @type {number | null} */ ratio) => shownFigure({ unit: 'ratio' }, ratio)
  if (ratios.length === 0) return []
  const isCompared = ratios.some(({ published, claim }) => published != null || claim)
  return [
    {
      title: 'Ratios',
      note: 'What carries over to other machines, with its 95 % interval.',
      columns: [
        { title: 'ratio', left: true },
        { title: 'of', left: true },
        { title: 'measured' },
        ...(isCompared
          ? [
              { title: 'published' },
              { title: 'ours', left: true },
              { title: 'what was concluded, and why ours differs', left: true },
            ]
          : []),
      ],
      rows: ratios.map(({ label, figure, ours, published, standing, claim, contradicts, why }) => [
        cell(label),
        cell(measureNamed(figure).title),
        {
          ...cell(shown(ours.ratio), ours.ratio),
          ...(ours.low !== null && { detail: `${shown(ours.low)} – ${shown(ours.high)}` }),
        },
        ...(isCompared
          ? [
              cell(shown(published), published),
              cell(standing ?? ''),
              cell([claim, contradicts ?? why].filter(Boolean).join(': ')),
            ]
          : []),
      ]),
    },
  ]
}

/** @param {ExperimentDocument} document @param {readonly string[]} [pages] of its runs @returns {Sections} */
export const experimentSections = (document, pages = []) => {
  /** @type {ExperimentDocument} */
  const experiment = plainData(document)
  const { id, question, setup, started, duration_s: durationS, versions, hardware, command } = experiment
  const { warnings } = experiment
  return {
    title: `Experiment · ${id}`,
    question,
    verdict: {
      good: warnings.every(({ invalidates }) => !invalidates),
      neutral: true,
      word: 'Finding',
      sentence: experiment.verdict,
    },
    highlights: [],
    facts: [
      { label: 'set-up', text: setup },
      {
        label: 'time',
        text: facts([moment(started), durationS !== undefined && period(durationS * 1000)]),
      },
      {
        label: 'versions',
        text: facts([
          versions.servers.length > 0 && `server ${versions.servers.join(', ')}`,
          `millrace ${versions.millrace}, node ${versions.node}`,
        ]),
      },
      { label: 'machine', text: hardware ?? '' },
      { label: 'again', text: command ?? '' },
    ].filter(({ text }) => text),
    tables: [rowsTable(experiment, pages), ...ratiosTable(experiment)],
    warnings: warnings.map(({ message, invalidates = true }) => ({ text: message, serious: invalidates })),
  }
}
