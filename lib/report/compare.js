// Two sides of repeats, figure by figure, and what thresholds make of them.
import { OptionError } from '../errors.js'
import { FIGURES, grossCost, netCost, shownFigure } from './figures.js'
import { alignedTable, wrapped } from './layout.js'
import { settingsThatDiffer } from './sides.js'
import { centre, differenceOf, median } from './statistics.js'
import { keeps } from './thresholds.js'
import { count, dash, plainText, several } from './units.js'

/**
 * @typedef {import('./figures.js').Figure} Figure
 * @typedef {import('./sides.js').Side} Side
 * @typedef {import('./sides.js').Series} Series
 * @typedef {import('./thresholds.js').Threshold} Threshold
 * @typedef {import('./statistics.js').Difference} Difference
 *
 * @typedef {object} Row
 * @property {string} label of the row of an experiment, '' of runs
 * @property {Figure} figure
 * @property {number[]} a
 * @property {number[]} b
 * @property {Difference} difference
 *
 * @typedef {{ threshold: string, label: string, value: number | null, relative: boolean, figure: Figure, passed: boolean, sure: boolean }} Ruling
 * @typedef {{ baseline: Side, other: Side, rows: Row[], rulings: Ruling[], unmatched: string[], settings: ReturnType<typeof settingsThatDiffer> }} Comparison
 */

/**
 * @param {Side} baseline
 * @param {Side} other
 * @param {readonly Threshold[]} thresholds
 * @returns {Comparison}
 */
export const comparisonOf = (baseline, other, thresholds) => {
  const pairs = other.series.flatMap((b) => {
    // Runs have no label: whatever was varied, they are set against each other.
    const a = baseline.series.find(({ label }) => label === b.label)
    return a ? [{ label: b.label, a, b }] : []
  })
  const labels = (/** @type {Side} */ { series }) => series.map(({ label }) => label)
  const unmatched = [...baseline.series, ...other.series]
    .map(({ label }) => label)
    .filter((label) => !labels(baseline).includes(label) || !labels(other).includes(label))
  const rows = pairs.flatMap(({ label, a, b }) => rowsOf(label, a, b))
  if (rows.length === 0)
    throw new OptionError(
      `${baseline.name} and ${other.name}: nothing stands on both sides; runs are compared with runs, an experiment with one that has rows of the same names`,
    )
  const rulings = [
    ...pairs.flatMap(({ label, b }) => thresholds.map((threshold) => rulingOf(threshold, label, rows, b))),
    // A limit that nothing was held against is not kept.
    ...unmatched.flatMap((label) => thresholds.map((threshold) => rulingOf(threshold, label, rows, null))),
  ]
  // Those of the rows of an experiment are its factors, and stand in their labels.
  const settings = pairs.flatMap(({ a, b }) => settingsThatDiffer(a, b))
  return { baseline, other, rows, rulings, unmatched, settings }
}

/** @param {string} label @param {Series} a @param {Series} b @returns {Row[]} */
const rowsOf = (label, a, b) =>
  FIGURES.flatMap((figure) => {
    const [ofA, ofB] = [a.samples[figure.name] ?? [], b.samples[figure.name] ?? []]
    if (ofA.length === 0 || ofB.length === 0) return []
    // Counts of what went wrong are 0 on both sides of a good comparison, and say nothing.
    if (figure.unit === 'count' && [...ofA, ...ofB].every((value) => value === 0)) return []
    return [{ label, figure, a: ofA, b: ofB, difference: differenceOf(ofA, ofB) }]
  })

/**
 * A relative limit is held against the difference itself, an absolute one against the median of the other side.
 * @param {Threshold} threshold
 * @param {string} label
 * @param {Row[]} rows
 * @param {Series | null} b null: the row stands on one side only
 * @returns {Ruling}
 */
