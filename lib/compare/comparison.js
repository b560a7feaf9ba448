// Two sides, metric by metric, and the outcome of thresholds. Pure.

import { mean, median, sampleVariance } from 'simple-statistics'
import { studentTail } from '../base/distributions.js'
import { OptionError } from '../base/errors.js'
import { comparedMetrics } from '../result/chief-metrics.js'
import { METRICS, measureNamed } from '../result/metrics.js'
import { pairedOf } from '../result/paired.js'
import { smallestEffect } from '../result/verdict.js'
import { rulingOf } from './gates.js'
import { separateOf } from './separate.js'

/**
 * @import { MeasureRow } from '../result/metrics.js'
 * @import { Criticals } from '../result/rounds-plan.js'
 * @import { Threshold } from '../result/thresholds.js'
 * @import { Difference } from '../result/verdict.js'
 * @import { Ruling } from './gates.js'
 * @import { Rank } from './many.js'
 * @import { Series, Side } from './sides.js'
 * @import { Pair } from '../result/paired.js'
 *
 * @typedef {MeasureRow} Figure
 *
 * @typedef {object} Row
 * @property {string} label of the row of an experiment, '' of runs
 * @property {Figure} figure
 * @property {boolean} primary whether it has a verdict
 * @property {readonly number[]} a a value a run, in the order of the runs
 * @property {readonly number[]} b
 * @property {Difference} difference
 *
 * @typedef {object} Comparison
 * @property {'paired' | 'separate'} design
 * @property {{ name: string, invalid: readonly string[] }} baseline
 * @property {{ name: string, invalid: readonly string[] }} other
 * @property {Record<string, { a: number, b: number }>} runs how many each label has
 * @property {number} effect the smallest change that matters
 * @property {Row[]} rows
 * @property {Ruling[]} rulings
 * @property {readonly string[]} unmatched labels of one side only
 * @property {readonly Rank[]} [ranks] of more than two sides, whose names are the labels: the order a metric
 * @property {readonly { name: string, baseline: readonly string[], other: readonly string[] }[]} settings
 * @property {readonly { code: string, message: string }[]} warnings
 */

/** The settings that differ between two series, or within one. @param {Series} a @param {Series} b */
const settingsThatDiffer = ({ settings: ofA }, { settings: ofB }) =>
  [...new Set([...Object.keys(ofA), ...Object.keys(ofB)])].flatMap((name) => {
    const [baseline, other] = [ofA[name] ?? ['none'], ofB[name] ?? ['none']]
    return baseline.length > 1 || other.length > 1 || baseline[0] !== other[0]
      ? [{ name, baseline, other }]
      : []
  })

// Signs that rounds are not repeats of one thing: a slow first one, outliers, a trend, the order.

/** Two-sided probability of a mean this far from 0 by chance. @param {number[]} values */
const chanceOf = (values) => {
  const spread = sampleVariance(values)
  const middle = mean(values)
  if (spread === 0) return middle === 0 ? 1 : 0
  return 2 * studentTail(Math.abs(middle) / Math.sqrt(spread / values.length), values.length - 1)
}

/** The slope of values over their number, and how probable one as steep is by chance. @param {number[]} values */
const slopeOf = (values) => {
  const n = values.length
  const middle = (n - 1) / 2
  const level = mean(values)
  const square = values.reduce((sum, _, at) => sum + (at - middle) ** 2, 0)
  const slope = values.reduce((sum, value, at) => sum + (at - middle) * (value - level), 0) / square
  const rest = values.reduce((sum, value, at) => sum + (value - level - slope * (at - middle)) ** 2, 0)
  if (rest === 0) return { slope, chance: slope === 0 ? 1 : 0 }
  return { slope, chance: 2 * studentTail(Math.abs(slope) / Math.sqrt(rest / (n - 2) / square), n - 2) }
}

// Iglewicz and Hoaglin's limit for a modified z-score.
const outlierScore = 3.5
const leastForDrift = 5
const rareByChance = 0.01

