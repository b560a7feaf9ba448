// How the threads of a process share a plan: by whole writers, by parts of their ranges, or by clients. An item always belongs
// to one thread. Pure.
import { coresHere } from '../base/cores.js'
import { OptionError } from '../base/errors.js'
import { mix } from '../base/random.js'
import { chunkRange } from '../base/ranges.js'
import { exactly } from '../base/typed.js'
import { several } from '../base/units.js'
import { turnsOf } from '../plan/turns.js'
import { drawsOf, isDrawn } from '../traffic/items.js'
import { meanRate } from '../traffic/rates.js'
import { strategyNamed } from '../workloads/index.js'

/**
 * @import { AgentRange, Plan } from './plan.js'
 * @import { Schedule } from './dues.js'
 *
 * @typedef {{ number: number, of: number, clients?: { first: number, of: number }, turns?: true }} Part of a plan that a thread
 *   plays, from 0; clients: which of all its clients are; turns: it has some of the ticks, of all writers
 *
 * @typedef {object} Sharing of a kind of load
 * @property {(plan: Plan) => number} most parts that there can be
 * @property {(plan: Plan) => string} limit what sets it, in words
 * @property {(plan: Plan, part: Part) => Plan} part
 */

// One thread sends more than twice as much of every built-in model; latencies of a thread that is half busy are still good.
const hzAThread = 200_000

/** @param {readonly AgentRange[]} agents */
const itemsOf = (agents) => agents.reduce((sum, { count }) => sum + count, 0)

/** Equal shares, the first ones larger by one at most; at least one. @param {number} whole @param {Part} part */
const shareOf = (whole, { number, of }) =>
  Math.max(1, chunkRange({ first: 0, count: whole }, of, number).count)

/** Batches of a writer whose items are drawn, or checked later by its batches, are not cut. @param {Plan} plan */
const isCut = (plan) => !isDrawn(plan) && !plan.once && plan.pacing !== 'closed'

/** The writers of a part: some of them, or a part of one. @param {readonly AgentRange[]} agents @param {Part} part @returns {AgentRange[]} */
const agentsOf = (agents, { number, of }) => {
  if (agents.length >= of) {
    const { first, count } = chunkRange({ first: 0, count: agents.length }, of, number)
    return agents.slice(first, first + count)
  }
  const index = Math.floor((number * agents.length) / of)
  const from = Math.ceil((index * of) / agents.length)
  const pieces = Math.ceil(((index + 1) * of) / agents.length) - from
  const { agent, ...range } = agents[index]
  return [{ agent, ...chunkRange(range, pieces, number - from) }]
}

// One thread sends as many within 10 ms.
const itemsOfTurn = 20_000

/**
 * Whether threads take turns: ticks are so many and so small that they need not be sent by all threads together.
 * @param {Plan} plan
 * @param {number} of
 */
const areTurns = (plan, of) =>
  isCut(plan) &&
  plan.driver === 'socket' &&
  plan.schedule !== 'none' &&
  !plan.rates &&
  plan.chunks >= of &&
  plan.items <= plan.chunks * itemsOfTurn

/** Ticks: batches of writers. @type {Sharing} */
export const byWriters = {
  most: (plan) =>
    isCut(plan)
      ? plan.agents.length * Math.min(...plan.agents.map(({ count }) => Math.floor(count / plan.chunks)))
      : plan.agents.length,
  limit: (plan) =>
    isCut(plan)
      ? 'a batch has no more items'
      : `${several(plan.agents.length, 'writer')} of drawn or counted items, or in a closed loop, cannot be cut (-t)`,
  part(plan, share) {
    const part = areTurns(plan, share.of) ? { ...share, turns: exactly(true) } : share
    const agents = part.turns ? plan.agents : agentsOf(plan.agents, part)
    const items = part.turns ? turnsOf({ ...plan, part }).items() : itemsOf(agents)
    const { connections, reconnectHz, nominalHz, periodMs } = plan
    return {
      ...plan,
      agents,
      items,
      nominalHz: nominalHz === null ? null : (items * 1000) / periodMs,
      connections: shareOf(connections, part),
      reconnectHz: reconnectHz === null ? null : reconnectHz / part.of,
      part,
    }
  },
}

