// Progress of a matrix, and the time that it still takes.
import { count, micros, percent, several } from '../base/units.js'
import { stateBy, stateWords } from '../measures/warnings.js'
import { turnMetrics } from '../result/chief-metrics.js'
import { measureNamed } from '../result/metrics.js'
import { serverStartsMs, spanWords, turnMs } from './duration.js'

/**
 * @import { Cell, Turn } from './matrix.js'
 * @import { TurnResult } from './summary.js'
 */

/** What a turn came to, in a few words. @param {TurnResult} result */
const resultWords = ({ skipped, failed, legs, factor }) => {
  if (skipped) return `not run: ${skipped}`
  if (failed) return `no result: ${failed}`
  const { figures, valid, reasons } = legs[legs.length - 1]
  return [
    `${count(figures[turnMetrics.rate])}/s`,
    `master ${percent(figures[turnMetrics.cpu])}`,
    `${measureNamed(turnMetrics.ofOthers).title} ${micros(figures[turnMetrics.ofOthers])}`,
    ...(factor < 1 ? [`at ${+(factor * 100).toFixed(1)} % of the rate`] : []),
    ...(valid
      ? []
      : [`${stateWords({ valid, state: stateBy(reasons) })} (${[...new Set(reasons)].join(', ')})`]),
  ].join(', ')
}

/**
 * @param {object} needs
 * @param {{ experiment: { id: string }, cells: Cell[] }[]} needs.plan
 * @param {{ seconds: number, warmUpS: number, repeat: number }} needs.fixed
 * @param {boolean} needs.onTarget servers that are not started here
 * @param {number} needs.startMs that this program took to start
 * @param {(line: string) => void} needs.say
 */
export const seriesProgress = ({ plan, fixed, onTarget, startMs, say }) => {
  const timing = { ...fixed, startMs }
  const expectedMs = (/** @type {Cell} */ cell) => turnMs(cell, timing, onTarget)
  const all = plan.flatMap(({ cells }) => cells)
  const total = all.length * fixed.repeat
  let done = 0
  let played = 0
  let overMs = 0
  // Servers are started by an experiment's first turns.
  const startsMs = onTarget ? 0 : plan.reduce((sum, { cells }) => sum + serverStartsMs(cells, timing), 0)
  let leftMs = all.reduce((sum, cell) => sum + expectedMs(cell), 0) * fixed.repeat
  let current = ''
  // Turns that are left are expected to exceed the forecast as much as those before.
  const allLeftMs = () => leftMs + (played > 0 ? ((total - done) * overMs) / played : startsMs)
  const leftWords = () => spanWords(allLeftMs())
  return {
    leftMs: allLeftMs,
    /** @param {{ id: string, question: string }} experiment @param {{ folder: string, resumed: boolean, result: object | null, turns: TurnResult[] }} store */
    begin({ id, question }, { folder, resumed, result, turns }) {
      current = id
      const cells = plan.find(({ experiment }) => experiment.id === id)?.cells ?? []
      for (const turn of turns) {
        const cell = cells.find((each) => each.id === turn.cell)
        if (cell) leftMs -= expectedMs(cell)
        done++
      }
      const before = several(turns.length, 'run')
      const after = result ? `has finished its ${before}` : `continues after ${before}`
      const how = resumed ? after : several(cells.length * fixed.repeat, 'run')
      say(`${id}: ${question} ${how}, about ${leftWords()} in all; ${folder}`)
    },
    /** @param {Turn} turn @param {TurnResult} result @param {number} tookMs */
    turn({ cell, round }, result, tookMs) {
      done++
      leftMs -= expectedMs(cell)
      if (!result.skipped && !result.failed) {
        played++
        overMs += tookMs - expectedMs(cell)
      }
      const name = cell.variant ? `${cell.name} (${cell.variant})` : cell.name
      say(
        `[${done}/${total}] ${current}: ${name}, round ${round}: ${resultWords(result)} - ${leftWords()} left`,
      )
    },
  }
}
