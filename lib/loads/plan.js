// Makes frozen plain data of settings and facts about the target.
import { DEFAULT_MAX_BEHIND_S, DEFAULT_MAX_MEMBERS } from '../../settings.js'
import { OptionError } from '../base/errors.js'
import { agentRange } from '../base/ranges.js'
import { duesOf } from '../traffic/arrivals.js'
import { isEven } from '../traffic/even.js'
import { strategyOf } from '../workloads/bound-strategy.js'
import { strategyNamed } from '../workloads/index.js'
import { bucketsOf } from '../workloads/latest/fields.js'
import { extraSetNames, setNames } from '../workloads/latest/parts.js'
import { LOADS } from './index.js'
import { names } from './names.js'
import { longestWarmUpMs } from './warm-up.js'

/**
 * @import { Settings } from '../../settings.js'
 * @import { LibraryPlan } from '../base/libraries.js'
 * @import { plan as clientsPlan } from './clients/plan.js'
 * @import { SendingPart } from './chunks/plan.js'
 * @import { FlowName } from './names.js'
 * @import { PlanModel } from '../workloads/own/model.js'
 *
 * @typedef {{ agent: number, first: number, count: number }} AgentRange
 * @typedef {{ maker: string, most: number, delayMs: number, limit: number | null, waits: boolean }} QueuePart of a queue's producers
 * @typedef {Readonly<ReturnType<typeof buildPlan> & { membersInCommand: number | null, model?: PlanModel, own?: Record<string, unknown>, library?: LibraryPlan | null }>} Plan
 *
 * @typedef {object} Facts what the target and the leases said
 * @property {number[]} agents which of the agents this process is
 * @property {number} masters
 * @property {boolean} cluster
 * @property {string | null} variant of the strategy, by what the servers can do
 * @property {number} [startedMs] epoch: what distinguishes this run from others
 */

// The smallest spacing that a timer of Node keeps; shorter ones bunch up.
const smoothSpacingMs = 5

/**
 * Into how many equal parts an interval is cut: as asked, or for smooth pacing as many as the timer allows.
 * @param {Settings} settings
 * @param {number} smallestShare
 */
const chunksOf = ({ pacing, periodMs, chunks }, smallestShare) =>
  pacing === 'smooth'
    ? Math.max(chunks, Math.min(smallestShare, Math.floor(periodMs / smoothSpacingMs)), 1)
    : chunks

