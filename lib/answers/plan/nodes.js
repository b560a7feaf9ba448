// From the cost of an item to nodes and money: the fewest shards on which the hottest one keeps every limit, and which limit
// binds. Pure.
import { count } from '../../base/units.js'
import { clusterLimits, slotsOver } from '../staffing.js'
import { hoursAMonth } from './prices.js'

/**
 * @typedef {{ spread: number, fixed: number }} Parts of keys for each item, and of the keys that hold all
 * @typedef {object} Demand
 * @property {number} rate items a second
 * @property {number} items that are there
 * @property {number} keys that hold all items: they may be on as many shards
 * @property {Parts} cpuUs of a main thread, an item
 * @property {Parts} memory bytes, an item
 * @property {Parts} bytesIn an item
 * @property {Parts} bytesOut
 * @property {Parts} commands an item
 * @property {number} simpleUs of a command that takes one ECPU
 * @property {boolean} scripts commands of items call scripts
 *
 * @typedef {object} Wishes
 * @property {number} headroom part of a limit that stays free
 * @property {number} replicas of each shard
 * @property {number} forkS how long a fork lasts, in which what is written takes memory twice
 * @property {number} speed of a node's main thread, in that of the calibrated one
 * @property {number} growth a month
 * @property {'none' | 'node' | 'zone'} survive
 *
 * @typedef {'main thread' | 'memory' | 'copy-on-write' | 'network' | 'nodes'} Limit
 * @typedef {object} Candidate
 * @property {string} node
 * @property {number | null} shards null: no number of shards will do
 * @property {number} nodes
 * @property {Limit} binds
 * @property {Partial<Record<Limit, number>>} used parts of what the hottest shard has, headroom not taken off
 * @property {number | null} monthly price
 * @property {number | null} nextMonths until the next size is due by growth
 * @property {string | null} why it cannot be had
 */

const gib = 2 ** 30
const reserved = 0.25
// Of replication's buffers and connections.
const ownBytes = 50e6

/** What the hottest shard has of the sum: its keys, and its slots. @param {Parts} parts @param {number} shards @param {number} keys */
const hottest = ({ spread, fixed }, shards, keys) =>
  fixed * (keys === 0 ? 1 / shards : Math.ceil(keys / shards) / keys) +
  (spread * slotsOver(shards).factor) / shards

/**
 * Parts of a shard's limits that the hottest one uses.
 * @param {Demand} demand
 * @param {import('./prices.js').NodeType} type
 * @param {number} shards
 * @param {Wishes} wishes
 */
export const usedOf = (demand, type, shards, { replicas, forkS, speed }) => {
  const { rate, items, keys, cpuUs, memory, bytesIn, bytesOut } = demand
  const each = (/** @type {Parts} */ parts) => hottest(parts, shards, keys)
  const data = each(memory) * items + ownBytes
  const written = Math.min(data, each(memory) * rate * forkS)
  const inBytes = each(bytesIn) * rate
  // A replica is sent what comes in.
  const outBytes = each(bytesOut) * rate + replicas * inBytes
  return {
    'main thread': (each(cpuUs) * rate) / 1e6 / speed,
    memory: data / (type.memoryGib * gib * (1 - reserved)),
    ...(replicas > 0 && { 'copy-on-write': (data + written) / (type.memoryGib * gib) }),
    ...(type.networkMbit !== null && {
      network: (8 * Math.max(inBytes, outBytes)) / (type.networkMbit * 1e6),
    }),
  }
}

// Memory has its share reserved; what is left of the others is headroom.
const roomOf = (/** @type {string} */ limit, /** @type {number} */ headroom) =>
  limit === 'main thread' || limit === 'network' ? 1 - headroom : 1

/** The limit that is nearest, and how near. @param {Partial<Record<Limit, number>>} used @param {number} headroom */
const nearestLimit = (used, headroom) =>
  Object.entries(used)
    .map(([limit, part]) => ({ limit: /** @type {Limit} */ (limit), part: part / roomOf(limit, headroom) }))
    .reduce((most, one) => (one.part > most.part ? one : most))

/**
 * @param {Demand} demand
 * @param {import('./prices.js').NodeType} type
 * @param {Wishes} wishes
 * @returns {Candidate}
 */
export const candidateOf = (demand, type, wishes) => {
  const { replicas, headroom, growth } = wishes
  const most = Math.floor(clusterLimits.most / (1 + replicas))
  const near = (/** @type {number} */ shards) => nearestLimit(usedOf(demand, type, shards, wishes), headroom)
  const fits = (/** @type {number} */ shards) => near(shards).part <= 1
  let shards = 1
  while (shards <= most && !fits(shards)) shards++
  if (shards > most) {
    const { limit } = near(most)
    const alone = {
      ...demand,
      memory: { ...demand.memory, spread: 0 },
      cpuUs: { ...demand.cpuUs, spread: 0 },
    }
    const isFixed = !(nearestLimit(usedOf(alone, type, most, wishes), headroom).part <= 1)
    const why = isFixed
      ? `the key that holds all items is on one shard, and its ${limit} is not enough`
      : `more than ${most} shards`
    return {
      node: type.name,
      shards: null,
      nodes: 0,
      binds: limit,
      used: usedOf(demand, type, most, wishes),
      monthly: null,
      nextMonths: null,
      why,
    }
  }
  const nodes = shards * (1 + replicas)
  const { limit, part } = near(shards)
  // What made the last shard necessary, where there is more than one.
  const binds = shards > 1 ? near(shards - 1).limit : limit
  return {
    node: type.name,
    shards,
    nodes,
    binds,
    used: usedOf(demand, type, shards, wishes),
    monthly: type.hour === null ? null : nodes * type.hour * hoursAMonth,
    nextMonths: growth > 0 ? Math.log(1 / part) / Math.log(1 + growth) : null,
    why: null,
  }
}

const slotEcpu = Object.freeze({ first: 30_000, most: 90_000 })
const cacheEcpu = 15e6
const slotGib = 32
const secondsAMonth = hoursAMonth * 3600
const kilobyte = 1024

/** ECPU of commands: of each its kB, and of one that is not simple the time in that of a simple one, where that is more. @param {Demand} demand @param {'spread' | 'fixed'} of */
const ecpuOf = ({ commands, bytesIn, bytesOut, cpuUs, simpleUs, scripts }, of) => {
  if (commands[of] === 0) return 0
  const kilobytes = (bytesIn[of] + bytesOut[of]) / commands[of] / kilobyte
  const isSimple = of === 'spread' && !scripts
  return commands[of] * Math.max(1, kilobytes, isSimple ? 0 : cpuUs[of] / commands[of] / simpleUs)
}

/**
 * @param {Demand} demand
 * @param {import('./prices.js').ServerlessPrice} price
 */
export const serverlessOf = (demand, { engine, millionEcpu, gbHour, leastGb }) => {
  const { rate, items, keys, memory } = demand
  const fixed = ecpuOf(demand, 'fixed') * rate
  const ecpu = ecpuOf(demand, 'spread') * rate + fixed
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
