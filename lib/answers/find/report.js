// The answer of `millrace find`: its shape, its sentence, and its report.
import { findLatency, findPath, findShare } from '../../../charts/find.js'
import * as S from '../../base/shape.js'
import { count, micros, rate as perSecond, several } from '../../base/units.js'
import { others, reading } from '../../measures/index.js'
import { shownFigure } from '../../report/cells.js'
import { answer, answerSchema, figure, only, table, words } from '../../report/kit.js'
import { missedAboveWords } from './objectives.js'

/**
 * @import { Shaped } from '../../base/shape-types.js'
 * @import { Column } from '../../report/kit.js'
 * @import { Run } from '../../measures/section.js'
 */

const times = S.orNull(S.object(S.each(['p50', 'p90', 'p99', 'p999', 'max'], S.number)))
const ends = S.object(S.each(['low', 'middle', 'high'], S.figure))
const band = S.each(['low', 'middle', 'high'], S.number)
const state = S.oneOf('found', 'at-least', 'none', 'changed', 'unsteady', 'stopped')

const schema = answerSchema('find', {
  run: S.text,
  started: S.note,
  command_line: S.note,
  versions: S.nullable(S.anything),
  strategy: S.note,
  items: S.figure,
  unit: S.text,
  objectives: S.list(S.text),
  share: S.number,
  within: S.orNull(S.list(S.number)),
  state,
  sentence: S.text,
  find: ends,
  none_from: S.figure,
  confirmed: S.orNull(S.object(S.each(['rate', 'passed', 'seconds'], S.number))),
  change: S.orNull(S.object({ ...S.each(['before', 'after', 'at'], S.number), at_ms: S.figure })),
  seconds_of_load: S.number,
  missed_above: S.note,
  missed_over_confirmation: S.list(
    S.object({ threshold: S.text, name: S.text, value: S.figure, passed: S.flag }),
  ),
  limit: S.orNull(
    S.object({
      part: S.oneOf('node', 'server', 'replica', 'client', 'connections', 'unknown'),
      value: S.figure,
      words: S.text,
    }),
  ),
  warnings: S.list(S.object({ code: S.text, message: S.text })),
  thresholds: S.list(S.object({ threshold: S.text, value: S.figure, passed: S.flag })),
  seconds: S.list(
    S.object({
      at_ms: S.number,
      phase: S.oneOf('warm-up', 'limit', 'bracket', 'measure', 'recover', 'confirm'),
      rate: S.said('offered; null: as fast as the servers accepted it', S.figure),
      achieved: S.number,
      items: S.byName(S.number),
      latency_us: S.object({ intended: times, service: times }),
      [others.path]: times,
      client: S.object(S.each(['busy_pct', 'thread_cpu_pct', 'cpu_pct'], S.figure)),
      backlog_grows: S.said(
        'at a constant rate a limit would be missed later, though not in this second',
        S.flag,
      ),
      waited_ms: S.said('how long what was answered last in it had waited', S.number),
      client_limited: S.said('the sending thread was full with its own work', S.flag),
      after_pass: S.said('the second before it passed', S.flag),
      missed: S.said('the first objective that it did not meet', S.note),
      passed: S.flag,
    }),
  ),
  curve: S.list(S.object({ rate: S.number, ...band })),
  path: S.list(S.object({ at_ms: S.number, ...band })),
  confirmation: S.nullable(S.anything),
  readers: S.said(
    'of --with-read: what consumers fetched, or workers did, during the confirmation, in the words of their run.json',
    S.nullable(S.anything),
  ),
})

/** @typedef {Shaped<typeof schema>} FindAnswer */
/** @typedef {Omit<FindAnswer, 'sentence' | 'thresholds' | 'unit'> & { unit?: string }} Found */

/** A rate to four digits: more are not significant. @param {number | null} rate */
export const rounded = (rate) => perSecond(rate === null ? null : Number(rate.toPrecision(4)))

const shareWords = (/** @type {number} */ share) => `${+(share * 100).toFixed(1)} % of the seconds`

/** @param {Found} answer */
const limitWords = ({ limit, missed_above: missed }) =>
  missed === null
    ? ''
    : `; above it ${missedAboveWords(missed)}${limit ? (limit.part === 'unknown' ? `: ${limit.words}` : ` as ${limit.words}`) : ''}`

/** @param {Found} answer */
const sureWords = ({ confirmed, find: { low, high } }) =>
  `${confirmed ? `${rounded(confirmed.rate)} was sustained in ${confirmed.passed} of ${several(confirmed.seconds, 'second')}; ` : ''}95 % sure between ${rounded(low)} and ${rounded(high)}`

const missedWords = (/** @type {{ threshold: string, value: number | null }} */ { threshold, value }) =>
  `${threshold} ${value === null ? 'was not measured, or too few times' : 'fails'}`