const rulingOf = (threshold, label, rows, b) => {
  const { figure, relative } = threshold
  const row = rows.find((one) => one.label === label && one.figure === figure)
  const samples = b?.samples[figure.name] ?? []
  const absolute = samples.length > 0 ? median(samples) : null
  const difference = row?.difference.relative ? row.difference : null
  const value = relative ? (difference?.change ?? null) : absolute
  const passed = keeps(threshold, value)
  const ends = relative ? [difference?.low ?? null, difference?.high ?? null] : [value]
  const sure = ends.every((end) => end !== null && keeps(threshold, end) === passed)
  return { threshold: threshold.text, label, figure, relative, value, passed, sure }
}

/** One server's hottest and coldest master are its only one: they would say the same again. @param {Row[]} rows */
const distinct = (rows) => {
  const said = (/** @type {Row} */ { a, b }, /** @type {Row} */ other) =>
    JSON.stringify([a, b]) === JSON.stringify([other.a, other.b])
  const all = rows.find(({ figure }) => figure.name === 'master.cpu_pct')
  return rows.filter((row) => !/^(hottest|coldest)_/.test(row.figure.name) || !all || !said(row, all))
}

/** +4.8 %, or ×12 from ten times on @param {number | null} part */
const changeWords = (part) => {
  if (part === null) return dash
  if (part >= 9) return `×${count(1 + part)}`
  const pct = part * 100
  const digits = Math.abs(pct) < 9.995 ? 1 : 0
  const shown = Math.abs(pct).toFixed(digits)
  return `${Number(shown) === 0 ? '' : pct < 0 ? '−' : '+'}${shown} %`
}

/** What reads as 0 has no sign. @param {string} shown @param {number} value */
const signed = (shown, value) => (/[1-9]/.test(shown) ? `${value < 0 ? '−' : '+'}${shown}` : shown)

/** @param {Row} row @param {number | null} value */
const differenceWords = ({ figure, difference }, value) =>
  difference.relative || value === null
    ? changeWords(value)
    : signed(shownFigure(figure, Math.abs(value)), value)

/** @param {Row} row */
const verdictWords = ({ figure, difference: { verdict, change } }) => {
  if (verdict === 'unknown') return 'too few repeats'
  if (verdict === 'indistinguishable') return verdict
  if (figure.better === null) return 'differs'
  return change < 0 === (figure.better === 'lower') ? 'better' : 'worse'
}

/** @param {Row} row */
const intervalWords = (row) =>
  row.difference.low === null
    ? dash
    : `${differenceWords(row, row.difference.low)} to ${differenceWords(row, row.difference.high)}`

// Wider than this, a difference that matters could hide in it.
const wide = 0.2

/** @param {Row} row */
const isWide = ({ difference: { relative, low, high } }) =>
  relative && low !== null && high !== null && high - low > wide

const shownSettings = 6

/** In what the sides were not the same, so that nobody compares two things at once unawares. @param {Comparison} comparison @param {string} label */
const settingsWords = ({ settings }, label) => {
  if (label !== '') return []
  const told = settings.map(
    ({ name, baseline, other }) => `${name} ${baseline.join(' and ')} → ${other.join(' and ')}`,
  )
  const more = told.length > shownSettings ? `, and ${told.length - shownSettings} more` : ''
  const mixed = settings.filter(({ baseline, other }) => baseline.length > 1 || other.length > 1)
  return [
    told.length > 0
      ? `settings that differ: ${plainText(told.slice(0, shownSettings).join(', '))}${more}`
      : 'all settings are the same',
    ...(mixed.length > 0
      ? [
          `! not repeats of one thing: a side has runs of more than one ${mixed.map(({ name }) => name).join(', ')}`,
        ]
      : []),
  ]
}

/** @param {Side} side @param {string} label */
const repeatsOf = (side, label) => side.series.find((series) => series.label === label)?.repeats ?? 0

/**
 * The sentence in which a comparison ends: by the figure that Millrace is for.
 * @param {Comparison} comparison
 * @param {string} label
 */
