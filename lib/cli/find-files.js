// The files of a search: find.json, its page and its charts.
import { findLatency, findPath, findShare } from '../../charts/find.js'
import { findSentence, readersWords } from '../answers/find/text.js'
import { cell, shownFigure } from '../report/cells.js'
import { pageAndCharts } from '../report/write-report.js'

/**
 * @import { FindAnswer } from '../answers/find/text.js'
 * @import { Sections } from '../report/sections.js'
 */

const charts = [findLatency, findShare, findPath]

/** @param {FindAnswer} answer */
const picturesOf = (answer) =>
  charts.flatMap((one) => {
    const option = one.option(answer)
    return option ? [{ ...one, option }] : []
  })

const words = {
  found: 'Found',
  'at-least': 'At least',
  none: 'None',
  changed: 'Changed',
  unsteady: 'Cannot tell',
  stopped: 'Stopped',
}

/** @param {FindAnswer} answer @returns {Sections} */
const findSections = (answer) => {
  const { state, objectives, share, find, warnings, limit, strategy, seconds } = answer
  const shown = (/** @type {number | null | undefined} */ us) =>
    cell(shownFigure({ unit: 'us' }, us), us ?? null)
  return {
    title: `The highest rate of ${strategy}`,
    question: `How many ${answer.unit ?? 'items'} a second with ${objectives.join(', ')}?`,
    verdict: {
      good: state === 'found' || state === 'at-least',
      neutral: state !== 'found',
      word: words[state],
      sentence: findSentence(answer),
    },
    highlights: /** @type {const} */ (['low', 'middle', 'high']).flatMap((end) =>
      find[end] === null
        ? []
        : [
            {
              label: { low: 'sure to sustain', middle: 'most likely', high: 'at most' }[end],
              text: `${shownFigure({ unit: 'rate' }, find[end])}/s`,
            },
          ],
    ),
    facts: [
      {
        label: 'objectives',
        text: `${objectives.join(', ')} in ${+(share * 100).toFixed(1)} % of the seconds`,
      },
      { label: 'seconds of load', text: String(answer.seconds_of_load) },
      ...(limit ? [{ label: 'limit', text: limit.words }] : []),
      ...(answer.readers ? [{ label: 'readers', text: readersWords(answer.readers) }] : []),
      ...(answer.command_line ? [{ label: 'again', text: String(answer.command_line) }] : []),
    ],
    tables: [
      {
        title: 'Seconds',
        fold: 'Seconds',
        more: true,
        note: 'What was due in each second, until all of it had an outcome.',
        columns: [
          { title: 'at' },
          { title: 'phase', left: true },
          { title: 'rate' },
          { title: 'acknowledged' },
          { title: 'p50' },
          { title: 'p99' },
          { title: 'bystander p99' },
          { title: 'missed', left: true },
        ],
        rows: seconds.map((second) => [
          cell(`${(second.at_ms / 1000).toFixed(1)} s`, second.at_ms),
          cell(second.phase),
          cell(
            second.rate === null ? 'as accepted' : shownFigure({ unit: 'rate' }, second.rate),
            second.rate,
          ),
          cell(shownFigure({ unit: 'rate' }, second.achieved), second.achieved),
          shown(second.latency_us.intended?.p50),
          shown(second.latency_us.intended?.p99),
          shown(second.bystander_us?.p99),
          cell(second.missed ?? ''),
        ]),
      },
    ],
    warnings: warnings.map(({ message }) => ({ text: message, serious: false })),
  }
}

/** @param {FindAnswer} answer @returns {Promise<Record<string, string>>} contents by path */
export const findFiles = async (answer) => ({
  'find.json': `${JSON.stringify(answer, null, 2)}\n`,
  ...(await pageAndCharts('find.html', findSections(answer), picturesOf(answer))),
})