/** @type {Record<Found['state'], { word: string, sentence: (answer: Found, unit: string) => string }>} */
const states = {
  found: {
    word: 'Found',
    sentence: (one, unit) => `R = ${rounded(one.find.low)} ${unit}/s (${sureWords(one)})${limitWords(one)}`,
  },
  'at-least': {
    word: 'At least',
    sentence: ({ find, limit, within }, unit) =>
      `at least ${rounded(find.low)} ${unit}/s: ${limit === null ? `the highest rate of --within (${rounded(within?.[1] ?? null)}) meets the objectives` : 'the load generator was the limit, not the servers; use more connections or a faster box'}`,
  },
  none: {
    word: 'None',
    sentence: ({ missed_over_confirmation: missed, none_from: from, share }, unit) =>
      missed.length > 0
        ? `none: at the highest rate whose seconds pass, ${missed.map(missedWords).join(' and ')}`
        : `none at or above ${rounded(from)} ${unit}/s meets the objectives in ${shareWords(share)}`,
  },
  changed: {
    word: 'Changed',
    sentence: (one, unit) =>
      `the target changed: ${rounded(one.change?.before ?? null)} ${unit}/s until ${Math.round((one.change?.at_ms ?? 0) / 1000)} s, then ${rounded(one.change?.after ?? null)} (${sureWords(one)} since then)`,
  },
  unsteady: {
    word: 'Cannot tell',
    sentence: ({ find: { low, high }, share }, unit) =>
      `not steady enough for an answer: ${low === null || !Number.isFinite(low) ? `no rate meets the objectives in ${shareWords(share)}` : `between ${rounded(low)} and ${rounded(high)} ${unit}/s`}`,
  },
  stopped: { word: 'Stopped', sentence: () => 'the search was ended before it had an answer' },
}

/** What consumers fetched, or workers took, meanwhile. @param {Run} readers */
const readersWords = (readers) => {
  const { workers, jobs, waiting_us: waits } = readers
  return workers
    ? `${several(workers, 'worker')}: ${count(jobs.done)} jobs done, in the queue p50 ${micros(waits.p50)}, p99 ${micros(waits.p99)}`
    : `${several(readers.consumers, 'consumer')}: ${reading.brief(readers)}`
}

const us = (/** @type {number | null | undefined} */ value) => shownFigure({ unit: 'us' }, value)
const rate = (/** @type {number | null} */ value) => shownFigure({ unit: 'rate' }, value)

/** @type {Column<Found['seconds'][number]>[]} */
const secondColumns = [
  figure(
    'at',
    (one) => one.at_ms,
    (ms) => `${(ms / 1000).toFixed(1)} s`,
  ),
  words('phase', (one) => one.phase),
  figure(
    'rate',
    (one) => one.rate,
    (hz) => (hz === null ? 'as accepted' : rate(hz)),
  ),
  figure('acknowledged', (one) => one.achieved, rate),
  figure('p50', (one) => one.latency_us.intended?.p50, us),
  figure('p99', (one) => one.latency_us.intended?.p99, us),
  figure('other clients p99', (one) => one[others.path]?.p99, us),
  words('limit not met', (one) => one.missed ?? ''),
]

export const find = answer({
  kind: 'find',
  schema,
  charts: [findLatency, findShare, findPath],
  verdict: (/** @type {Found} */ one) => {
    const { unit = 'items', objectives, state } = one
    return {
      title: `The highest rate of ${one.strategy}`,
      question: `How many ${unit} a second with ${objectives.join(', ')}?`,
      good: state === 'found' || state === 'at-least',
      neutral: state !== 'found',
      word: states[state].word,
      sentence: states[state].sentence(one, unit),
    }
  },
  highlights: ({ find: { low, middle, high }, confirmed, state }) => ({
    'at least': low !== null && `${rate(low)}/s`,
    'most likely': middle !== null && `${rate(middle)}/s`,
    'at most': high !== null && `${rate(high)}/s`,
    'confirmed rate':
      (state === 'found' || state === 'at-least') && confirmed !== null && `${rate(confirmed.rate)}/s`,
  }),
  rows: ({ confirmation, confirmed, find, limit, readers, unit = 'items', ...one }) => {
    const latency = confirmation?.latency_us?.intended
    return {
      objectives: `${one.objectives.join(', ')} in ${shareWords(one.share)}`,
      searched: `${several(one.seconds_of_load, 'second')} of load`,
      'most likely': only('text', find.middle !== null && `${rounded(find.middle)} ${unit}/s`),
      confirmed:
        latency &&
        confirmed &&
        `at ${rounded(confirmed.rate)}: p50 ${micros(latency.p50)}, p99 ${micros(latency.p99)}, p99.9 ${micros(latency.p999)}`,
      readers: readers && readersWords(readers),
      limit: one.state === 'found' ? only('page', limit?.words) : limit?.words,
      again: only('page', one.command_line),
    }
  },
  tables: ({ seconds }) => [
    table('Seconds', seconds, secondColumns, {
      only: 'page',
      folded: true,
      notes: ['What was due in each second, until all of it had an outcome.'],
    }),
  ],
  warnings: ({ warnings }) => warnings.map(({ message }) => message),
})
