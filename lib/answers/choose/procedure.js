// Finds which of several candidates costs least, as a generator without a clock: it yields blocks, in each of which every
// remaining candidate runs once, and receives the costs of their runs. Candidates leave early: at each look those that
// surely cost more, and at two points the half that costs more so far. The intervals allow for all looks and all
// candidates. Pure, seeded.
import { exactly } from '../../base/typed.js'
import { pairedOf } from '../../result/paired.js'
import { untilSure } from '../../result/rounds-plan.js'
import { smallestEffect } from '../../result/verdict.js'
import { shuffle, uniforms } from '../find/random.js'

/**
 * @import { RoundsPlan } from '../../result/rounds-plan.js'
 * @import { Verdict } from '../../result/verdict.js'
 *
 * @typedef {{ round: number, order: readonly number[] }} Block candidates by their numbers, in the order in which they run
 *
 * @typedef {object} Outcome of a run
 * @property {number | null} cost above 0; null: the run does not count
 * @property {string | null} why not
 * @property {boolean} final the candidate cannot run on this machine or target
 *
 * @typedef {'left' | 'worse' | 'halved' | 'not-counted' | 'refused'} Place worse: it surely costs more; halved: it left because it cost
 *   more so far; left: it was there at the end
 *
 * @typedef {object} Standing of a candidate against the one with the lowest cost
 * @property {Place} place
 * @property {number} rounds that count, of it
 * @property {number | null} ratio of its cost to the lowest; null: it has none
 * @property {number | null} low
 * @property {number | null} high
 * @property {Verdict | null} verdict of it against the lowest
 * @property {string | null} why no run of it counted
 *
 * @typedef {object} Decision
 * @property {'best' | 'same' | 'unclear' | 'none'} state same: those that remain differ by less than the smallest effect; none: no
 *   candidate has two rounds that count
 * @property {number | null} chosen
 * @property {number[]} alike those that cannot be told apart from the lowest, the simplest first
 * @property {Standing[]} standings
 * @property {number} rounds
 * @property {number} runs
 *
 * @typedef {object} ChoosingOptions
 * @property {number} count of candidates
 * @property {readonly number[]} simplicity of each: the lowest is the simplest
 * @property {number} runs at most
 * @property {number} [effect] the smallest change that matters
 * @property {number} [seed]
 * @property {RoundsPlan} [plan] of as many candidates and runs
 */

export const leastRounds = 4
const mostRounds = 24
// At these parts of all rounds the half that costs more leaves.
const halvings = [1 / 3, 2 / 3]
// A candidate leaves after this many runs that do not count, if more do not count than do; the machine may cause fewer.
const mostLost = 3

/** Rounds and looks. As losers leave, the others may have more rounds than all candidates would. @param {number} count @param {number} runs */
export const roundsPlan = (count, runs) =>
  untilSure(
    leastRounds,
    Math.min(mostRounds, Math.max(leastRounds, Math.floor((1.5 * runs) / Math.max(1, count)))),
    Math.max(2, count),
  )

/** The costs so far, and the candidates that remain. @param {number} count @param {number} effect @param {RoundsPlan} plan */
const racing = (count, effect, plan) => {
  const all = Array.from({ length: count }, (_, i) => i)
  /** @type {Map<number, number>[]} cost by round */
  const costs = all.map(() => new Map())
  /** @type {string[][]} */
  const lost = all.map(() => [])
  /** @type {Place[]} */
  const places = all.map(() => 'left')
  const left = () => all.filter((i) => places[i] === 'left')

  /** The cost of b relative to a, over the rounds that both have. @param {number} a @param {number} b */
  const against = (a, b) => {
    const pairs = [...costs[a]].flatMap(([round, cost]) => {
      const other = costs[b].get(round)
      return other === undefined ? [] : [{ a: cost, b: other, first: exactly('a') }]
    })
    if (pairs.length === 0) return null
    return pairedOf(pairs, { effect, criticals: plan.criticals(pairs.length) })
  }
  /** The candidate with the lowest cost over the rounds that all have. @param {readonly number[]} some */
  const lowest = (some) =>
    some.reduce((/** @type {number | null} */ best, i) => {
      if (costs[i].size < 2) return best
      return best === null || (against(best, i)?.change ?? 0) < 0 ? i : best
    }, null)
  return {
    all,
    costs,
    lost,
    places,
    left,
    against,
    lowest,
    /** Whether all of these cost the same. @param {readonly number[]} some */
    areSame: (some) => some.every((i) => some.every((j) => i >= j || against(i, j)?.verdict === 'same')),
    leaveWorse() {
      const there = left()
      for (const i of there)
        if (there.some((j) => j !== i && against(j, i)?.verdict === 'worse')) places[i] = 'worse'
    },
    halve() {
      const best = lowest(left())
      if (best === null) return
      const change = (/** @type {number} */ i) => (i === best ? 0 : (against(best, i)?.change ?? 0))
      const ordered = left().sort((i, j) => change(i) - change(j))
      for (const i of ordered.slice(Math.max(2, Math.ceil(ordered.length / 2))))
        if (change(i) > effect) places[i] = 'halved'
    },
    /** @param {number} i @param {Outcome} outcome @param {number} round */
    note(i, { cost, why, final }, round) {
      if (cost !== null) costs[i].set(round, cost)
      else {
        lost[i].push(why ?? 'its run did not count')
        if (final) places[i] = 'refused'
        else if (lost[i].length >= mostLost && lost[i].length > costs[i].size) places[i] = 'not-counted'
      }
    },
  }
}

