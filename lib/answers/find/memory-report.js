// The answer of `millrace find --over memory`: its shape, its sentence, and its report.
import { missCurveChart } from '../../../charts/miss-curve.js'
import * as S from '../../base/shape.js'
import { bytes, several } from '../../base/units.js'
import { shownFigure } from '../../report/cells.js'
import { answer, answerSchema, figure, table, words } from '../../report/kit.js'

/**
 * @import { Shaped } from '../../base/shape-types.js'
 * @import { Column } from '../../report/kit.js'
 */

const check = S.object({ threshold: S.text, name: S.text, value: S.figure, passed: S.flag })
const ends = S.each(['low', 'middle', 'high'], S.figure)

const schema = answerSchema('find-memory', {
  run: S.text,
  started: S.note,
  command_line: S.note,
  versions: S.nullable(S.anything),
  strategy: S.text,
  policy: S.text,
  items: S.number,
  rate: S.number,
  servers: S.said('masters; each has its part of the memory', S.number),
  objectives: S.list(S.text),
  state: S.oneOf('found', 'least', 'none', 'unsteady', 'stopped'),
  sentence: S.text,
  find: S.object(ends),
  binds: S.said('the limit that needs this memory, or that none meets', S.note),
  confirmed: S.said('a run with the high end met all limits', S.orNull(S.flag)),
  ...S.each(['ceiling_pct', 'footprint_bytes'], S.figure),
  curve: S.list(S.object({ ...S.each(['memory_bytes', 'lru_pct'], S.number), policy_pct: S.figure })),
  trials: S.list(
    S.object({
      phase: S.oneOf('first', 'measure', 'confirm'),
      ...S.each(['memory_bytes', 'hit_pct', 'seconds'], S.number),
      ...S.each(['hit_pct_low', 'hit_pct_high', 'p99_us', 'source_per_s', 'evicted_per_s'], S.figure),
      checks: S.list(check),
      passed: S.flag,
    }),
  ),
  warnings: S.list(S.object({ code: S.text, message: S.text })),
  thresholds: S.list(S.object({ threshold: S.text, value: S.figure, passed: S.flag })),
})

/** @typedef {Shaped<typeof schema>} MemoryFound */
/** @typedef {Omit<MemoryFound, 'sentence' | 'thresholds'>} Found */

const pct = (/** @type {number | null} */ value) => shownFigure({ unit: 'pct' }, value)
const points = (/** @type {number | null} */ value) => (value === null ? '' : `${value.toFixed(2)} %`)

/** @param {Found} one @param {'middle' | 'high'} end */
const memoryWords = ({ find, servers }, end) =>
  `${bytes(find[end] ?? 0)}${servers > 1 ? ` over ${servers} servers` : ''}`

/** @type {Record<Found['state'], { word: string, sentence: (one: Found) => string }>} */
const states = {
  found: {
    word: 'Found',
    sentence: (one) =>
      `${memoryWords(one, 'middle')} (95 % sure between ${bytes(one.find.low ?? 0)} and ${bytes(one.find.high ?? 0)}): less fails ${one.binds}`,
  },
  least: {
    word: 'The least',
    sentence: (one) =>
      `${memoryWords(one, 'high')} meets the limits, and is the least that a server runs with`,
  },
  none: {
    word: 'None',
    sentence: ({ binds, ceiling_pct: ceiling, footprint_bytes: whole }) =>
      `no memory meets ${binds}: with room for all keys${whole === null ? '' : ` (${bytes(whole)})`} ${ceiling === null ? 'it fails too' : `${points(ceiling)} are hits at most; the others ask for a key for the first time, or for an expired or invalidated one`}`,
  },
  unsteady: { word: 'Cannot tell', sentence: ({ warnings }) => `no answer: ${warnings[0]?.message}` },
  stopped: { word: 'Stopped', sentence: () => 'the search was ended before it had an answer' },
}

/** @type {Column<Found['trials'][number]>[]} */
const columns = [
  figure('memory', (one) => one.memory_bytes, bytes),
  figure('hits', (one) => one.hit_pct, points),
  figure(
    'p99',
    (one) => one.p99_us,
    (us) => shownFigure({ unit: 'us' }, us),
  ),
  figure(
    'requests to the source',
    (one) => one.source_per_s,
    (hz) => `${shownFigure({ unit: 'rate' }, hz)}/s`,
  ),
  words('limits not met', (one) =>
    one.checks.flatMap(({ passed, threshold }) => (passed ? [] : [threshold])).join(', '),
  ),
]

export const findMemory = answer({
  kind: 'find-memory',
  file: 'find',
  schema,
  charts: [missCurveChart],
  verdict: (/** @type {Found} */ one) => ({
    title: `The least memory of ${one.strategy}`,
    question: `With how much memory is ${one.objectives.join(', ')} at ${shownFigure({ unit: 'rate' }, one.rate)} requests a second?`,
    good: one.state === 'found' || one.state === 'least',
    neutral: one.state !== 'found',
    word: states[one.state].word,
    sentence: states[one.state].sentence(one),
  }),
  highlights: ({ find: { low, middle, high } }) => ({
    'at least': low !== null && bytes(low),
    'most likely': middle !== null && bytes(middle),
    'sure to be enough': high !== null && bytes(high),
  }),
  rows: ({ objectives, trials, confirmed, policy, footprint_bytes: whole, ceiling_pct: ceiling }) => {
    const last = trials.at(-1)
    return {
      objectives: `${objectives.join(', ')}, ${policy}`,
      confirmed:
        last &&
        confirmed !== null &&
        `with ${bytes(last.memory_bytes)}: ${points(last.hit_pct)} hits${confirmed ? '' : ', which does not meet the limits'}`,
      'all keys': whole !== null && `${bytes(whole)}${ceiling === null ? '' : `, ${pct(ceiling)} hits`}`,
      searched: `${several(trials.length, 'run')}, ${several(
        trials.reduce((sum, { seconds }) => sum + seconds, 0),
        'second',
      )}`,
    }
  },
  tables: ({ trials }) => [
    table(
      'Runs',
      [...trials].sort((a, b) => a.memory_bytes - b.memory_bytes),
      columns,
    ),
  ],
  warnings: ({ warnings, state }) => (state === 'unsteady' ? [] : warnings.map(({ message }) => message)),
})
