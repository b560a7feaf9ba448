// The answer of `millrace profile --snapshot`: its shape, its sentence, and its report.
import * as S from '../../base/shape.js'
import { bytes, count, facts, percent, plainText, several } from '../../base/units.js'
import { answer, figure, table, words } from '../../report/kit.js'

/**
 * @import { Shaped } from '../../base/shape-types.js'
 * @import { Column } from '../../report/kit.js'
 */

const estimate = S.object(S.each(['value', 'low', 'high'], S.number))
const pattern = S.object({
  pattern: S.text,
  pieces: S.list(S.text),
  type: S.text,
  ...S.each(['types', 'encodings'], S.byName(S.number)),
  ...S.each(['keys', 'memory_bytes'], estimate),
  ...S.each(['largest_bytes', 'size_mean'], S.number),
  ...S.each(['size_p50', 'size_p99'], S.said('bytes of strings, else elements', S.figure)),
  expiring: S.said('the share of keys with a lifetime', S.number),
  left_s_p50: S.figure,
})
const server = S.object({ version: S.text, ...S.each(['memory_bytes', 'data_bytes'], S.number) })

const schema = S.document('snapshot.json: the answer of millrace profile --snapshot', {
  schema: S.just(1),
  kind: S.just('snapshot'),
  started: S.text,
  duration_s: S.number,
  file: S.object({
    ...S.each(['name', 'product'], S.text),
    ...S.each(['format', 'bytes', 'keys'], S.number),
    ...S.each(['version', 'saved'], S.note),
    used_memory: S.figure,
  }),
  part: S.said('of all keys that were loaded; below 1: totals are estimates', S.number),
  seed: S.number,
  anonymous: S.flag,
  server,
  newer: S.said('the same keys in Valkey 9', S.orNull(server)),
  keys: S.number,
  memory_bytes: S.said('of all keys, by MEMORY USAGE', estimate),
  expiring_keys: S.number,
  patterns: S.list(pattern),
  patterns_left_out: S.number,
  largest: S.list(
    S.object({
      name: S.note,
      ...S.each(['type', 'encoding'], S.text),
      memory_bytes: S.number,
      ...S.each(['size', 'left_s'], S.figure),
    }),
  ),
  picture: S.text,
  warnings: S.list(S.text),
})

/** @typedef {Shaped<typeof schema>} SnapshotFound */
/** @typedef {SnapshotFound['patterns'][number]} Pattern */

/** @param {{ value: number, low: number, high: number }} of @param {(n: number) => string} shown */
const within = ({ value, low, high }, shown) =>
  high - low < 0.005 * Math.max(1, value) ? shown(value) : `${shown(value)} (${shown(low)} to ${shown(high)})`
/** The interval; '' where nothing is estimated. @param {{ value: number, low: number, high: number }} of @param {(n: number) => string} shown */
const range = ({ low, high }, shown) => (high > low ? `${shown(low)} to ${shown(high)}` : '')
const whole = (/** @type {number} */ n) => count(Math.round(n))
/** @param {Record<string, number>} counts */
const names = (counts) =>
  Object.entries(counts)
    .sort((a, b) => b[1] - a[1])
    .map(([name]) => name)
    .join(', ')
const seconds = (/** @type {number | null} */ s) =>
  s === null ? '–' : s >= 7200 ? `${(s / 3600).toFixed(1)} h` : `${s.toFixed(0)} s`

const numberWords = (/** @type {number | null} */ n) => (n === null ? '–' : count(n))
const sharePct = (/** @type {number} */ share) => percent(share * 100)

/** @param {SnapshotFound} one @returns {Column<Pattern>[]} */
const patternColumns = ({ memory_bytes: all }) => [
  words('pattern', ({ pattern: text }) => plainText(text).slice(0, 80), { whole: true }),
  words('type', ({ types }) => names(types)),
  figure('keys', (one) => one.keys.value, whole, { detail: ({ keys }) => range(keys, whole) }),
  figure('memory', (one) => one.memory_bytes.value, bytes, {
    detail: (one) => range(one.memory_bytes, bytes),
  }),
  figure('of all', (one) => one.memory_bytes.value / Math.max(1, all.value), sharePct),
  figure('a key', (one) => one.memory_bytes.value / Math.max(1, one.keys.value), bytes, { rank: 2 }),
  figure('bytes or elements', (one) => one.size_p50, numberWords, { rank: 4 }),
  figure('p99', (one) => one.size_p99, numberWords, { only: 'page' }),
  figure('with a lifetime', (one) => one.expiring, sharePct, { rank: 3 }),
  figure('time left', (one) => one.left_s_p50, seconds, { only: 'page' }),
  words('encodings', ({ encodings }) => names(encodings), { rank: 5 }),
]

/** @type {Column<SnapshotFound['largest'][number]>[]} */
const largestColumns = [
  words('key', ({ name }) => (name === null ? '(not shown)' : plainText(name).slice(0, 80))),
  words('type', ({ type, encoding }) => `${type} (${encoding})`),
  figure('memory', (one) => one.memory_bytes, bytes),
  figure('bytes or elements', (one) => one.size, numberWords),
  figure(
    'time left',
    (one) => one.left_s,
    (s) => (s === null ? 'stays' : seconds(s)),
  ),
]

/** @param {SnapshotFound} one */
const newerWords = ({ server: own, newer }) =>
  newer &&
  `${bytes(newer.data_bytes)} of data in Valkey ${newer.version}, ${bytes(own.data_bytes)} in ${own.version} (${percent((100 * newer.data_bytes) / Math.max(1, own.data_bytes))})`

export const snapshotAnswer = answer({
  ...{ kind: 'snapshot', schema },
  verdict: (/** @type {SnapshotFound} */ one) => ({
    title: 'Profile of a snapshot',
    question: 'Which keys are there, and what memory do they take?',
    ...{ good: true, neutral: true, word: 'Seen' },
    sentence: `${several(one.keys, 'key')} of ${several(one.patterns.length + one.patterns_left_out, 'pattern')} take ${within(one.memory_bytes, bytes)}${one.part < 1 ? `, by ${percent(one.part * 100)} of them` : ''}`,
  }),
  highlights: (one) => ({
    keys: whole(one.keys),
    memory: bytes(one.memory_bytes.value),
    file: bytes(one.file.bytes),
  }),
  rows: (one) => ({
    file: facts([
      plainText(one.file.name),
      `${bytes(one.file.bytes)}, format ${one.file.format} of ${one.file.product}`,
      one.file.version && `saved by ${one.file.version}`,
      one.file.saved && `at ${one.file.saved}`,
    ]),
    'loaded by': `${one.server.version}: ${bytes(one.server.memory_bytes)} in all, in ${one.duration_s.toFixed(0)} s`,
    'Valkey 9': newerWords(one),
    lifetimes: `${percent((100 * one.expiring_keys) / Math.max(1, one.keys))} of the keys have one`,
    picture: one.picture,
  }),
  tables: (one) => [
    table('Patterns by memory', one.patterns.slice(0, 50), patternColumns(one), {
      notes:
        one.part < 1
          ? ['Intervals are of 95 %, as a part of the keys was loaded.']
          : ['All keys, by MEMORY USAGE of each with all its elements.'],
    }),
    table('Largest keys', one.largest, largestColumns),
  ],
  warnings: ({ warnings }) => [...warnings],
})