/** The decision once no more runs come. @param {ReturnType<typeof racing>} race @param {readonly number[]} simplicity @param {number} effect @returns {Omit<Decision, 'rounds' | 'runs'>} */
const decided = (race, simplicity, effect) => {
  const { all, costs, places } = race
  const ranked = all.filter((i) => ['left', 'halved'].includes(places[i]) && costs[i].size > 1)
  const best = race.lowest(race.left())
  const difference = (/** @type {number} */ i) => (best === null || i === best ? null : race.against(best, i))
  const unproven = ranked.filter((i) => i === best || difference(i)?.verdict !== 'worse')
  const change = (/** @type {number} */ i) => difference(i)?.change ?? 0
  const simplest = (/** @type {number} */ i, /** @type {number} */ j) =>
    Number(change(i) > effect) - Number(change(j) > effect) ||
    simplicity[i] - simplicity[j] ||
    change(i) - change(j)
  const alike = best === null ? [] : unproven.sort(simplest)
  return {
    state: best === null ? 'none' : alike.length === 1 ? 'best' : race.areSame(alike) ? 'same' : 'unclear',
    chosen: alike[0] ?? null,
    alike,
    standings: all.map((i) => {
      const found = difference(i)
      const at = (/** @type {number | null | undefined} */ share) =>
        i === best ? 1 : share === null || share === undefined ? null : 1 + share
      return {
        place: places[i] === 'halved' && found?.verdict === 'worse' ? 'worse' : places[i],
        rounds: costs[i].size,
        ratio: at(found?.change),
        low: at(found?.low),
        high: at(found?.high),
        verdict: found?.verdict ?? null,
        why: race.lost[i].at(-1) ?? null,
      }
    }),
  }
}

/** @param {ChoosingOptions} options @returns {Generator<Block, Decision, Outcome[]>} outcomes in the order of the block */
export function* choosing({
  count,
  simplicity,
  runs: mostRuns,
  effect = smallestEffect,
  seed = 1,
  plan = roundsPlan(count, mostRuns),
}) {
  const { rounds, looks } = plan
  const halvedAfter = halvings.map((share) => looks.find((look) => look >= share * rounds))
  const race = racing(count, effect, plan)
  const { left, places } = race
  const uniform = uniforms(seed)
  let used = 0
  let round = 0
  /** @type {number[]} */
  let order = []
  while (round < rounds && left().length > 0) {
    if (round >= leastRounds && used + left().length > mostRuns) break
    round++
    // Mirrored, so that a drift over two rounds affects all candidates equally.
    order = round % 2 === 1 ? shuffle(left(), uniform) : order.filter((i) => places[i] === 'left').reverse()
    used += order.length
    const outcomes = yield { round, order }
    for (const [at, i] of order.entries()) race.note(i, outcomes[at], round)
    if (!looks.includes(round)) continue
    race.leaveWorse()
    if (left().length <= 1 || race.areSame(left())) break
    if (halvedAfter.includes(round)) race.halve()
  }
  race.leaveWorse()
  return { ...decided(race, simplicity, effect), rounds: round, runs: used }
}

/**
 * The runs of blocks, one after the other.
 * @param {ReturnType<typeof choosing>} blocks
 * @returns {Generator<{ at: number, round: number }, Decision, { outcome: Outcome }>}
 */
export function* runsOfBlocks(blocks) {
  let step = blocks.next()
  while (!step.done) {
    const { round, order } = step.value
    /** @type {Outcome[]} */
    const outcomes = []
    for (const at of order) outcomes.push((yield { at, round }).outcome)
    step = blocks.next(outcomes)
  }
  return step.value
}
