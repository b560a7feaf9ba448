// More than two sides: each against the first, and which of them are best. Pure.
import { METRICS } from '../result/metrics.js'
import { pairedOf } from '../result/paired.js'
import { comparisonOf, comparisonOfRounds } from './comparison.js'
import { middleOf } from './gates.js'
import { roundsOf } from './rounds.js'
import { separateOf } from './separate.js'

/**
 * @import { TurnResult } from '../experiments/summary.js'
 * @import { Threshold } from '../result/thresholds.js'
 * @import { Comparison, Figure, Round } from './comparison.js'
 * @import { RoundsPlan } from '../result/rounds-plan.js'
 * @import { Side } from './sides.js'
 * @import { Verdict } from '../result/verdict.js'
 *
 * @typedef {{ id: string, name: string }} Named a side and its cell
 *
 * @typedef {object} Rank
 * @property {Figure} figure
 * @property {boolean} primary
 * @property {readonly { name: string, centre: number }[]} order the best value first
 * @property {readonly string[]} best sides that no other side beats by more than the smallest effect; the best one is among them in
 *   at least 95 % of comparisons. Empty: the metric has no verdict
 * @property {boolean} alike no two of those differ by more than the smallest effect
 */

/** The rounds of each side with each other one. @param {readonly TurnResult[]} turns */
const pairsOf = (turns) => {
  /** @type {Map<string, ReturnType<typeof roundsOf>>} */
  const known = new Map()
  /** @param {Named} a @param {Named} b */
  return (a, b) => {
    const key = `${a.id} ${b.id}`
    const found = known.get(key) ?? roundsOf(turns, [a.id, b.id])
    known.set(key, found)
    return found
  }
}

/** Metrics that every round of every side has. @param {readonly Round[]} rounds */
const commonNames = (rounds) =>
  METRICS.map(({ name }) => name).filter((name) => rounds.every(({ a, b }) => name in a && name in b))

/** @param {Record<string, number>} figures @param {readonly string[]} names */
const only = (figures, names) => Object.fromEntries(names.map((name) => [name, figures[name]]))

/**
 * @param {object} found
 * @param {readonly Named[]} found.sides the first is the baseline
 * @param {readonly TurnResult[]} found.turns in the order in which they ran
 * @param {Comparison['settings']} found.settings
 * @param {readonly Threshold[]} found.thresholds for each side but the first
 * @param {number} found.effect
 * @param {RoundsPlan['criticals']} found.criticals by the number of rounds
 * @returns {{ comparison: Comparison, isValid: boolean, factor: number, counted: number[] }} counted: the rounds
 */
export const comparisonOfMany = ({ sides, turns, settings, thresholds, effect, criticals }) => {
  const [baseline, ...others] = sides
  const pairOf = pairsOf(turns)
  const found = others.map((side) => ({ side, ...pairOf(baseline, side) }))
  const names = commonNames(found.flatMap(({ rounds }) => rounds))
  const compared = found.map(({ side, rounds }) => ({
    side,
    comparison: comparisonOfRounds({
      baseline: baseline.name,
      other: side.name,
      rounds: rounds.map((round) => ({ ...round, a: only(round.a, names), b: only(round.b, names) })),
      settings,
      gate: { thresholds, effect },
      criticals: criticals(rounds.length),
    }),
  }))
  const lost = found.flatMap(({ side, warnings }) =>
    warnings.map(({ code, message }) => ({
      code,
      message: code === 'invalid' ? `${side.name} and ${baseline.name}: ${message}` : message,
    })),
  )
  const ranked = found.filter(({ isValid }) => isValid).map(({ side }) => side)
  return {
    isValid: ranked.length === others.length,
    factor: Math.min(...found.map(({ factor }) => factor)),
    counted: [...new Set(found.flatMap(({ rounds }) => rounds.map(({ round }) => round)))].sort(
      (a, b) => a - b,
    ),
    comparison: joined(
      {
        design: 'paired',
        baseline: { name: baseline.name, invalid: [] },
        compared: compared.map(({ side: { name }, comparison }) => ({ name, comparison })),
        effect,
        settings,
        lost,
      },
      {
        ranked: ranked.length > 0 ? [baseline, ...ranked] : [],
        samplesOf: (side, name) => {
          const other = sides.find((each) => each !== side) ?? side
          return pairOf(side, other).rounds.flatMap(({ a }) => a[name] ?? [])
        },
        verdictOf: (a, b, { name, better }) => {
          const { rounds } = pairOf(a, b)
          const pairs = rounds
            .map((round) => ({ a: round.a[name], b: round.b[name], first: round.first }))
            .filter((pair) => pair.a !== undefined && pair.b !== undefined)
          return pairs.length === 0
            ? 'unclear'
            : pairedOf(pairs, { better, effect, criticals: criticals(rounds.length) }).verdict
        },
      },
    ),
  }
}