export const conclusionOf = ({ baseline, other, rows }, label) => {
  const own = rows.filter((row) => row.label === label)
  const of = (/** @type {string} */ name) => own.find(({ figure }) => figure.name === name)
  const row = of(netCost) ?? of(grossCost) ?? own[0]
  if (!row) return 'nothing was measured on both sides'
  const { difference, figure } = row
  const what = `${figure.title}: ${plainText(other.name)}`
  if (difference.verdict === 'indistinguishable')
    return `${what} is indistinguishable from ${plainText(baseline.name)} (${intervalWords(row)})${isWide(row) ? '; what lies in that interval would not show: more or longer runs narrow it' : ''}`
  const sure =
    difference.verdict === 'differs'
      ? `, 95 % sure of ${intervalWords(row)}`
      : '; repeat both to know how sure that is'
  const times = difference.relative ? ` (${(1 + difference.change).toFixed(2)} times)` : ''
  return `${what} against ${plainText(baseline.name)}: ${differenceWords(row, difference.change)}${times}${sure}`
}

/**
 * @param {Comparison} comparison
 * @param {{ columns?: number }} [look]
 * @returns {string}
 */
export const comparisonText = (comparison, { columns = 110 } = {}) => {
  const { baseline, other, rows, rulings, unmatched } = comparison
  const labels = [...new Set(rows.map(({ label }) => label))]
  const tables = labels.flatMap((label) => {
    const head = `${plainText(other.name)} (${several(repeatsOf(other, label), 'run')}) against ${plainText(baseline.name)} (${several(repeatsOf(baseline, label), 'run')})`
    const lines = alignedTable(
      [
        { title: 'figure', left: true, cell: ({ figure }) => figure.name },
        {
          title: 'baseline',
          cell: ({ figure, a, difference }) => shownFigure(figure, centre(a, difference)),
        },
        { title: 'other', cell: ({ figure, b, difference }) => shownFigure(figure, centre(b, difference)) },
        { title: 'difference', cell: (row) => differenceWords(row, row.difference.change) },
        { title: '95 % interval', cell: intervalWords, rank: 1 },
        { title: '', left: true, cell: verdictWords },
      ],
      distinct(rows.filter((row) => row.label === label)),
      columns,
    )
    const note = "geometric means of the runs; the interval is Welch's, of their logarithms"
    return [
      `${label ? `${plainText(label)}: ` : ''}${head}`,
      ...settingsWords(comparison, label).flatMap((line) => wrapped(line, columns)),
      ...lines,
      note,
      ...wrapped(conclusionOf(comparison, label), columns),
      '',
    ]
  })
  const invalid = [baseline, other].flatMap(({ series }) => series.flatMap((one) => one.invalid))
  return [
    ...tables,
    ...unmatched.map((label) => `only on one side: ${plainText(label)}`),
    ...(invalid.length > 0 ? [`compared although they are not valid: ${plainText(invalid.join(', '))}`] : []),
    ...rulings.map(rulingWords),
  ]
    .join('\n')
    .replace(/\n*$/, '\n')
}

/** @param {Ruling} ruling */
export const rulingWords = ({ threshold, label, value, relative, figure, passed, sure }) => {
  const found =
    value === null
      ? `${dash} (not measured on both sides)`
      : relative
        ? changeWords(value)
        : shownFigure(figure, value)
  const doubt =
    sure || value === null || !relative ? '' : '; the interval holds the limit, more repeats would tell'
  return `threshold ${passed ? 'kept' : 'FAILED'}: ${threshold}, ${label ? `${plainText(label)}: ` : ''}found ${found}${doubt}`
}

/** For programs. @param {Comparison} comparison */
export const comparisonData = ({ baseline, other, rows, rulings, unmatched, settings }) => ({
  schema: 1,
  kind: 'comparison',
  baseline: baseline.name,
  other: other.name,
  settings,
  figures: rows.map(({ label, figure, a, b, difference }) => ({
    label,
    name: figure.name,
    unit: figure.unit,
    baseline: { centre: centre(a, difference), median: median(a), samples: a },
    other: { centre: centre(b, difference), median: median(b), samples: b },
    ...difference,
  })),
  thresholds: rulings.map(({ threshold, label, figure, value, passed, sure }) => ({
    threshold,
    label,
    name: figure.name,
    value,
    passed,
    sure,
  })),
  unmatched,
})