/** Places of values that lie far from the others. @param {number[]} values @param {number} least in their own unit */
const outliersIn = (values, least) => {
  const middle = median(values)
  const spread = 1.4826 * median(values.map((value) => Math.abs(value - middle)))
  return values.flatMap((value, at) =>
    Math.abs(value - middle) > Math.max(outlierScore * spread, least) ? [at] : [],
  )
}

const roundsWords = (/** @type {number[]} */ places) =>
  `${places.length === 1 ? 'round' : 'rounds'} ${places.map((at) => at + 1).join(', ')}`

/**
 * Signs that the rounds are not repeats of one thing, with advice.
 * @param {readonly Pair[]} pairs in the order in which they ran
 * @param {{ title: string, effect?: number }} about
 * @returns {{ code: string, message: string }[]}
 */
export const driftIn = (pairs, { title, effect = smallestEffect }) => {
  if (pairs.length < leastForDrift || !pairs.every(({ a, b }) => a > 0 && b > 0)) return []
  const least = Math.log1p(effect)
  const changes = pairs.map(({ a, b }) => Math.log(b / a))
  const levels = pairs.map(({ a, b }) => Math.log(a * b) / 2)
  const secondAgainstFirst = pairs.map(({ a, b, first }) =>
    first === 'a' ? Math.log(b / a) : Math.log(a / b),
  )
  const percent = (/** @type {number} */ log) => `${(Math.expm1(log) * 100).toFixed(1).replace('-', '−')} %`
  const outliers = outliersIn(changes, least)
  const later = levels.slice(1)
  const firstApart = outliersIn(levels, least).includes(0)
  const trend = slopeOf(firstApart ? later : levels)
  const drift = trend.slope * (pairs.length - 1)
  const order = mean(secondAgainstFirst)
  /** @type {[boolean, string, string][]} */
  const found = [
    [
      firstApart,
      'first-round',
      `${title}: the first round is ${percent(levels[0] - median(later))} from the others, so the servers or the machine were not warm: lengthen --warm-up`,
    ],
    [
      outliers.length > 0,
      'outlier',
      `${title}: ${roundsWords(outliers)} ${outliers.length === 1 ? 'differs' : 'differ'} from the others by much more than they do from each other: look for other load at that time, or run more rounds`,
    ],
    [
      trend.chance < rareByChance && Math.abs(drift) > least,
      'trend',
      `${title}: changed by ${percent(drift)} from the first round to the last on both sides (heat, a neighbour, a growing data set). Pairs cancel it, but absolute values are not those of a steady machine`,
    ],
    [
      chanceOf(secondAgainstFirst) < rareByChance && Math.abs(order) > least,
      'order',
      `${title}: the second run of a round is ${percent(order)} from the first, whichever side it is: the first run changes the second. ABBA order cancels this; lengthen --warm-up`,
    ],
  ]
  return found.filter(([applies]) => applies).map(([, code, message]) => ({ code, message }))
}

/** 10:04:31 @param {number} epochMs */
const clock = (epochMs) => new Date(epochMs).toISOString().slice(11, 19)

/**
 * Runs of both sides that alternate are changed alike by a drift over time; blocks are not.
 * @param {string} nameA
 * @param {readonly number[]} startsA epoch ms
 * @param {string} nameB
 * @param {readonly number[]} startsB
 * @returns {{ code: string, message: string }[]}
 */
export const orderWarnings = (nameA, startsA, nameB, startsB) => {
  const least = Math.min(startsA.length, startsB.length)
  if (least < 2) return []
  const order = [
    ...startsA.map((atMs) => ({ atMs, side: 'a' })),
    ...startsB.map((atMs) => ({ atMs, side: 'b' })),
  ].sort((one, other) => one.atMs - other.atMs)
  const turns = order.filter(({ side }, at) => at > 0 && side !== order[at - 1].side).length
  // ABBA ABBA changes sides once a round.
  if (turns >= least) return []
  const span = (/** @type {readonly number[]} */ starts) =>
    `from ${clock(Math.min(...starts))} to ${clock(Math.max(...starts))}`
  const how = turns === 1 ? 'not interleaved' : 'hardly interleaved'
  return [
    {
      code: 'not-interleaved',
      message: `the runs were ${how}: ${nameA} started ${span(startsA)}, ${nameB} ${span(startsB)} UTC. A change of the machine in between counts as a difference, and no interval includes it; 'millrace compare' alternates its sides`,
    },
  ]
}

