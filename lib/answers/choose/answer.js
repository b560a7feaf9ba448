// The answer of `millrace choose`: what was chosen, and what each candidate costs against it. Pure.
import { ratioOf } from '../../result/ratio.js'
import { figureOfRow } from '../../result/statistics.js'
import { metricNames } from './cost.js'

/**
 * @import { Metric, Metrics } from './cost.js'
 * @import { Decision } from './procedure.js'
 *
 * @typedef {object} Candidate
 * @property {string} name
 * @property {string} model
 * @property {string | null} server
 * @property {number} simplicity
 * @property {string[]} gives_up
 *
 * @typedef {object} RunRecord
 * @property {number} candidate
 * @property {number} round
 * @property {Metrics} metrics
 * @property {boolean} counts
 * @property {string[]} reasons why it is not valid
 * @property {number | null} achieved items a second
 *
 * @typedef {{ value: number, low: number, high: number }} Figure
 * @typedef {{ ratio: number, low: number | null, high: number | null }} Ratio
 */

/** Runs of a candidate that are valid, by round. @param {readonly RunRecord[]} runs @param {number} at */
const countedOf = (runs, at) =>
  new Map(
    runs.filter(({ candidate, counts }) => counts && candidate === at).map((run) => [run.round, run.metrics]),
  )

/** @param {ReturnType<typeof countedOf>} own @param {Metric} metric @returns {Figure | null} */
const figureOf = (own, metric) => {
  const samples = [...own.values()].flatMap((values) => values[metric] ?? [])
  if (samples.length === 0) return null
  const { mean, median, low, high } = figureOfRow(samples)
  return { value: mean ?? median, low, high }
}

/** @param {ReturnType<typeof countedOf>} of @param {ReturnType<typeof countedOf>} to @param {Metric} metric @returns {Ratio | null} */
const ratioIn = (of, to, metric) => {
  const pairs = [...of].flatMap(([round, values]) => {
    const [a, b] = [values[metric], to.get(round)?.[metric]]
    return a === undefined || b === undefined ? [] : [{ of: a, to: b }]
  })
  const found = ratioOf(pairs)
  return found && { ratio: found.ratio, low: found.low, high: found.high }
}

/** @template T @param {(metric: Metric) => T} make @returns {Record<Metric, T>} */
const byMetric = (make) =>
  /** @type {any} */ (Object.fromEntries(metricNames.map((name) => [name, make(name)])))

/**
 * Whether another candidate costs less CPU or memory, and not more of the other.
 * @param {readonly { metrics: Record<Metric, Figure | null> }[]} all
 * @param {{ metrics: Record<Metric, Figure | null> }} one
 */
const isDominated = (all, { metrics: { cpu, memory } }) =>
  cpu !== null &&
  memory !== null &&
  all.some(
    ({ metrics: other }) =>
      other.cpu !== null &&
      other.memory !== null &&
      other.cpu.value <= cpu.value &&
      other.memory.value <= memory.value &&
      (other.cpu.value < cpu.value || other.memory.value < memory.value),
  )

/**
 * @param {object} found
 * @param {readonly Candidate[]} found.candidates
 * @param {Decision} found.decision
 * @param {readonly RunRecord[]} found.runs
 */
export const candidatesAnswer = ({ candidates, decision, runs }) => {
  const { standings, chosen, alike } = decision
  const counted = candidates.map((_, at) => countedOf(runs, at))
  const rows = candidates.map((candidate, at) => {
    const { place, rounds, ratio, low, high, verdict, why } = standings[at]
    const own = runs.filter((run) => run.candidate === at)
    return {
      ...candidate,
      place:
        at === chosen
          ? /** @type {const} */ ('chosen')
          : alike.includes(at)
            ? /** @type {const} */ ('alike')
            : place,
      rounds,
      runs: own.length,
      cost: ratio === null ? null : { ratio, low, high, verdict },
      metrics: byMetric((metric) => figureOf(counted[at], metric)),
      against_chosen:
        chosen === null ? null : byMetric((metric) => ratioIn(counted[at], counted[chosen], metric)),
      why: place === 'refused' || place === 'not-counted' ? why : null,
      not_valid: own.filter(({ counts }) => !counts).length,
    }
  })
  const rank = (/** @type {(typeof rows)[number]} */ { place, cost, name }) => {
    const at = alike.findIndex((one) => candidates[one].name === name)
    return at >= 0 ? at : place === 'refused' || place === 'not-counted' ? 1e9 : 1000 + (cost?.ratio ?? 1e6)
  }
  return rows.map((row) => ({ ...row, dominated: isDominated(rows, row) })).sort((a, b) => rank(a) - rank(b))
}

/** @typedef {ReturnType<typeof candidatesAnswer>[number]} CandidateAnswer */
