// Compares the profile of a replayed application with that of the application itself. Pure.
import { alignedTable } from '../../lib/base/layout.js'

/**
 * @typedef {{ low: number, high: number }} Range
 * @typedef {{ p50: number, p99: number }} Pings microseconds of a bystander
 * @typedef {{ cpu_pct: number } | Pings} Turn of an application or its replay
 *
 * @typedef {object} Bar
 * @property {string} name
 * @property {string} unit
 * @property {number} original
 * @property {number} other
 * @property {number} apart as a share of the original, or points
 * @property {number} limit
 * @property {Range | null} said by the profile: where a replay ends
 * @property {'within' | 'covered' | 'outside'} ruling
 *
 * @typedef {object} Cost of a profile
 * @property {number} commands_share of all commands of the server
 * @property {number} cpu_share of a core
 * @property {number} server_cpu_share of the server's own CPU
 *
 * @typedef {object} Line
 * @property {string} id
 * @property {'profiles' | 'cpu' | 'bystander'} part
 * @property {'replay' | 'control'} kind
 * @property {string} application
 * @property {string} server
 * @property {string} version
 * @property {string} started
 * @property {string} hardware
 * @property {Bar[]} bars
 * @property {Turn[]} [turns] of the application, its replay, the application, and so on
 * @property {Cost} [cost]
 */

/** Commands about data, as shares of all of them. @param {any} profile @returns {Record<string, number>} */
const sharesOf = ({ commands }) => {
  const data = commands.filter((/** @type {any} */ one) => one.is_data)
  const all = data.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.per_s, 0)
  return Object.fromEntries(data.map((/** @type {any} */ one) => [one.name, one.per_s / all]))
}

/** What Millrace keeps beside is not of the application. @param {any} profile */
const patternsOf = ({ patterns }) =>
  patterns.filter((/** @type {any} */ { pattern }) => !pattern.startsWith('millrace'))

/** Its plan and its lease, in a replay. @param {any} profile @param {'keys' | 'memory_bytes'} what */
const ownOf = ({ patterns }, what) =>
  patterns
    .filter((/** @type {any} */ { pattern }) => pattern.startsWith('millrace'))
    .reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + (one[what]?.value ?? 0), 0)

/** The median of most keys that expire. @param {any} profile @returns {number | null} */
const lifetimeOf = (profile) =>
  patternsOf(profile).find((/** @type {any} */ { expiring }) => expiring > 0.5)?.left_s.median ?? null

/** @param {number} original @param {number} other @param {number} limit @param {Range | null} said */
const rulingOf = (original, other, limit, said) =>
  Math.abs(other - original) <= limit * Math.abs(original)
    ? 'within'
    : said && other >= said.low && other <= said.high
      ? 'covered'
      : 'outside'

/** @param {readonly number[]} numbers @param {number} part */
const quantile = (numbers, part) =>
  [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))]

// Of a window that is cut short, the p99 is its largest.
const leastPings = 100

/**
 * The median of the p99 of each window: a moment in which the machine did something else is in one of them.
 * @param {readonly number[]} all
 * @param {readonly (readonly number[])[]} windows
 * @returns {Pings}
 */
export const pingsOf = (all, windows) => {
  const whole = windows.filter((window) => window && window.length >= leastPings)
  const each = (whole.length > 0 ? whole : [all]).map((window) => quantile(window, 0.99))
  return { p50: quantile(all, 0.5), p99: quantile(each, 0.5) }
}

/** Only of samples. @param {any} profile */
const isSampled = ({ complete }) => !complete

/** @param {string} name @param {string} unit @param {number} of @param {number} is @param {number} limit @param {Range | null} [said] @returns {Bar} */
const bar = (name, unit, of, is, limit, said = null) => ({
  ...{ name, unit, original: of, other: is, apart: is / of - 1, limit, said },
  ruling: rulingOf(of, is, limit, said),
})

/** @param {any} a profile.json of the application @param {any} b of its replay @returns {Bar[]} */
export const barsOf = (a, b) => {
  const expected = a.workload.expected ?? {}
  const [before, after] = [sharesOf(a), sharesOf(b)]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const points = names.map((name) => Math.abs((after[name] ?? 0) - (before[name] ?? 0)))
  const worst = names[points.indexOf(Math.max(...points))]
  const part = isSampled(a) || isSampled(b) ? 0.1 : 0.05
  const [left, leftOther] = [lifetimeOf(a), lifetimeOf(b)]
  return [
    {
      ...{ name: 'share', unit: worst, original: before[worst] ?? 0, other: after[worst] ?? 0 },
      ...{ apart: Math.max(...points), limit: 0.02, said: null },
      ruling: Math.max(...points) <= 0.02 ? 'within' : 'outside',
    },
    bar('bytes in', 'B/s', a.bytes_in_per_s, b.bytes_in_per_s, 0.05, expected.bytes_in_per_s),
    bar('bytes out', 'B/s', a.bytes_out_per_s, b.bytes_out_per_s, 0.05, expected.bytes_out_per_s),
    bar(
      'memory',
      'B',
      a.memory_bytes,
      b.memory_bytes - ownOf(b, 'memory_bytes'),
      part,
      expected.memory_bytes,
    ),
    bar('keys', '', a.keys, Math.round(b.keys - ownOf(b, 'keys')), 0.05, expected.keys),
    ...(left === null || leftOther === null
      ? []
      : [bar('lifetime', 's', left, leftOther, 0.1, expected.left_s)]),
  ]
}