/**
 * Finished runs of more than two sides, all of them with repeats.
 * @param {readonly Side[]} sides the first is the baseline
 * @param {readonly Threshold[]} thresholds
 * @param {{ effect: number, allowInvalid?: boolean }} asked
 * @returns {Comparison}
 */
export const comparisonOfFinished = (sides, thresholds, { effect, allowInvalid }) => {
  const [baseline, ...others] = sides
  const compared = others.map((side) => ({
    name: side.name,
    comparison: comparisonOf(baseline, side, thresholds, { effect, allowInvalid, sides: sides.length }),
  }))
  const named = sides.map(({ name }) => ({ id: name, name }))
  const samplesOf = (/** @type {Named} */ side, /** @type {string} */ name) =>
    sides.find((each) => each.name === side.name)?.series[0].samples[name] ?? []
  const settings = new Set(compared.flatMap(({ comparison }) => comparison.settings.map(({ name }) => name)))
  const valuesOf = (/** @type {Side} */ side, /** @type {string} */ name) =>
    (side.series[0].settings[name] ?? ['none']).join(' and ')
  return joined(
    {
      design: 'separate',
      baseline: compared[0].comparison.baseline,
      compared,
      effect,
      settings: [...settings].map((name) => ({
        name,
        baseline: [valuesOf(baseline, name)],
        other: others.map((side) => valuesOf(side, name)),
      })),
      lost: [],
    },
    {
      ranked: named,
      samplesOf,
      verdictOf: (a, b, { name, better }) => {
        const [ofA, ofB] = [samplesOf(a, name), samplesOf(b, name)]
        return ofA.length === 0 || ofB.length === 0
          ? 'unclear'
          : separateOf(ofA, ofB, { better, effect, sides: sides.length }).verdict
      },
    },
  )
}

/**
 * Each side against the baseline as one comparison, with their order.
 * @param {object} found
 * @param {Comparison['design']} found.design
 * @param {Comparison['baseline']} found.baseline
 * @param {readonly { name: string, comparison: Comparison }[]} found.compared
 * @param {number} found.effect
 * @param {Comparison['settings']} found.settings
 * @param {Comparison['warnings']} found.lost
 * @param {Ranking} ranking
 * @returns {Comparison}
 */
const joined = ({ design, baseline, compared, effect, settings, lost }, ranking) => {
  const labelled = compared.map(({ name, comparison }) => ({
    rows: comparison.rows.map((row) => ({ ...row, label: name })),
    rulings: comparison.rulings.map((ruling) => ({ ...ruling, label: name })),
    runs: /** @type {const} */ ([name, comparison.runs['']]),
    warnings: comparison.warnings.map(({ code, message }) => ({ code, message: `${name}: ${message}` })),
  }))
  const rows = labelled.flatMap((each) => each.rows)
  return {
    design,
    baseline,
    other: {
      name: compared.map(({ name }) => name).join(', '),
      invalid: compared.flatMap(({ comparison }) => comparison.other.invalid),
    },
    runs: Object.fromEntries(labelled.map((each) => each.runs)),
    effect,
    rows,
    rulings: labelled.flatMap((each) => each.rulings),
    unmatched: [],
    settings,
    // A round lost by the baseline is lost for all.
    warnings: [
      ...new Map(
        [...lost, ...labelled.flatMap((each) => each.warnings)].map((each) => [each.message, each]),
      ).values(),
    ],
    ranks: ranksOf(ranking, rows),
  }
}

/**
 * @typedef {(side: Named, metric: string) => readonly number[]} SamplesOf
 * @typedef {(a: Named, b: Named, figure: Figure) => Verdict} VerdictOf
 * @typedef {{ ranked: readonly Named[], samplesOf: SamplesOf, verdictOf: VerdictOf }} Ranking ranked: sides that have a place,
 *   the baseline among them
 *
 * @param {Ranking} ranking
 * @param {Comparison['rows']} rows
 * @returns {Rank[]}
 */
const ranksOf = ({ ranked, samplesOf, verdictOf }, rows) => {
  const figures = [...new Map(rows.map((row) => [row.figure.name, row])).values()]
  return figures.map(({ figure, primary }) => {
    const { name, better } = figure
    const sides = ranked.filter((side) => samplesOf(side, name).length > 0)
    const order = sides
      .map((side) => ({ name: side.name, centre: middleOf(samplesOf(side, name)).value }))
      .sort((a, b) => (better === 'more' ? b.centre - a.centre : a.centre - b.centre))
    const best =
      primary && better !== 'neither'
        ? sides.filter((side) =>
            sides.every((other) => other === side || verdictOf(side, other, figure) !== 'better'),
          )
        : []
    const alike = best.every((side, at) =>
      best.slice(at + 1).every((other) => verdictOf(side, other, figure) === 'same'),
    )
    const places = order.map((each) => each.name)
    return {
      figure,
      primary,
      order,
      best: best.map((side) => side.name).sort((a, b) => places.indexOf(a) - places.indexOf(b)),
      alike: alike && best.length > 1,
    }
  })
}
