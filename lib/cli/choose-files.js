// The files of a choice: choose.json, its page and its picture.
import { choosePareto } from '../../charts/choose.js'
import { metricNames, metrics } from '../answers/choose/cost.js'
import {
  askedWords,
  candidateWords,
  ratioWords,
  standingWords,
  turnoverLines,
} from '../answers/choose/text.js'
import { plainText, several } from '../base/units.js'
import { cell } from '../report/cells.js'
import { pageAndCharts } from '../report/write-report.js'

/**
 * @import { ChooseAnswer } from '../answers/choose/document.js'
 * @import { Sections } from '../report/sections.js'
 */

const words = { best: 'Best', same: 'No difference', unclear: 'Cannot tell', none: 'None' }

/** @param {ChooseAnswer} answer @returns {Sections} */
const sectionsOf = (answer) => {
  const { state, sentence, candidates, excluded, gives_up: gives, versions, warnings } = answer
  return {
    title: answer.chosen === null ? 'No choice' : `Choice: ${plainText(answer.chosen)}`,
    question: `Which of ${several(candidates.length, 'candidate')} costs least? ${askedWords(answer)}.`,
    verdict: {
      good: state === 'best' || state === 'same',
      neutral: state === 'unclear',
      word: words[state],
      sentence: `${sentence}.`,
    },
    highlights: metricNames.flatMap((metric) => {
      const figure = candidates[0]?.metrics[metric]
      return answer.chosen === null || !figure
        ? []
        : [{ label: metrics[metric].title, text: candidateWords(metric, figure.value) }]
    }),
    facts: [
      ...gives.map((text) => ({ label: 'gives up', text: plainText(text) })),
      ...excluded.map(({ name, unmet }) => ({
        label: 'not a candidate',
        text: `${plainText(name)} does not meet ${unmet.join(', ')}`,
      })),
      ...turnoverLines(answer).map((text) => ({ label: 'calibration', text })),
      { label: 'servers', text: versions.servers.map((one) => plainText(one)).join(', ') },
      { label: 'machine', text: answer.hardware },
      { label: 'again', text: answer.command_line },
    ],
    tables: [
      {
        title: 'Candidates',
        note: 'Costs against the best, with intervals that hold together for all candidates and looks (95 %).',
        columns: [
          { title: 'candidate', left: true },
          { title: 'cost' },
          ...metricNames.map((metric) => ({ title: metrics[metric].short })),
          { title: 'standing', left: true },
        ],
        rows: candidates.map((one) => [
          cell(plainText(one.name)),
          cell(ratioWords(one.cost), one.cost?.ratio ?? null),
          ...metricNames.map((metric) =>
            cell(candidateWords(metric, one.metrics[metric]?.value), one.metrics[metric]?.value ?? null),
          ),
          cell(standingWords(one)),
        ]),
      },
      {
        title: 'Against the chosen one',
        note: 'Ratios within the rounds that both have, each with its own 95 % interval.',
        columns: [
          { title: 'candidate', left: true },
          ...metricNames.map((metric) => ({ title: metrics[metric].short })),
        ],
        rows: candidates.map((one) => [
          cell(plainText(one.name)),
          ...metricNames.map((metric) => {
            const found = one.against_chosen?.[metric] ?? null
            return cell(ratioWords(found), found?.ratio ?? null)
          }),
        ]),
      },
      {
        title: 'What each gives up',
        columns: [
          { title: 'candidate', left: true },
          { title: 'gives up', left: true },
        ],
        rows: candidates.map((one) => [
          cell(plainText(one.name)),
          cell(
            [...(one.dominated ? ['another one costs less CPU and memory'] : []), ...one.gives_up]
              .map((text) => plainText(text))
              .join('; '),
          ),
        ]),
      },
    ],
    warnings: warnings.map((text) => ({ text: plainText(text), serious: false })),
  }
}

/** By path in the folder of the results. @param {ChooseAnswer} answer @returns {Promise<Record<string, string>>} */
export const chooseFiles = async (answer) => {
  const option = choosePareto.option(answer)
  const pictures = option ? [{ ...choosePareto, option, wide: true }] : []
  return {
    'choose.json': `${JSON.stringify(answer, null, 2)}\n`,
    ...(await pageAndCharts('choose.html', sectionsOf(answer), pictures)),
  }
}
