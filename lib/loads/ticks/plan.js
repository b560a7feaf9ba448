// When writers in ticks are due, and what is in flight of them.
import { DEFAULT_MAX_BEHIND_S } from '../../../settings.js'
import { libraryOf } from '../../base/libraries.js'
import { duesOf } from '../../traffic/arrivals.js'
import { isEven, scheduleIn } from '../../traffic/even.js'
import { names } from '../names.js'
import { chunksOf, sharedAmong } from '../shares.js'
import { longestWarmUpMs } from '../warm-up.js'

/**
 * @import { Settings } from '../../../settings.js'
 * @import { FlowName } from '../names.js'
 * @import { AgentRange } from '../plan.js'
 *
 * @typedef {object} Timing what every load of writers says of its items in time; clients and jobs have one tick a period
 * @property {FlowName} flow
 * @property {number} quantity
 * @property {number} items of the writers of this process
 * @property {number} periodMs
 * @property {number} chunks
 * @property {number} spacingMs
 * @property {number} totalAgents
 * @property {readonly AgentRange[]} agents
 * @property {Settings['pacing']} pacing
 * @property {'max' | null} rate
 * @property {number | null} nominalHz
 * @property {string} order
 * @property {number} maxBehindMs
 * @property {number} connections
 * @property {number | null} windowCommands
 * @property {number} warmUpMs
 * @property {number | null} ticks
 * @property {number | null} endMs when the last interval ends
 */

/** @param {Settings} settings @param {number} spacingMs @param {number} chunks */
const tickCount = (settings, spacingMs, chunks) => {
  const { durationMs, intervals, rates, arrivals, seed } = settings
  if (intervals !== undefined) return intervals * chunks
  if (rates !== undefined) return null
  const schedule = scheduleIn(settings)
  if (durationMs === undefined || schedule === 'none') return null
  if (schedule === 'even') return Math.max(1, Math.ceil(durationMs / spacingMs - 1e-9))
  const due = duesOf({ arrivals, spacingMs, seed })
  let ticks = 1
  while (due(ticks) < durationMs) ticks++
  return ticks
}

/**
 * A window must have whole ticks: with a part of one, the rate would look missed.
 * @param {Settings} settings
 * @param {number} spacingMs
 * @param {number | null} ticks
 */
const warmUpOf = (settings, spacingMs, ticks) => {
  const warmUpMs = longestWarmUpMs(settings)
  if (scheduleIn(settings) !== 'even') return warmUpMs
  const whole = Math.max(0, Math.ceil(warmUpMs / spacingMs - 1e-9))
  return (ticks === null || whole < ticks ? whole : ticks - 1) * spacingMs
}

/** When the last interval ends. @param {Settings} settings @param {number | null} ticks @param {number} spacingMs */
const endOf = (settings, ticks, spacingMs) => {
  if (ticks === null) return (settings.rates && Number(settings.durationMs)) || null
  return isEven(settings.arrivals) ? ticks * spacingMs : Number(settings.durationMs)
}

/** @param {Settings} settings */
export const plan = (settings) => {
  const { quantity, totalAgents, periodMs, pacing, rate } = settings
  const chunks = chunksOf(settings, Math.floor(quantity / totalAgents))
  const spacingMs = periodMs / chunks
  const ticks = tickCount(settings, spacingMs, chunks)
  const ofSchedule = {
    warmUpMs: warmUpOf(settings, spacingMs, ticks),
    ticks,
    endMs: endOf(settings, ticks, spacingMs),
    ...(settings.driver !== 'socket' && { library: libraryOf(settings) }),
  }
  /** @param {readonly number[]} numbers of the writers of this process */
  return (numbers) => {
    const { agents, items, nominalHz } = sharedAmong(settings, numbers)
    return {
      /** @type {'ticks'} */
      flow: 'ticks',
      quantity,
      items,
      periodMs,
      chunks,
      spacingMs,
      totalAgents,
      agents,
      pacing,
      rate: rate === 'max' ? rate : null,
      nominalHz,
      order: settings.order ?? names.ticks.defaultOrder,
      maxBehindMs: Math.max(settings.maxBehindMs ?? DEFAULT_MAX_BEHIND_S * 1000, 2 * spacingMs),
      connections: settings.connections ?? 1,
      windowCommands: settings.pipeline ?? null,
      ...ofSchedule,
    }
  }
}
