// From the cost of an item to nodes and money: the fewest shards on which the hottest shard keeps every limit, and which
// limit binds. Pure.

import { count } from '../../base/units.js'
import { clusterLimits, slotsOver } from '../staff.js'

const hoursAMonth = 730

/**
 * @import { NodeType, ServerlessPrice } from '../../base/prices.js'
 *
 * @typedef {{ spread: number, fixed: number }} Parts of keys for each item, and of the keys that hold all
 * @typedef {object} Demand
 * @property {number} rate items a second
 * @property {number} items that are there
 * @property {number} keys that hold all items: they may be on as many shards
 * @property {Parts} cpuUs of a main thread, an item
 * @property {Parts | null} replicaUs the same of a replica; null: it was not calibrated
 * @property {Parts} memory bytes, an item
 * @property {Parts} bytesIn an item
 * @property {Parts} bytesOut
 * @property {Parts} ecpu an item
 * @property {number} [writes] part of the operations that write; else all
 *
 * @typedef {object} Wishes
 * @property {number} headroom part of a limit that stays free
 * @property {number} replicas of each shard
 * @property {number} forkS how long a fork lasts, in which what is written takes memory twice
 * @property {number} speed of a node's main thread, in that of the calibrated one
 * @property {number} growth factor a month
 * @property {'none' | 'node' | 'zone'} survive
 *
 * @typedef {'main thread' | 'replica' | 'memory' | 'copy-on-write' | 'network' | 'after a loss'} Limit
 * @typedef {object} Candidate
 * @property {string} node
 * @property {number | null} shards null: no number of shards will do
 * @property {number} nodes
 * @property {Limit} binds
 * @property {Partial<Record<Limit, number>>} used parts of the hottest shard's limits, headroom included
 * @property {number | null} monthly price
 * @property {{ months: number | null, shards: number | null } | null} next whole months for which it is enough, and the shards after them; months null: beyond the forecast; shards null: none are enough
 * @property {string | null} why it is not possible
 */

const gib = 2 ** 30
const reserved = 0.25
// Buffers of replication and connections.
const ownBytes = 50e6

/** The hottest shard's part of the sum: of keys and of slots. @param {Parts} parts @param {number} shards @param {number} keys */
const hottest = ({ spread, fixed }, shards, keys) =>
  fixed * (keys === 0 ? 1 / shards : Math.ceil(keys / shards) / keys) +
  (spread * slotsOver(shards).factor) / shards

const zones = 3
const longestS = 86_400
/** Nodes of a shard that may be lost at once. @param {Wishes} wishes */
const lostOf = ({ survive, replicas }) =>
  survive === 'none' ? 0 : survive === 'node' ? 1 : Math.ceil((1 + replicas) / zones)

/**
 * Memory that the remaining node needs while it sends its data to the replacements. The network decides how long that
 * takes; meanwhile, writes take memory twice and wait in the buffer of replicas.
 * @param {{ data: number, inBytes: number, outBytes: number, mbit: number | null, lost: number, leastS: number }} known
 */
const afterLoss = ({ data, inBytes, outBytes, mbit, lost, leastS }) => {
  const room = mbit === null ? Number.POSITIVE_INFINITY : (mbit * 1e6) / 8 - outBytes
  const takesS = room > 0 ? Math.min(longestS, Math.max(leastS, (lost * data) / room)) : longestS
  return data + Math.min(data, inBytes * takesS) + inBytes * takesS
}

/**
 * Parts of a shard's limits that the hottest one uses.
 * @param {Demand} demand
 * @param {NodeType} type
 * @param {number} shards
 * @param {Wishes} wishes
 * @returns {Partial<Record<Limit, number>>}
 */
export const usedOf = (demand, type, shards, wishes) => {
  const { rate, items, keys, cpuUs, replicaUs, memory, bytesIn, bytesOut, writes = 1 } = demand
  const { replicas, forkS, speed } = wishes
  const each = (/** @type {Parts} */ parts) => hottest(parts, shards, keys)
  const busy = (/** @type {Parts} */ us) => (each(us) * rate) / 1e6 / speed
  const data = each(memory) * items + ownBytes
  const written = Math.min(data, each(memory) * rate * writes * forkS)
  const inBytes = each(bytesIn) * rate
  // Replicas are sent what is written.
  const changes = inBytes * writes
  const outBytes = each(bytesOut) * rate + replicas * changes
  const mbit = type.networkMbit
  const lost = lostOf(wishes)
  const left = { outBytes: outBytes - lost * changes, leastS: forkS }
  return {
    'main thread': busy(cpuUs),
    ...(replicas > 0 && replicaUs !== null && { replica: busy(replicaUs) }),
    memory: data / (type.memoryGib * gib * (1 - reserved)),
    ...(replicas > 0 && { 'copy-on-write': (data + written) / (type.memoryGib * gib) }),
    ...(mbit !== null && { network: (8 * Math.max(inBytes, outBytes)) / (mbit * 1e6) }),
    ...(lost > 0 && {
      'after a loss': afterLoss({ data, inBytes: changes, mbit, lost, ...left }) / (type.memoryGib * gib),
    }),
  }
}

// Memory already has its reserve; for the others the rest is headroom.
const roomOf = (/** @type {string} */ limit, /** @type {number} */ headroom) =>
  ['main thread', 'replica', 'network'].includes(limit) ? 1 - headroom : 1

