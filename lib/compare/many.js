// More than two sides: each against the first, and which of them are best. Pure.
import { MEASURES } from '../result/measures.js'
import { comparisonOfRounds } from './comparison.js'
import { middleOf } from './gates.js'
import { pairedOf } from './paired.js'
import { roundsOf } from './rounds.js'

/**
 * @typedef {import('./comparison.js').Comparison} Comparison
 * @typedef {import('../experiments/summary.js').TurnResult} TurnResult
 * @typedef {{ id: string, name: string }} Named a side and its cell
 *
 * @typedef {object} Rank
 * @property {import('./comparison.js').Figure} figure
 * @property {boolean} primary
 * @property {{ name: string, centre: number }[]} order the best value first
 * @property {string[]} best sides than which no other is better beyond the smallest effect; the best one is among them in
 *   at least 95 % of comparisons. Empty: the metric has no verdict
 * @property {boolean} alike no two of those differ by more than the smallest effect
 */

/**
 * The rounds of each side with each other one.
 * @param {readonly TurnResult[]} turns
 */
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

/** Metrics that every round of every side has. @param {readonly import('./comparison.js').Round[]} rounds */
const commonNames = (rounds) =>
  MEASURES.map(({ name }) => name).filter((name) => rounds.every(({ a, b }) => name in a && name in b))

/** @param {Record<string, number>} figures @param {readonly string[]} names */
const only = (figures, names) => Object.fromEntries(names.map((name) => [name, figures[name]]))

/**
 * @param {object} found
 * @param {readonly Named[]} found.sides the first is the baseline
 * @param {readonly TurnResult[]} found.turns in the order in which they ran
 * @param {Comparison['settings']} found.settings
 * @param {readonly import('../result/thresholds.js').Threshold[]} found.thresholds for each side but the first
 * @param {number} found.effect
 * @param {import('./plan.js').RoundsPlan['criticals']} found.criticals by the number of rounds
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
      thresholds,
      effect,
      criticals: criticals(rounds.length),
    }),
  }))
  const labelled = compared.map(({ side: { name }, comparison }) => ({
    rows: comparison.rows.map((row) => ({ ...row, label: name })),
    rulings: comparison.rulings.map((ruling) => ({ ...ruling, label: name })),
    runs: /** @type {const} */ ([name, comparison.runs['']]),
    warnings: comparison.warnings.map(({ code, message }) => ({ code, message: `${name}: ${message}` })),
  }))
  const rows = labelled.flatMap((each) => each.rows)
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
    comparison: {
      design: 'paired',
      baseline: { name: baseline.name, invalid: [] },
      other: { name: others.map(({ name }) => name).join(', '), invalid: [] },
      runs: Object.fromEntries(labelled.map((each) => each.runs)),
      effect,
      rows,
      rulings: labelled.flatMap((each) => each.rulings),
      unmatched: [],
      settings,
      // A round that was lost by the baseline was lost by all.
      warnings: [
        ...new Map(
          [...lost, ...labelled.flatMap((each) => each.warnings)].map((each) => [each.message, each]),
        ).values(),
      ],
      ranks: ranksOf({
        sides: ranked.length > 0 ? [baseline, ...ranked] : [],
        rows,
        pairOf,
        effect,
        criticals,
      }),
    },
  }
}

/**
 * @param {object} found
 * @param {readonly Named[]} found.sides with valid rounds
 * @param {Comparison['rows']} found.rows
 * @param {ReturnType<typeof pairsOf>} found.pairOf
 * @param {number} found.effect
 * @param {import('./plan.js').RoundsPlan['criticals']} found.criticals
 * @returns {Rank[]}
 */
const ranksOf = ({ sides, rows, pairOf, effect, criticals }) => {
  const figures = [...new Map(rows.map((row) => [row.figure.name, row])).values()]
  return figures.map(({ figure, primary }) => {
    const { name, better } = figure
    /** @param {Named} a @param {Named} b */
    const verdictOf = (a, b) => {
      const { rounds } = pairOf(a, b)
      const pairs = rounds
        .map((round) => ({ a: round.a[name], b: round.b[name], first: round.first }))
        .filter((pair) => pair.a !== undefined && pair.b !== undefined)
      return pairs.length === 0
        ? 'unclear'
        : pairedOf(pairs, { better, effect, criticals: criticals(rounds.length) }).verdict
    }
    const samples = (/** @type {Named} */ side) => {
      const other = sides.find((each) => each !== side) ?? side
      return pairOf(side, other).rounds.flatMap(({ a }) => a[name] ?? [])
    }
    const order = sides
      .map((side) => ({ name: side.name, centre: middleOf(samples(side)).value }))
      .sort((a, b) => (better === 'more' ? b.centre - a.centre : a.centre - b.centre))
    const isRanked = primary && better !== 'neither'
    const best = isRanked
      ? sides.filter((side) => sides.every((other) => other === side || verdictOf(side, other) !== 'better'))
      : []
    const alike = best.every((side, at) =>
      best.slice(at + 1).every((other) => verdictOf(side, other) === 'same'),
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