/**
 * Metrics with a verdict: those that Millrace is for, and those of thresholds.
 * @param {Record<string, readonly number[]>} a
 * @param {Record<string, readonly number[]>} b
 * @param {readonly Threshold[]} thresholds
 */
const primaryNames = (a, b, thresholds) => {
  const wanted = [...comparedMetrics, ...thresholds.map(({ figure }) => [figure.name])]
  return [
    ...new Set(
      wanted.flatMap((names) => names.find((name) => a[name]?.length > 0 && b[name]?.length > 0) ?? []),
    ),
  ]
}

/**
 * Aliases of one measure do not count twice: on one server the busiest master is the only one.
 * @param {Row[]} rows those with a verdict first
 */
const distinct = (rows) => {
  const seen = new Set()
  return rows.filter(({ label, figure, a, b }) => {
    const values = JSON.stringify([label, figure.unit, a, b])
    if (seen.has(values)) return false
    seen.add(values)
    return true
  })
}

/**
 * @param {string} label
 * @param {{ a: Record<string, readonly number[]>, b: Record<string, readonly number[]> }} samples
 * @param {readonly Threshold[]} thresholds
 * @param {(figure: Figure, a: readonly number[], b: readonly number[]) => Difference} differenceOf
 * @returns {Row[]}
 */
const rowsOf = (label, { a, b }, thresholds, differenceOf) => {
  const first = primaryNames(a, b, thresholds)
  const others = METRICS.filter(({ name }) => !first.includes(name))
  const rows = [...first.map(measureNamed), ...others].flatMap((figure) => {
    const { name } = figure
    const [ofA, ofB] = [a[name] ?? [], b[name] ?? []]
    if (ofA.length === 0 || ofB.length === 0) return []
    // Counts of failures that are 0 on both sides are left out.
    if (figure.unit === 'count' && [...ofA, ...ofB].every((value) => value === 0)) return []
    return [
      {
        label,
        figure,
        primary: first.includes(name),
        a: ofA,
        b: ofB,
        difference: differenceOf(figure, ofA, ofB),
      },
    ]
  })
  return distinct(rows)
}

/** @param {readonly Threshold[]} thresholds @param {string} label @param {readonly Row[]} rows @param {Record<string, readonly number[]>} other */
const rulingsOf = (thresholds, label, rows, other) =>
  thresholds.map((threshold) => {
    const { name, unit } = threshold.figure
    const own = rows.filter((row) => row.label === label)
    const samples = other[name] ?? []
    // One that is an alias of another row has its difference there.
    const row =
      own.find(({ figure }) => figure.name === name) ??
      own.find(({ figure, b }) => figure.unit === unit && samples.length > 0 && `${b}` === `${samples}`)
    return rulingOf(threshold, label, row?.difference ?? null, samples)
  })

/** Writers and readers have no metric of the same meaning. @param {readonly Series[]} all */
const refuseKinds = (all) => {
  const kinds = [...new Set(all.flatMap(({ settings }) => settings.kind ?? []))]
  if (kinds.length > 1)
    throw new OptionError(`runs of a ${kinds.join(' and of a ')} are not compared with each other`)
}

/**
 * Finished runs or experiments.
 * @param {Side} baseline
 * @param {Side} other
 * @param {readonly Threshold[]} thresholds
 * @param {{ effect?: number, allowInvalid?: boolean, sides?: number }} [asked] sides: how many are compared with the baseline, and it
 * @returns {Comparison}
 */
