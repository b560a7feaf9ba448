// Progress of a matrix, and the time that it still takes.
import { count, micros, percent, several } from '../base/units.js'
import { stateBy, stateWords } from '../measures/warnings.js'
import { turnMetrics } from '../result/chief-metrics.js'
import { measureNamed } from '../result/metrics.js'
import { strategyNamed } from '../workloads/index.js'
import { strategyOfOptions } from './options.js'

/**
 * @import { Cell, Turn, Place } from './matrix.js'
 * @import { TurnResult } from './summary.js'
 */

// How long the turns of a matrix take, before any of them has run.

/**
 * @typedef {object} Timing
 * @property {number} seconds measured, of every leg
 * @property {number} warmUpS
 * @property {number} startMs that a program took to start on this machine: a turn's overhead is in proportion to it
 */

// The servers are measured for 3 to 6 s before the first write of a run of 10 s or more; busy servers take longer.
const idleFromMs = 10_000
const idleMs = { least: 3500, most: 6000 }
const shortIdleMs = { least: 2000, most: 3500 }
// A phase begins behind the first line of its writer and ends with a whole line.
const lineMs = 1000
// Operations a millisecond of a server on one core: passes run as fast as it answers.
const passesPerMs = 300
// Documents loaded, indexed or read back a millisecond, by the slowest kind: an index that a script makes.
const documentsPerMs = 40
// Several processes do not start at the same moment.
const slackMs = 1500

/** From the start of a program to its first tick, and from its last to its end. @param {Timing} timing */
const programMs = ({ startMs }) => 1000 + 1.2 * startMs

/** Servers of a cluster also meet. @param {Place} place @param {Timing} timing */
const serversMs = ({ cluster }, { startMs }) => (cluster ? 4000 : 500) + startMs

/** @param {Cell['legs'][number]} leg @param {number} runMs @param {Timing} timing */
const idleOf = ({ options }, runMs, { startMs }) => {
  const asked = options['idle-cost'] ?? 'auto'
  const { least, most } = asked === 'always' || runMs >= idleFromMs ? idleMs : shortIdleMs
  return asked === 'never' ? 0 : Math.min(most, least + 0.6 * startMs)
}

/** What is loaded before a run, and read back after it. @param {Cell['legs'][number]['options']} options */
const documentsMs = (options) => {
  const { answers, updates, fill, defaultItems } = strategyNamed(strategyOfOptions(options))
  const { items, indexes = 1 } = options
  if (!answers && !updates) return 0
  const times = 1 + (fill?.indexing ? Number(indexes) : 0) + (updates ? 1 : 0)
  return (times * Number(items ?? defaultItems)) / documentsPerMs
}

/** @param {Cell} cell @param {Timing} timing */
const loadMs = ({ legs, processes }, timing) => {
  const [first] = legs
  const { seconds, warmUpS } = timing
  const { passes } = strategyNamed(strategyOfOptions(first.options))
  if (passes)
    return programMs(timing) + (passes.order.length * Number(first.options.items ?? 100_000)) / passesPerMs
  const eachMs = (warmUpS + seconds) * 1000
  if (legs.length === 1 && !first.consumer && !first.action)
    return (
      programMs(timing) +
      documentsMs(first.options) +
      idleOf(first, eachMs, timing) +
      eachMs +
      (processes > 1 ? slackMs : 0)
    )
  return legs.reduce((sum, leg, at) => {
    const isNew = JSON.stringify(leg.options) !== JSON.stringify(legs[at - 1]?.options)
    const writerMs = isNew ? programMs(timing) + idleOf(leg, idleFromMs, timing) + lineMs + warmUpS * 1000 : 0
    return sum + writerMs + seconds * 1000 + lineMs + (leg.consumer ? programMs(timing) : 0)
  }, 0)
}

/** How long the items of a cell live on, in ms. @param {Cell} cell */
export const restMs = ({ legs }) =>
  1000 +
  1000 *
    Math.max(
      ...legs.map(
        ({ options }) =>
          Number.parseFloat(
            String(options.ttl ?? 3)
              .split('-')
              .at(-1) ?? '',
          ) || 3,
      ),
    )

/**
 * One turn of a cell, on servers that run already unless it wants its own.
 * @param {Cell} cell
 * @param {Timing} timing
 * @param {boolean} onTarget where a turn waits until the items of the turn before have expired
 */
export const turnMs = (cell, timing, onTarget) =>
  loadMs(cell, timing) + (onTarget ? restMs(cell) : cell.place.own ? serversMs(cell.place, timing) : 0)

/** Starting the local servers of cells that share them. @param {readonly Cell[]} cells @param {Timing} timing */
export const serverStartsMs = (cells, timing) => {
  const places = new Map(
    cells
      .filter(({ place }) => !place.own)
      .map(({ place }) => [JSON.stringify(place), serversMs(place, timing)]),
  )
  return [...places.values()].reduce((sum, ms) => sum + ms, 0)
}

/** 45 s, 2 min 19 s, 1 h 12 min @param {number} ms */
export const spanWords = (ms) => {
  const s = Math.round(ms / 1000)
  if (s < 60) return `${s} s`
  const minutes = Math.floor(s / 60)
  return minutes < 60 ? `${minutes} min ${s % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

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
