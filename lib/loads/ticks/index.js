// Batches of items at absolute deadlines.

import { DEFAULT_MAX_BEHIND_S } from '../../../settings.js'
import { libraryOf } from '../../base/libraries.js'
import { count, period, several } from '../../base/units.js'
import { ofWriters, SECTIONS } from '../../measures/index.js'
import { ledgerOf } from '../../probes/ledger.js'
import { duesOf } from '../../traffic/arrivals.js'
import { isEven, scheduleIn } from '../../traffic/even.js'
import { itemsWords } from '../../traffic/items.js'
import { lifetimeWords } from '../../traffic/lifetimes.js'
import { names } from '../names.js'
import { byWriters } from '../parts.js'
import { rhythmWords } from '../rhythm.js'
import { chunksOf, sharedAmong } from '../shares.js'
import { longestWarmUpMs } from '../warm-up.js'
import { goodOfWriters, valueWords, writingWords } from '../words.js'
import { writerReasons } from '../writer-reasons.js'

/**
 * @import { AnyPlan as Plan } from '../../measures/measure.js'
 * @import { Evidence } from '../writer-reasons.js'
 * @import { WriterRun } from './open.js'
 * @import { Loaded } from '../index.js'
 * @import { Settings } from '../../../settings.js'
 * @import { FlowName } from '../names.js'
 * @import { AgentRange } from '../plan.js'
 */

// When writers in ticks are due, and what is in flight of them.

/**
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
const plan = (settings) => {
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

// Below this share of the items under way at once, something else was the limit.
const leastInUse = 0.5
// Answers take different times.
const spare = 1.3

/**
 * In batches, an item is written again only after its last write was answered, so that an old value does not replace a new
 * one.
 * @param {Pick<Plan, 'quantity' | 'periodMs'>} plan
 * @param {{ nominal: number | null, achieved: number | null }} rate items/s
 * @param {{ p50?: number | null } | null | undefined} serviceUs
 * @returns {string} advice; '' where something else was the limit
 */
const againWords = ({ quantity, periodMs }, { nominal, achieved }, serviceUs) => {
  const tookS = Number(serviceUs?.p50) / 1e6
  const isLimit = tookS * 1000 >= periodMs && Number(achieved) * tookS >= leastInUse * quantity
  if (!isLimit || !nominal) return ''
  const items = Math.ceil(spare * nominal * tookS)
  const more = `set -q ${items} at the same rate (--period ${Math.round((1000 * items) / nominal)}ms)`
  return `an item is due again after ${period(periodMs)}, and to store it takes ${period(tookS * 1000)}: ${more}, or raise --window if it is smaller than a batch`
}

/** Why a run fell behind its rate. @param {Evidence} run */
const behind = ({ plan, rate, latency_us: latency }) => {
  const isCut = plan.windowCommands && plan.windowCommands < plan.items / plan.chunks
  return isCut ? '' : againWords(plan, rate, latency?.service)
}

/** The numbers of the writers in this process; empty if it has all of them. @param {Plan} plan */
const writersWords = ({ totalAgents = 1, agents = [], quantity, items = quantity }) => {
  if (agents.length === totalAgents) return totalAgents > 1 ? `by ${several(totalAgents, 'writer')}` : ''
  const numbers = agents.map((/** @type {{ agent: number }} */ { agent }) => agent)
  const inRow = numbers.length > 1 && numbers.at(-1) - numbers[0] === numbers.length - 1
  const own = inRow ? `${numbers[0]}-${numbers.at(-1)}` : numbers.join(', ')
  return `by ${numbers.length === 1 ? 'writer' : 'writers'} ${own} of ${count(totalAgents)} (${count(items)} of ${count(quantity)} items)`
}

/** What a writer's plan sends, and how often. @param {Loaded} run */
const load = ({ plan }) => {
  const { quantity, items = quantity } = plan
  const writers = writersWords(plan)
  const rhythm =
    plan.rate === 'max'
      ? `as many items/s as possible (${count(items)} over and over)`
      : rhythmWords({ ...plan, quantity: items })
  return [rhythm, writers].filter(Boolean).join(', ')
}

/** @param {Plan} plan */
const planWords = (plan) => {
  const { chunks, order, churn, pacing } = plan
  const members = plan.membersInCommand ?? plan.maxMembers
  return writingWords(plan, {
    first: [
      chunks > 1 && several(chunks, 'batch').replace('batchs', 'batches'),
      (order !== names.ticks.defaultOrder || churn) && order && itemsWords(plan),
    ],
    data: [valueWords(plan), `ttl ${lifetimeWords(plan)}`],
    commands: [members ? `at most ${count(members)} members per command` : 'commands not cut'],
    last: [plan.rate !== 'max' && `${pacing} pacing`],
  })
}

const words = { does: 'writes', load, plan: planWords, good: goodOfWriters }

export const ticks = Object.freeze({
  /** @type {'producer'} */
  document: 'producer',
  names: names.ticks,
  plan,
  sharing: byWriters,
  ledger: ledgerOf,
  open: async (/** @type {WriterRun} */ run) => (await import('./open.js')).ticksWriting(run),
  measures: ofWriters,
  sections: SECTIONS.producer,
  words,
  reasons: writerReasons(behind),
})
