// The ratio of the rates that two sides sustain, from searches in paired, alternating rounds. Pure.

import { rounded } from '../answers/find/report.js'
import { several } from '../base/units.js'
import { pairedOf } from '../result/paired.js'

/**
 * @import { State } from '../answers/find/answer.js'
 *
 * @typedef {object} Searched the answer of a side's search
 * @property {State} state
 * @property {{ low: number | null, middle: number | null, high: number | null }} find
 * @property {string} sentence
 * @property {string} folder
 *
 * @typedef {{ round: number, first: 'a' | 'b', a: Searched, b: Searched }} FindRound
 * @typedef {ReturnType<typeof ratioOfSearches>} FindRatio
 * @typedef {{ a: string, b: string }} Names
 */

/** A search that was not steady has a most likely rate too; the interval over the rounds shows how much it varies. @param {Searched} search */
const hasRate = ({ state, find }) =>
  state === 'found' || (state === 'unsteady' && find.low !== null && find.middle !== null)

/** Rates limited by the client, and rounds without a rate, have no ratio. @param {FindRound} round */
const counts = ({ a, b }) => hasRate(a) && hasRate(b)

/**
 * Of the most likely rates, as the ends of intervals also depend on the noise of a search.
 * @param {readonly FindRound[]} rounds
 */
export const ratioOfSearches = (rounds) => {
  const counted = rounds.filter(counts)
  const unsteady = counted.flatMap(({ a, b }) => [a, b]).filter(({ state }) => state === 'unsteady').length
  const pairs = counted.map(({ first, a, b }) => ({
    first,
    a: Number(a.find.middle),
    b: Number(b.find.middle),
  }))
  if (pairs.length === 0) return { rounds: 0, a: null, b: null, ratio: null, low: null, high: null, unsteady }
  const { centreA, centreB, change, low, high } = pairedOf(pairs, { better: 'more' })
  const end = (/** @type {number | null} */ value) => (value === null ? null : 1 + value)
  return {
    rounds: pairs.length,
    a: centreA,
    b: centreB,
    ratio: 1 + change,
    low: end(low),
    high: end(high),
    unsteady,
  }
}

const shown = (/** @type {number | null} */ ratio) => Number(ratio).toFixed(3)

/** How its sentence begins, unless the rates differ. @param {Pick<FindRatio, 'low' | 'high'>} found */
export const undecidedWords = ({ low, high }) =>
  low === null || high === null ? 'cannot tell' : low <= 1 && high >= 1 ? 'no clear difference' : null

/** One sentence. @param {FindRatio} found @param {Names} names @param {number} played rounds */
const ratioSentence = (found, names, played) => {
  const { rounds, ratio, low, high, a, b, unsteady } = found
  const undecided = undecidedWords(found)
  const counted = `${rounds === played ? several(rounds, 'round') : `${rounds} of ${several(played, 'round')}`}`
  const words =
    low === null
      ? `both searches found a rate in ${counted}, and an interval takes two`
      : `${names.b} sustains ${shown(ratio)} times the rate of ${names.a} (95 % sure between ${shown(low)} and ${shown(high)}; ${names.b} ${rounded(b)}, ${names.a} ${rounded(a)} a second; ${counted}${unsteady > 0 ? `, in which ${unsteady} of ${rounds * 2} searches were not steady` : ''})`
  return undecided ? `${undecided}: ${words}` : words
}

/** As compare.json has it. @param {readonly FindRound[]} rounds @param {Names} names @param {number} played rounds */
export const ratioAnswer = (rounds, names, played) => {
  const ratio = ratioOfSearches(rounds)
  return {
    schema: 1,
    kind: 'compare-find',
    baseline: names.a,
    other: names.b,
    sentence: ratioSentence(ratio, names, played),
    ratio,
    rounds,
  }
}