/** What its clients know of each other is in one thread. @param {Plan} plan */
const isWhole = ({ strategy, cache, querying }) => {
  const { mix: mixed, updates } = strategyNamed(strategy)
  return cache !== null || querying !== null || updates !== null || mixed !== null
}

/** Clients of operations that are drawn: each has its connections, and every so many-th operation of the schedule. @type {Sharing} */
export const byClients = {
  most: (plan) => (isWhole(plan) ? 1 : plan.connections),
  limit: (plan) =>
    isWhole(plan)
      ? 'its clients share what they know of items'
      : `${several(plan.connections, 'connection')} (--connections)`,
  part(plan, part) {
    const { clients, reconnectHz } = plan
    const { first, count: connections } = chunkRange(
      { first: 0, count: plan.connections },
      part.of,
      part.number,
    )
    const requests = clients?.requests ?? null
    return {
      ...plan,
      connections,
      clients: clients && {
        ...clients,
        connections,
        requests:
          requests === null ? null : chunkRange({ first: 0, count: requests }, part.of, part.number).count,
      },
      reconnectHz: reconnectHz === null ? null : reconnectHz / part.of,
      part: { ...part, clients: { first, of: plan.connections } },
    }
  },
}

/** One client, whose operations wait for each other. @param {string} limit @returns {Sharing} */
export const undivided = (limit) => ({ most: () => 1, limit: () => limit, part: (plan) => plan })

/**
 * Every so many-th operation of a schedule.
 * @template {Schedule} S
 * @param {S} whole
 * @param {Part} [part]
 * @returns {S}
 */
export const scheduleOfPart = (whole, part) => {
  if (!part) return whole
  const { number, of } = part
  return {
    ...whole,
    due: (i, elapsedMs) => whole.due(i * of + number, elapsedMs),
    isOver: (i) => whole.isOver(i * of + number),
  }
}

/**
 * The plans of its threads; of one without threads, itself.
 * @param {Plan} plan
 * @param {Sharing} sharing
 */
export const partsOf = (plan, { part }) => {
  const { threads: of = 1 } = plan
  return of === 1 ? [plan] : Array.from({ length: of }, (_, number) => part(plan, { number, of }))
}

/** Draws of parts differ. @param {{ seed: number, part?: Pick<Part, 'number'>, box?: Pick<Part, 'number'> }} plan */
export const seedOfPart = ({ seed, box, part = box }) => (part ? mix(mix(seed) ^ part.number) : seed)

/**
 * The numbers that clients of a part draw.
 * @param {Plan} plan
 * @param {{ count: number, quantity?: number }} fields
 */
export const drawsOfPart = (plan, fields) => {
  const { first, of } = (plan.part ?? plan.box)?.clients ?? { first: 0, of: plan.connections }
  const drawn = drawsOf({ ...plan, ...fields, seed: seedOfPart(plan), clients: of })
  return first === 0
    ? drawn
    : (/** @type {number} */ atMs, /** @type {number} */ client) => drawn(atMs, first + client)
}

/** The highest rate of a plan, of which that of a course is the mean. @param {Plan} plan */
const highestHz = ({ nominalHz, rates }) => {
  if (nominalHz === null) return Number.POSITIVE_INFINITY
  if (!rates) return nominalHz
  return (nominalHz * Math.max(...rates.map(({ rateHz }) => rateHz))) / meanRate(rates)
}

/**
 * How many threads a plan of writers can have and needs.
 * @param {Plan} plan
 * @param {Sharing} sharing
 */
export const roomOf = (plan, sharing) => ({
  most: sharing.most(plan),
  limit: () => sharing.limit(plan),
  needed: Math.ceil(highestHz(plan) / hzAThread),
})

/**
 * How many threads play a load.
 * @param {number | 'auto' | undefined} asked undefined: by a command that has no threads
 * @param {{ most: number, limit: () => string, needed: number }} room
 * @param {number} serversHere nodes on this machine, which take a core each
 * @param {() => number} [cores]
 */
export const threadsOf = (asked = 1, { most, limit, needed }, serversHere, cores = coresHere) => {
  if (asked === 1) return 1
  if (asked === 'auto') return Math.max(1, Math.min(cores() - serversHere, needed, most))
  if (asked > most)
    throw new OptionError(
      `--threads ${asked}: ${most === 1 ? 'this load is played by one' : `at most ${most} can play this load`}: ${limit()}`,
    )
  return asked
}