/** The nearest limit, and how near it is. @param {Partial<Record<Limit, number>>} used @param {number} headroom */
const nearestLimit = (used, headroom) =>
  Object.entries(used)
    .map(([limit, part]) => ({ limit: /** @type {Limit} */ (limit), part: part / roomOf(limit, headroom) }))
    .reduce((most, one) => (one.part > most.part ? one : most))

const mostMonths = 120

/** The least whole number that holds, where each above it holds too; null: none up to the most. @param {number} most @param {(n: number) => boolean} holds */
const leastOf = (most, holds) => {
  if (!holds(most)) return null
  let [low, high] = [1, most]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return high
}

/** @param {Demand} demand @param {number} by @returns {Demand} */
const grown = (demand, by) => ({ ...demand, rate: demand.rate * by, items: demand.items * by })

/** @param {Demand} demand @param {NodeType} type @param {Wishes} wishes @returns {Candidate} */
export const candidateOf = (demand, type, wishes) => {
  const { replicas, headroom, growth } = wishes
  const most = Math.floor(clusterLimits.most / (1 + replicas))
  const near = (/** @type {number} */ shards, load = demand) =>
    nearestLimit(usedOf(load, type, shards, wishes), headroom)
  /** The fewest shards that are enough: the hottest of more has no more to do. */
  const fewest = (/** @type {Demand} */ load) => leastOf(most, (n) => near(n, load).part <= 1)
  const shards = fewest(demand)
  const at = shards ?? most
  const nodes = shards === null ? 0 : shards * (1 + replicas)
  const candidate = { node: type.name, shards, nodes, used: usedOf(demand, type, at, wishes), next: null }
  if (shards === null) {
    const { limit } = near(most)
    const only = (/** @type {Parts} */ { fixed }) => ({ spread: 0, fixed })
    const { memory, cpuUs, replicaUs } = demand
    const alone = {
      ...demand,
      memory: only(memory),
      cpuUs: only(cpuUs),
      replicaUs: replicaUs && only(replicaUs),
    }
    const why =
      near(most, alone).part > 1
        ? `${demand.writes === undefined ? 'the key that holds all items' : 'the busiest of few keys'} is on one shard, and its ${limit} is not enough`
        : `more than ${most} shards`
    return { ...candidate, binds: limit, monthly: null, why }
  }
  const growsBeyond = (/** @type {number} */ months) =>
    near(shards, grown(demand, (1 + growth) ** months)).part > 1
  // Whole months for which they are enough.
  const beyond = leastOf(mostMonths, growsBeyond)
  const months = beyond && beyond - 1
  return {
    ...candidate,
    // The limit that made the last shard necessary, if there is more than one.
    binds: near(Math.max(1, shards - 1)).limit,
    monthly: type.hour === null ? null : nodes * type.hour * hoursAMonth,
    next:
      growth === 0
        ? null
        : {
            months,
            shards: months === null ? null : fewest(grown(demand, (1 + growth) ** (months + 1))),
          },
    why: null,
  }
}

/** Of those that are possible. */
export const cheapest = (/** @type {readonly Candidate[]} */ candidates) =>
  candidates
    .filter(({ shards }) => shards !== null)
    .reduce(
      (/** @type {Candidate | null} */ best, one) =>
        best === null || (one.monthly ?? one.nodes * 1e9) < (best.monthly ?? best.nodes * 1e9) ? one : best,
      null,
    )

const slotEcpu = Object.freeze({ first: 30_000, most: 90_000 })
const cacheEcpu = 15e6
const slotGib = 32
const secondsAMonth = hoursAMonth * 3600
/** @param {Demand} demand @param {ServerlessPrice} price */
export const serverlessOf = (demand, { engine, millionEcpu, gbHour, leastGb }) => {
  const { rate, items, keys, memory } = demand
  const fixed = demand.ecpu.fixed * rate
  const ecpu = demand.ecpu.spread * rate + fixed
  const slot = keys === 0 ? 0 : fixed / keys
  const slotBytes = keys === 0 ? 0 : (memory.fixed * items) / keys
  const gb = Math.max(leastGb, ((memory.spread + memory.fixed) * items) / 1e9)
  const why =
    slot > slotEcpu.most
      ? `it needs ${count(Math.round(slot))} ECPU/s in one slot, which has at most ${count(slotEcpu.most)}`
      : ecpu > cacheEcpu
        ? `it needs ${count(Math.round(ecpu))} ECPU/s, and a cache has at most ${count(cacheEcpu)}`
        : slotBytes > slotGib * gib
          ? `a key takes ${count(Math.round(slotBytes / gib))} GiB of one slot, which has at most ${slotGib}`
          : null
  return {
    engine,
    ecpu_per_s: ecpu,
    slot_ecpu_per_s: slot,
    gb,
    note:
      why === null && slot > slotEcpu.first
        ? `its slot begins with ${count(slotEcpu.first)} ECPU/s and needs ${count(Math.round(slot))}: raise the rate slowly`
        : null,
    why,
    monthly: why === null ? (ecpu * secondsAMonth * millionEcpu) / 1e6 + gb * gbHour * hoursAMonth : null,
  }
}
