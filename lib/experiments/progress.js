// How far a matrix is, and how long it will go on.
import { clockTime, count, micros, percent, several } from '../base/units.js'
import { stateBy, stateWords } from '../result/verdict.js'

/**
 * @typedef {import('./matrix.js').Cell} Cell
 * @typedef {import('./matrix.js').Turn} Turn
 * @typedef {import('./summary.js').TurnResult} TurnResult
 */

// Start and end of the programs, and emptying the servers, until turns have shown how long they take.
const overheadMs = 5000

/** @param {Cell} cell @param {{ seconds: number, warmUpS: number }} terms */
const leastMs = ({ legs }, { seconds, warmUpS }) => (warmUpS + legs.length * seconds) * 1000

/** What a turn came to, in a few words. @param {TurnResult} result */
const resultWords = ({ skipped, failed, legs, factor }) => {
  if (skipped) return `not run: ${skipped}`
  if (failed) return `no result: ${failed}`
  const { figures, valid, reasons } = legs[legs.length - 1]
  return [
    `${count(figures['rate.achieved'])} items/s`,
    `master ${percent(figures['master.cpu_pct'])}`,
    `bystander p99 ${micros(figures['bystander.p99'])}`,
    ...(factor < 1 ? [`at ${+(factor * 100).toFixed(1)} % of the rate`] : []),
    ...(valid
      ? []
      : [`${stateWords({ valid, state: stateBy(reasons) })} (${[...new Set(reasons)].join(', ')})`]),
  ].join(', ')
}

/**
 * @param {object} needs
 * @param {{ experiment: { id: string }, cells: Cell[] }[]} needs.plan
 * @param {{ seconds: number, warmUpS: number, repeat: number }} needs.terms
 * @param {(line: string) => void} needs.say
 */
export const progressOf = ({ plan, terms, say }) => {
  const all = plan.flatMap(({ cells }) => cells)
  const total = all.length * terms.repeat
  let done = 0
  let taken = 0
  let overMs = 0
  let leftMs = all.reduce((sum, cell) => sum + leastMs(cell, terms), 0) * terms.repeat
  let current = ''
  const allLeftMs = () => leftMs + (total - done) * (taken > 0 ? overMs / taken : overheadMs)
  const leftWords = () => clockTime(allLeftMs())
  return {
    /** What is left, in ms. */
    leftMs: allLeftMs,
    /** @param {{ id: string, question: string }} experiment @param {{ folder: string, resumed: boolean, result: object | null, turns: TurnResult[] }} store */
    begin({ id, question }, { folder, resumed, result, turns }) {
      current = id
      const cells = plan.find(({ experiment }) => experiment.id === id)?.cells ?? []
      for (const turn of turns) {
        const cell = cells.find((each) => each.id === turn.cell)
        if (cell) leftMs -= leastMs(cell, terms)
        done++
      }
      const before = several(turns.length, 'run')
      const after = result ? `is done with its ${before}` : `goes on after ${before}`
      const how = resumed ? after : several(cells.length * terms.repeat, 'run')
      say(`${id}: ${question} ${how}, ${leftWords()} to go for all; ${folder}`)
    },
    /** @param {Turn} turn @param {TurnResult} result @param {number} tookMs */
    turn({ cell, round }, result, tookMs) {
      done++
      leftMs -= leastMs(cell, terms)
      if (!result.skipped && !result.failed) {
        taken++
        overMs += tookMs - leastMs(cell, terms)
      }
      const name = cell.variant ? `${cell.name} (${cell.variant})` : cell.name
      say(
        `[${done}/${total}] ${current}: ${name}, round ${round}: ${resultWords(result)} - ${leftWords()} left`,
      )
    },
  }
}
