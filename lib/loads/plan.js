// Makes frozen plain data of settings and facts about the target.
import { DEFAULT_MAX_MEMBERS } from '../../settings.js'
import { OptionError } from '../base/errors.js'
import { exactly } from '../base/typed.js'
import { storedBy } from '../plan/stored-fields.js'
import { scheduleIn } from '../traffic/even.js'
import { strategyOf } from '../workloads/bound-strategy.js'
import { strategyNamed } from '../workloads/index.js'
import { LOADS } from './index.js'
import { roomOf, threadsOf } from './parts.js'

/**
 * @import { Settings } from '../../settings.js'
 * @import { LibraryPlan } from '../base/libraries.js'
 * @import { plan as clientsPlan } from './clients/plan.js'
 * @import { Timing } from './ticks/index.js'
 * @import { SendingPart } from './bundles/index.js'
 * @import { FlowName } from './names.js'
 * @import { Part } from './parts.js'
 * @import { PlanModel } from '../workloads/own/model.js'
 * @import { Schedule } from '../traffic/even.js'
 * @import { Reads } from '../transport/slot-map.js'
 *
 * @typedef {ReturnType<ReturnType<typeof clientsPlan>>} OfClients
 * @typedef {{ agent: number, first: number, count: number }} AgentRange
 * @typedef {{ maker: string, most: number, delayMs: number, limit: number | null, waits: boolean }} QueuePart of a queue's producers
 * @typedef {{ threads?: number, part?: Part, box?: Part }} InThreads threads: above one; part: that a thread plays; box: that one of
 *   several boxes plays, of operations that are drawn
 * @typedef {Readonly<ReturnType<typeof ofAllWriters> & Timing & { schedule: Schedule, membersInCommand: number | null, model?: PlanModel, own?: Record<string, unknown>, library?: LibraryPlan | null, reads?: Reads, versions?: true } & InThreads>} Plan
 *
 * @typedef {object} Facts what the target and the leases said
 * @property {readonly number[]} agents which of the agents this process is
 * @property {number} masters
 * @property {boolean} cluster
 * @property {string | null} variant of the strategy, by what the servers can do
 * @property {number} [startedMs] epoch: what distinguishes this run from others
 * @property {number} [serversHere] nodes on this machine
 */

/** What the plans of all writers have, whatever their load. @param {Settings} settings @param {Facts} facts */
const ofAllWriters = (settings, facts) => ({
  ...storedBy(settings),
  /** @type {OfClients['clients'] | null} */
  clients: null,
  /** @type {QueuePart | null} */
  queue: null,
  /** @type {OfClients['querying']} */
  querying: null,
  /** @type {SendingPart | null} */
  sending: null,
  /** @type {OfClients['cache']} */
  cache: null,
  shift: settings.shift ?? null,
  churn: settings.churn ?? null,
  arrivals: settings.arrivals,
  variant: facts.variant,
  script: settings.script ?? 'store-items',
  maxMembers: settings.maxMembers ?? DEFAULT_MAX_MEMBERS,
  scriptMembers: settings.maxMembers ?? 0,
  windowBytes: settings.windowBytes,
  reconnectHz: settings.reconnectHz ?? null,
  ...(settings.wait !== '0' && { wait: settings.wait }),
  ...(settings.rates && { rates: settings.rates }),
  /** Whether the warm-up ends when the run is steady: not in a fleet, whose boxes all measure the same seconds. */
  ...(settings.warmUpMs === 'auto' && settings.control === undefined && { settles: exactly(true) }),
  durationMs: settings.durationMs ?? null,
  driver: settings.driver,
  cluster: facts.cluster,
  masters: facts.masters,
})

/**
 * The plan of a run, for whichever of its writers: they differ in their items alone.
 * @param {Settings} settings
 * @param {Facts} facts
 * @returns {(agents?: readonly number[]) => Plan} without them those of the facts
 */
export const plansOf = (settings, facts) => {
  const { strategy, placement } = settings
  const { flags, play } = strategyNamed(strategy)
  if (play.oneSlot && facts.masters > 1 && placement !== 'spread') {
    const flag = flags.length > 0 ? `--${flags[0].name}` : `--strategy ${strategy}`
    throw new OptionError(
      `${flag} needs --spread on ${facts.masters} masters (and --ns ${facts.masters} to reach each of them): a script may touch keys of one slot only, and item:<n> lies anywhere`,
    )
  }
  const load = LOADS[play.flow]
  const common = ofAllWriters(settings, facts)
  const ofLoad = load.plan(settings, facts)
  const { mostMembers, model } = strategyOf({ ...common, ...ofLoad(facts.agents) })
  return (agents = facts.agents) => {
    const fields = { ...common, ...ofLoad(agents) }
    const plan = { ...fields, schedule: scheduleIn(fields) }
    const whole = { ...plan, membersInCommand: mostMembers }
    const threads =
      plan.agents.length === 0
        ? 1
        : threadsOf(settings.threads, roomOf(whole, load.sharing), facts.serversHere ?? 0)
    return deepFreeze({
      ...plan,
      /** 0: commands are not cut. */
      membersInCommand: mostMembers,
      ...(model && { model }),
      ...(threads > 1 && { threads }),
    })
  }
}

/** The plan of the writers that the facts name. @param {Settings} settings @param {Facts} facts */
export const planOf = (settings, facts) => plansOf(settings, facts)()

/** @template T @param {T} value @returns {T} */
const deepFreeze = (value) => {
  if (value !== null && typeof value === 'object') Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
