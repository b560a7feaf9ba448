// Tables of a profile: its keys, its commands, and what else the server reports.
import { asPercent, bytes, count, micros, plainText, rate } from '../base/units.js'
import { cell } from '../report/cells.js'

/**
 * @import { Table } from '../report/sections.js'
 * @import { Effect, Advice } from '../answers/profile/advise.js'
 * @import { Profile } from '../answers/profile/profile.js'
 */

/** 12,000, or 12,000 (11,000 to 13,000). @param {{ value: number, low: number, high: number } | null} estimate @param {(n: number) => string} [shown] */
const between = (estimate, shown = (n) => count(Math.round(n))) => {
  if (estimate === null) return cell('–', null)
  const { value, low, high } = estimate
  const isSure = high - low < 0.005 * Math.max(1, value)
  return cell(isSure ? shown(value) : `${shown(value)} (${shown(low)} to ${shown(high)})`, value)
}

/** @param {number | null} s */
const seconds = (s) =>
  s === null
    ? '–'
    : s >= 7200
      ? `${(s / 3600).toFixed(1)} h`
      : s >= 120
        ? `${(s / 60).toFixed(1)} min`
        : `${s.toFixed(1)} s`

const shown = (/** @type {string} */ text) => cell(plainText(text).slice(0, 80))
/** @param {(n: number) => string} words @param {number | null} n */
const figure = (words, n) => cell(n === null ? '–' : words(n), n)
/** @param {string} title @param {string[]} left @param {string[]} right @param {Table['rows']} rows @param {{ note?: string, answer?: true }} [more] @returns {Table[]} */
const tableOf = (title, left, right, rows, more = {}) =>
  rows.length === 0
    ? []
    : [
        {
          title,
          ...more,
          columns: [
            ...left.map((text) => ({ title: text, left: /** @type {const} */ (true) })),
            ...right.map((text) => ({ title: text })),
          ],
          rows,
        },
      ]

/** @param {Profile} profile @returns {Table} */
const keysTable = ({ patterns }) => {
  const encodings = (/** @type {Record<string, number>} */ counts) =>
    Object.entries(counts)
      .sort((a, b) => b[1] - a[1])
      .map(([name]) => name)
      .join(', ')
  const byMemory = [...patterns].sort((a, b) => (b.memory_bytes?.value ?? 0) - (a.memory_bytes?.value ?? 0))
  return {
    title: 'Keys by memory',
    note: 'Intervals are of 95 %, from the sample.',
    answer: true,
    columns: [
      { title: 'pattern', left: true },
      { title: 'type', left: true },
      { title: 'keys' },
      { title: 'memory' },
      { title: 'bytes or elements' },
      { title: 'time left, median' },
      { title: 'encoding', left: true },
    ],
    rows: byMemory
      .slice(0, 50)
      .map((one) => [
        shown(one.pattern),
        cell(one.type ?? 'not looked at'),
        between(one.keys),
        between(one.memory_bytes, bytes),
        between(one.size),
        cell(one.expiring === 0 ? 'stays' : seconds(one.left_s.median), one.left_s.median),
        cell(encodings(one.encodings)),
      ]),
  }
}

const fromWords = /** @type {Record<string, string>} */ ({
  'LATENCY HISTOGRAM':
    'p50 and p99 are at most so much, by LATENCY HISTOGRAM in the time that was looked at.',
  INFO: 'p50 and p99 are those since the server started.',
})
const logWords = { slow: 'slow', 'large-request': 'large request', 'large-reply': 'large reply' }

