// The answer of `millrace find` as text. Pure.
import { blocksText, wrapped } from '../../base/layout.js'
import { count, micros, rate as perSecond, plainText, several } from '../../base/units.js'
import { reading } from '../../measures/index.js'
import { missedAboveWords } from './objectives.js'

/** @typedef {import('./answer.js').FindAnswer & { unit?: string }} FindAnswer */

/** A rate to four digits: more are not significant. @param {number | null} rate */
export const rounded = (rate) => perSecond(rate === null ? null : Number(rate.toPrecision(4)))

/** @param {FindAnswer} answer */
const sustainedWords = ({ confirmed }) =>
  confirmed === null
    ? ''
    : `${rounded(confirmed.rate)} was sustained in ${confirmed.passed} of ${several(confirmed.seconds, 'second')}; `

/** @param {number} share */
const shareWords = (share) => `${+(share * 100).toFixed(1)} % of the seconds`

/** @param {FindAnswer} answer */
const limitWords = ({ limit, missed_above: missed }) =>
  missed === null
    ? ''
    : `; above it ${missedAboveWords(missed)}${limit ? (limit.part === 'unknown' ? `: ${limit.words}` : ` as ${limit.words}`) : ''}`

/** @param {FindAnswer} answer */
const intervalWords = ({ find: { low, high } }) => `95 % sure between ${rounded(low)} and ${rounded(high)}`

/** @param {FindAnswer['missed_over_confirmation'][number]} missed */
const missedWords = ({ threshold, value }) =>
  `${threshold} ${value === null ? 'was not measured, or too few times' : 'fails'}`

/** One sentence. @param {FindAnswer} answer */
export const findSentence = (answer) => {
  const { state, find, none_from: none, change, within, limit, missed_over_confirmation: missed } = answer
  const { unit = 'items' } = answer
  switch (state) {
    case 'found':
      return `R = ${rounded(find.low)} ${unit}/s (${sustainedWords(answer)}${intervalWords(answer)})${limitWords(answer)}`
    case 'at-least':
      return limit === null
        ? `at least ${rounded(find.low)} ${unit}/s: the highest rate of --within (${rounded(within?.[1] ?? null)}) meets the objectives`
        : `at least ${rounded(find.low)} ${unit}/s: the client was the limit, not the servers; use more connections or a faster box`
    case 'none':
      return missed.length > 0
        ? `none: at the highest rate whose seconds pass, ${missed.map(missedWords).join(' and ')}`
        : `none at or above ${rounded(none)} ${unit}/s meets the objectives in ${shareWords(answer.share)}`
    case 'changed':
      return `the target changed: ${rounded(change?.before ?? null)} ${unit}/s until ${Math.round((change?.at_ms ?? 0) / 1000)} s, then ${rounded(change?.after ?? null)} (${sustainedWords(answer)}${intervalWords(answer)} since then)`
    case 'stopped':
      return 'the search was ended before it had an answer'
    default:
      return find.low === null || !Number.isFinite(find.low)
        ? `not steady enough for an answer: no rate meets the objectives in ${shareWords(answer.share)}`
        : `not steady enough for an answer: between ${rounded(find.low)} and ${rounded(find.high)} ${unit}/s`
  }
}

/** What consumers fetched, or workers took, meanwhile. @param {any} readers of find.json */
export const readersWords = (readers) => {
  const { workers, jobs, waiting_us: waits } = readers
  return workers
    ? `${several(workers, 'worker')}: ${count(jobs.done)} jobs done, in the queue p50 ${micros(waits.p50)}, p99 ${micros(waits.p99)}`
    : `${several(readers.consumers, 'consumer')}: ${reading.brief(readers)}`
}

/** @param {FindAnswer} answer @param {{ columns?: number, page?: string }} layout */
export const findText = (answer, { columns = 100, page }) => {
  const { objectives, share, seconds_of_load: seconds, warnings, confirmation, readers, find } = answer
  const latency = confirmation?.latency_us?.intended
  return blocksText([
    wrapped(plainText(findSentence(answer)), columns),
    [
      `objectives   ${plainText(objectives.join(', '))} in ${shareWords(share)}`,
      `searched     ${several(seconds, 'second')} of load`,
      ...(find.middle === null ? [] : [`most likely  ${rounded(find.middle)} ${answer.unit ?? 'items'}/s`]),
      ...(latency && answer.confirmed
        ? [
            `confirmed    at ${rounded(answer.confirmed.rate)}: p50 ${micros(latency.p50)}, p99 ${micros(latency.p99)}, p99.9 ${micros(latency.p999)}`,
          ]
        : []),
      ...(readers ? [`readers      ${readersWords(readers)}`] : []),
      ...(answer.limit && answer.state !== 'found' ? [`limit        ${plainText(answer.limit.words)}`] : []),
    ],
    warnings.flatMap(({ message }) => wrapped(`! ${plainText(message)}`, columns)),
    page === undefined ? [] : [`page: ${page}`],
  ])
}