export const comparisonOf = (
  baseline,
  other,
  thresholds,
  { effect = smallestEffect, allowInvalid = false, sides = 2 } = {},
) => {
  refuseKinds([...baseline.series, ...other.series])
  const pairs = other.series.flatMap((b) => {
    // Runs have no label, so they are compared whatever differs between them.
    const a = baseline.series.find(({ label }) => label === b.label)
    return a ? [{ label: b.label, a, b }] : []
  })
  const labels = (/** @type {Side} */ { series }) => series.map(({ label }) => label)
  const unmatched = [...baseline.series, ...other.series]
    .map(({ label }) => label)
    .filter((label) => !labels(baseline).includes(label) || !labels(other).includes(label))
  const invalid = (/** @type {Side} */ { series }) => series.flatMap((one) => one.invalid)
  // The rows of an experiment are made of their valid runs, and say so.
  const notValid = [baseline, other].flatMap(({ series }) =>
    series.flatMap((one) => (one.label === '' ? one.invalid : [])),
  )
  if (notValid.length > 0 && !allowInvalid)
    throw new OptionError(
      `not valid: ${notValid.slice(0, 5).join(', ')}${notValid.length > 5 ? ` and ${notValid.length - 5} more` : ''}; they may show the limit of the load generator or the network. --invalid compares them nevertheless`,
    )
  const rows = pairs.flatMap(({ label, a, b }) =>
    rowsOf(label, { a: a.samples, b: b.samples }, thresholds, (figure, ofA, ofB) =>
      separateOf(ofA, ofB, { better: figure.better, effect, sides }),
    ),
  )
  if (rows.length === 0)
    throw new OptionError(
      `${baseline.name} and ${other.name}: no metric is on both sides; runs are compared with runs, an experiment with one that has rows of the same names`,
    )
  return {
    design: 'separate',
    baseline: { name: baseline.name, invalid: invalid(baseline) },
    other: { name: other.name, invalid: invalid(other) },
    runs: Object.fromEntries(pairs.map(({ label, a, b }) => [label, { a: a.repeats, b: b.repeats }])),
    effect,
    rows,
    rulings: [
      ...pairs.flatMap(({ label, b }) => rulingsOf(thresholds, label, rows, b.samples)),
      // A threshold on a row that one side lacks fails.
      ...unmatched.flatMap((label) => rulingsOf(thresholds, label, [], {})),
    ],
    unmatched,
    // Those of the rows of an experiment are its factors, and are in their labels.
    settings: pairs.flatMap(({ a, b }) => settingsThatDiffer(a, b)),
    warnings: pairs.flatMap(({ a, b }) => orderWarnings(baseline.name, a.starts, other.name, b.starts)),
  }
}

/**
 * @typedef {object} Round a pair of runs that both came to a result, at the same rate
 * @property {number} round
 * @property {'a' | 'b'} first which ran first
 * @property {Record<string, number>} a its metrics
 * @property {Record<string, number>} b
 */

/**
 * Rounds that were run for this comparison.
 * @param {object} found
 * @param {string} found.baseline
 * @param {string} found.other
 * @param {readonly Round[]} found.rounds that count
 * @param {Comparison['settings']} found.settings
 * @param {{ thresholds: readonly Threshold[], effect: number }} found.gate
 * @param {Criticals} [found.criticals]
 * @returns {Comparison}
 */
export const comparisonOfRounds = ({ baseline, other, rounds, settings, gate, criticals }) => {
  const { thresholds, effect } = gate
  const measured = METRICS.map(({ name }) => name).filter(
    (name) => rounds.length > 0 && rounds.every(({ a, b }) => name in a && name in b),
  )
  const samples = (/** @type {'a' | 'b'} */ side) =>
    Object.fromEntries(measured.map((name) => [name, rounds.map((round) => round[side][name])]))
  const [a, b] = [samples('a'), samples('b')]
  const pairs = (/** @type {string} */ name) =>
    rounds.map((round) => ({ a: round.a[name], b: round.b[name], first: round.first }))
  const rows = rowsOf('', { a, b }, thresholds, ({ name, better }) =>
    pairedOf(pairs(name), { better, effect, criticals }),
  )
  return {
    design: 'paired',
    baseline: { name: baseline, invalid: [] },
    other: { name: other, invalid: [] },
    runs: { '': { a: rounds.length, b: rounds.length } },
    effect,
    rows,
    rulings: rulingsOf(thresholds, '', rows, b),
    unmatched: [],
    settings,
    warnings: rows
      .filter((row) => row.primary)
      .flatMap(({ figure: { name, title } }) => driftIn(pairs(name), { title, effect })),
  }
}