/** @param {Settings} settings @param {number} spacingMs @param {number} chunks */
const tickCount = ({ durationMs, intervals, rate, rates, pacing, arrivals, seed }, spacingMs, chunks) => {
  if (intervals !== undefined) return intervals * chunks
  if (rates !== undefined) return null
  if (durationMs === undefined || rate === 'max' || pacing === 'closed') return null
  if (isEven({ arrivals })) return Math.max(1, Math.ceil(durationMs / spacingMs - 1e-9))
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
const warmUpOf = ({ rate, pacing, arrivals, ...settings }, spacingMs, ticks) => {
  const warmUpMs = longestWarmUpMs(settings)
  if (rate === 'max' || pacing === 'closed' || !isEven({ arrivals })) return warmUpMs
  const whole = Math.max(0, Math.ceil(warmUpMs / spacingMs - 1e-9))
  return (ticks === null || whole < ticks ? whole : ticks - 1) * spacingMs
}

/** @param {Settings} settings @param {Facts} facts */
const buildPlan = (settings, facts) => {
  const { quantity, totalAgents, periodMs, prefix, strategy } = settings
  const chunks = chunksOf(settings, Math.floor(quantity / totalAgents))
  const spacingMs = periodMs / chunks
  const ticks = tickCount(settings, spacingMs, chunks)
  const placement = settings.placement
  const agents = facts.agents.map((agent) => ({ agent, ...agentRange(quantity, totalAgents, agent) }))
  const items = agents.reduce((sum, { count }) => sum + count, 0)
  return {
    strategy,
    flow: /** @type {FlowName} */ ('ticks'),
    clients: /** @type {ReturnType<typeof clientsPlan>['clients'] | null} */ (null),
    queue: /** @type {QueuePart | null} */ (null),
    querying: /** @type {ReturnType<typeof clientsPlan>['querying']} */ (null),
    sending: /** @type {SendingPart | null} */ (null),
    cache: /** @type {ReturnType<typeof clientsPlan>['cache']} */ (null),
    quantity,
    periodMs,
    chunks,
    spacingMs,
    totalAgents,
    agents: /** @type {readonly AgentRange[]} */ (agents),
    items,
    pacing: settings.pacing,
    rate: settings.rate === 'max' ? settings.rate : null,
    nominalHz: settings.rate === 'max' ? null : (items * 1000) / periodMs,
    ttlS: settings.ttlS,
    ttlLeastS: settings.ttlLeastS,
    valueBytes: settings.valueBytes,
    valueSizes: settings.valueSizes,
    payload: settings.payload,
    stamp: settings.stamp,
    once: settings.once,
    seed: settings.seed,
    order: settings.order ?? names.ticks.defaultOrder,
    shift: settings.shift ?? null,
    churn: settings.churn ?? null,
    arrivals: settings.arrivals,
    prefix,
    placement,
    sets: /** @type {readonly string[]} */ (setNames(prefix, settings.sortedSets, placement)),
    extraSets: /** @type {readonly string[]} */ (extraSetNames(prefix, settings.extraSortedSets)),
    taggedItems: strategyNamed(strategy).play.oneSlot && placement === 'spread',
    buckets: bucketsOf(settings),
    variant: facts.variant,
    script: settings.script ?? 'store-items',
    maxMembers: settings.maxMembers ?? DEFAULT_MAX_MEMBERS,
    scriptMembers: settings.maxMembers ?? 0,
    maxBehindMs: Math.max(settings.maxBehindMs ?? DEFAULT_MAX_BEHIND_S * 1000, 2 * spacingMs),
    windowBytes: settings.windowBytes,
    windowCommands: settings.pipeline ?? null,
    connections: settings.connections ?? 1,
    reconnectHz: settings.reconnectHz ?? null,
    warmUpMs: warmUpOf(settings, spacingMs, ticks),
    ...(settings.rates && { rates: settings.rates }),
    /** Whether the warm-up ends when the run is steady: not in a fleet, whose boxes all measure the same seconds. */
    ...(settings.warmUpMs === 'auto' &&
      settings.control === undefined && { settles: /** @type {true} */ (true) }),
    durationMs: settings.durationMs ?? null,
    ticks,
    /** When the last interval ends. */
    endMs:
      ticks === null
        ? (settings.rates && Number(settings.durationMs)) || null
        : isEven(settings)
          ? ticks * spacingMs
          : Number(settings.durationMs),
    driver: settings.driver,
    cluster: facts.cluster,
    masters: facts.masters,
  }
}

/** @param {Settings} settings @param {Facts} facts @returns {Plan} */
export const planOf = (settings, facts) => {
  const { strategy, placement } = settings
  const { flags, play } = strategyNamed(strategy)
  if (play.oneSlot && facts.masters > 1 && placement !== 'spread') {
    const flag = flags.length > 0 ? `--${flags[0].name}` : `--strategy ${strategy}`
    throw new OptionError(
      `${flag} needs --spread on ${facts.masters} masters (and --ns ${facts.masters} to reach each of them): a script may touch keys of one slot only, and item:<n> lies anywhere`,
    )
  }
  const plan = { ...buildPlan(settings, facts), ...LOADS[play.flow].plan(settings, facts) }
  const { mostMembers, model } = strategyOf(plan)
  return deepFreeze({
    ...plan,
    /** 0: commands are not cut. */ membersInCommand: mostMembers,
    ...(model && { model }),
  })
}

/** @template T @param {T} value @returns {T} */
const deepFreeze = (value) => {
  if (value !== null && typeof value === 'object') Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