/** @param {Profile} profile @returns {Table[]} */
const usesTables = ({ commands, times_from: from, clients, hot_keys: hot, slots, log, key_sizes: sizes }) => [
  ...tableOf(
    'Commands',
    ['command'],
    ['per second', 'share', 'time of a call', 'p50', 'p99'],
    commands
      .slice(0, 50)
      .map((one) => [
        shown(one.name),
        figure(rate, one.per_s),
        figure(asPercent, one.share),
        figure(micros, one.us_per_call),
        figure(micros, one.p50_us),
        figure(micros, one.p99_us),
      ]),
    { answer: true, ...(from && { note: fromWords[from] }) },
  ),
  ...tableOf(
    'Connections',
    ['name and library'],
    ['connections', 'commands/s', 'in', 'out'],
    clients.groups.map((one) => [
      shown(one.name),
      figure(count, one.connections),
      figure(rate, one.commands_per_s),
      figure((n) => `${bytes(n)}/s`, one.bytes_in_per_s),
      figure((n) => `${bytes(n)}/s`, one.bytes_out_per_s),
    ]),
  ),
  ...tableOf(
    'Hot keys',
    ['pattern'],
    ['keys', 'CPU', 'CPU of the hottest', 'network', 'uses/s'],
    (hot?.patterns ?? []).map((one) => [
      shown(one.pattern),
      figure(count, one.keys),
      figure(asPercent, one.cpu_share),
      figure(asPercent, one.busiest_cpu_share),
      figure(asPercent, one.net_share),
      figure(rate, one.per_s),
    ]),
    {
      note: `The keys that HOTKEYS named${hot?.tracked_s ? `, in ${hot.tracked_s.toFixed(0)} s` : ''}, by pattern. Commands in scripts are not among them, and a command with several keys counts for all in equal parts.`,
    },
  ),
  ...tableOf(
    'Busy slots',
    [],
    ['slot', 'keys', 'CPU of a core', 'in', 'out'],
    (slots ?? []).map((one) => [
      cell(String(one.slot), one.slot),
      figure(count, one.keys),
      figure(asPercent, one.cpu_share),
      figure((n) => `${bytes(n)}/s`, one.bytes_in_per_s),
      figure((n) => `${bytes(n)}/s`, one.bytes_out_per_s),
    ]),
    { note: 'By CLUSTER SLOT-STATS. A server with cluster-slot-stats-enabled no counts keys alone.' },
  ),
  ...tableOf(
    'Slow and large commands',
    ['kind', 'command', 'pattern'],
    ['in the log', 'most'],
    (log?.groups ?? []).map((one) => [
      cell(logWords[one.kind]),
      shown(one.command),
      shown(one.pattern ?? '–'),
      figure(count, one.count),
      figure(one.kind === 'slow' ? micros : bytes, one.most),
    ]),
    {
      note: `The last entries of ${log?.from}, which holds ${count(log?.length ?? 0)}; values are not kept.`,
    },
  ),
  ...tableOf(
    'Sizes of all keys',
    ['type', 'in'],
    ['keys', 'median', 'p99'],
    sizes.map((one) => [
      cell(one.type),
      cell(one.unit),
      figure(count, one.keys),
      figure(count, one.median),
      figure(count, one.p99),
    ]),
    { note: 'By INFO keysizes, in powers of two: at least so much.' },
  ),
]

/** @param {Profile} profile @returns {Table[]} */
export const profileTables = (profile) => [keysTable(profile), ...usesTables(profile)]

const signed = (/** @type {number} */ part) => `${part > 0 ? '+' : '−'}${asPercent(Math.abs(part))}`
/** @param {(n: number) => string} words @param {Effect} effect */
const changeCell = (words, { now, other, change: { value, low, high } }) => ({
  ...cell(`${words(now)} to ${words(other)}: ${signed(value)}`, value),
  detail: `${signed(low)} to ${signed(high)}`,
})

/** @param {{ advice: Advice[], silent: { pattern: string, title: string }[], plays: number } | null} found @returns {Table[]} */
export const adviceTables = (found) => {
  if (found === null) return []
  const { advice, silent, plays } = found
  const rest = [
    silent.length > 0
      ? `Without a sure gain: ${count(silent.length)} of ${count(plays)} that were played.`
      : '',
    'Of an item, in pipelines, on a local server of this machine; intervals are of 95 % for all together.',
  ]
  const rows = advice.map((one) => [
    shown(one.pattern),
    changeCell(bytes, one.memory_bytes),
    changeCell(micros, one.cpu_us),
    { ...cell(one.title), detail: `if ${one.when}` },
  ])
  const none = [[cell('–'), cell('–'), cell('–'), cell('nothing that was played surely costs less')]]
  return tableOf(
    'What costs less',
    ['pattern', 'memory', 'CPU of making and reading', 'form'],
    [],
    rows.length > 0 ? rows : none,
    { answer: true, note: rest.filter(Boolean).join(' ') },
  )
}