/**
 * Application and replay in turn: as much of what changes with time is in the mean of each. As a control, the turns of the
 * application between others beside the mean of these.
 * @param {readonly Turn[]} turns an odd number
 * @param {Range | null} [said] of the CPU
 */
export const turnBars = (turns, said = null) => {
  const own = turns.filter((_, i) => i % 2 === 0)
  const inner = own.filter((_, i) => i % 2 === 1)
  const outer = own.filter((_, i) => i % 2 === 0)
  const replays = turns.filter((_, i) => i % 2 === 1)
  /** @param {readonly Turn[]} of @param {string} figure */
  const mean = (of, figure) =>
    of.reduce((sum, turn) => sum + /** @type {any} */ (turn)[figure], 0) / of.length
  const bars = (/** @type {readonly Turn[]} */ of, /** @type {readonly Turn[]} */ is) =>
    'cpu_pct' in turns[0]
      ? [bar('server CPU', '% of a core', mean(of, 'cpu_pct'), mean(is, 'cpu_pct'), 0.05, said)]
      : ['p50', 'p99'].map((figure) =>
          bar(`bystander ${figure}`, 'us', mean(of, figure), mean(is, figure), 0.25),
        )
  return { replay: bars(own, replays), control: bars(outer, inner) }
}

/** @param {any} profile @returns {Cost} */
export const costOf = ({ own }) => ({
  ...{ commands_share: own.commands_share, cpu_share: own.cpu_share },
  server_cpu_share: own.server_cpu_share,
})

const shown = (/** @type {number} */ n) =>
  n >= 1000 ? Math.round(n).toLocaleString('en') : n >= 10 ? n.toFixed(1) : n.toFixed(3)

/** @param {Line} line */
export const barLines = ({ id, kind, bars }) =>
  bars.map(
    ({ name, unit, original, other, apart, said, ruling }) =>
      `${id} ${kind}: ${name} ${shown(original)}, ${shown(other)} ${unit} (${name === 'share' ? `${(apart * 100).toFixed(2)} points` : `${apart < 0 ? '' : '+'}${(apart * 100).toFixed(1)} %`})${said ? `, said ${shown(said.low)} to ${shown(said.high)}` : ''}: ${ruling}`,
  )

/** How many of each ruling. @param {readonly Line[]} lines @param {(bar: Bar) => boolean} [of] */
export const countsOf = (lines, of = () => true) => {
  const bars = lines.flatMap((line) => line.bars).filter(of)
  const count = (/** @type {Bar['ruling']} */ ruling) => bars.filter((one) => one.ruling === ruling).length
  return { bars: bars.length, within: count('within'), covered: count('covered'), outside: count('outside') }
}

/** How many times as much, or as little. @param {Bar} bar */
const timesApart = ({ name, apart }) => (name === 'share' ? 1 + apart : Math.max(1 + apart, 1 / (1 + apart)))

/**
 * How far an application was from itself on another server at most. A replay that is no further at most is
 * not told from it.
 * @param {readonly Line[]} controls
 * @param {string} name
 */
export const ownDistance = (controls, name) => {
  const bars = controls.flatMap((line) => line.bars).filter((bar) => bar.name === name)
  const most = Math.max(1, ...bars.map(timesApart))
  return { most: most - 1, isFurther: (/** @type {Bar} */ bar) => timesApart(bar) > most }
}

/** @param {readonly Line[]} lines @param {string} name */
export const medianApart = (lines, name) =>
  quantile(
    lines.flatMap(({ bars }) => bars.filter((bar) => bar.name === name).map(({ apart }) => apart)),
    0.5,
  )

/** @param {readonly Line[]} lines */
export const barNames = (lines) => [...new Set(lines.flatMap(({ bars }) => bars.map(({ name }) => name)))]

/** @param {readonly Line[]} lines */
export const summaryLines = (lines) =>
  /** @type {const} */ (['replay', 'control']).flatMap((kind) => {
    const own = lines.filter((line) => line.kind === kind)
    if (own.length === 0) return []
    const all = countsOf(own)
    return [
      ...alignedTable(
        [
          { title: kind, left: true, cell: ({ name }) => name },
          { title: 'within', cell: ({ within }) => String(within) },
          { title: 'covered', cell: ({ covered }) => String(covered) },
          { title: 'outside', cell: ({ outside }) => String(outside) },
        ],
        barNames(own).map((name) => ({ name, ...countsOf(own, (bar) => bar.name === name) })),
        80,
      ),
      `${all.bars} bars: ${all.within} within, ${all.covered} covered, ${all.outside} outside`,
    ]
  })
