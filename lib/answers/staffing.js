// How much capacity n separate nodes need, and how much one node for the sum of their loads. Pure.
// Loads are in any one unit; a margin counts standard deviations above the mean.
import { normalDensity, normalTail, solved } from '../base/distributions.js'
import { normals } from '../base/random.js'
import { slotCount } from '../wire/slot.js'

/**
 * The formulas of staffing.js against random draws: how often simulated nodes really overflow. Pure, with a seed.
 * @param {Load} load rho of at least 0: the loads share one factor
 * @param {number} margin
 * @param {{ draws: number, seed: number }} options
 */
export const simulated = (load, margin, { draws, seed }) => {
  const { nodes, mean, sd, rho } = load
  const next = normals(seed)
  const [shared, own] = [Math.sqrt(rho), Math.sqrt(1 - rho)]
  const room = mean + margin * sd
  const { single } = capacityOf(load, margin)
  let nodesOver = 0
  let anyOver = 0
  let singleOver = 0
  let sumOfSums = 0
  let sumOfSquares = 0
  for (let draw = 0; draw < draws; draw++) {
    const factor = rho > 0 ? shared * next() : 0
    let above = 0
    let total = 0
    for (let node = 0; node < nodes; node++) {
      const value = mean + sd * (factor + own * next())
      total += value
      if (value > room) above++
    }
    nodesOver += above
    if (above > 0) anyOver++
    if (total > single) singleOver++
    const apart = total - nodes * mean
    sumOfSums += apart
    sumOfSquares += apart * apart
  }
  return {
    draws,
    node: nodesOver / (draws * nodes),
    any: anyOver / draws,
    single: singleOver / draws,
    sumSd: Math.sqrt(sumOfSquares / draws - (sumOfSums / draws) ** 2),
  }
}

/**
 * @typedef {object} Load of n nodes alike
 * @property {number} nodes
 * @property {number} mean of a node
 * @property {number} sd standard deviation of a node
 * @property {number} rho correlation of the loads of any two nodes; 0: independent
 */

/** The lowest correlation that n loads can all have with each other. @param {number} nodes */
export const leastRho = (nodes) => (nodes > 1 ? -1 / (nodes - 1) : -1)

/** The standard deviation of the sum, as a multiple of a node's. @param {Pick<Load, 'nodes' | 'rho'>} load */
const spreadOfSum = ({ nodes, rho }) => Math.sqrt(Math.max(0, nodes * (1 + (nodes - 1) * rho)))

/** @param {Load} load */
export const sumOf = (load) => ({ mean: load.nodes * load.mean, sd: load.sd * spreadOfSum(load) })

/** The capacity of all separate nodes together, and of one node for the sum. @param {Load} load @param {number} margin */
export const capacityOf = (load, margin) => {
  const sum = sumOf(load)
  return { separate: load.nodes * (load.mean + margin * load.sd), single: sum.mean + margin * sum.sd }
}

const integralSteps = 2000
const integralEnd = 9

/**
 * The probability that at least one of the nodes exceeds its margin. Correlated loads share one normal factor, so they
 * are independent once it is known; loads that avoid each other (rho below 0) count as independent.
 * @param {Pick<Load, 'nodes' | 'rho'>} load
 * @param {number} margin
 */
export const anyOverflow = ({ nodes, rho }, margin) => {
  // 1 - (1 - p)^n loses its digits to rounding where p is small.
  const among = (/** @type {number} */ tail) => -Math.expm1(nodes * Math.log1p(-tail))
  if (rho <= 0 || nodes === 1) return among(normalTail(margin))
  if (rho >= 1) return normalTail(margin)
  const step = (2 * integralEnd) / integralSteps
  let sum = 0
  for (let at = 0; at <= integralSteps; at++) {
    const z = -integralEnd + at * step
    const weight = at === 0 || at === integralSteps ? 1 : at % 2 === 1 ? 4 : 2
    sum += weight * normalDensity(z) * among(normalTail((margin - Math.sqrt(rho) * z) / Math.sqrt(1 - rho)))
  }
  return (sum * step) / 3
}

/**
 * The margin with which the separate nodes are, all together, as unlikely to overflow as one node with `margin` is.
 * @param {Pick<Load, 'nodes' | 'rho'>} load
 * @param {number} margin
 */
export const sameRiskMargin = (load, margin) =>
  solved((each) => -anyOverflow(load, each), -normalTail(margin), margin, margin + 12)

/**
 * The same total, with the same spread, on another number of nodes. @param {Load} load @param {number} nodes @returns {Load}
 */
export const splitOver = (load, nodes) => {
  const sum = sumOf(load)
  const rho = Math.max(load.rho, leastRho(nodes))
  const spread = spreadOfSum({ nodes, rho })
  return { nodes, mean: sum.mean / nodes, sd: spread > 0 ? sum.sd / spread : 0, rho }
}

/**
 * The capacity of each node if one may fail and the others share its load equally, as caches do behind a client that
 * spreads keys over them. A single node needs a second one of its size.
 * @param {Load} load
 * @param {number} margin
 */
export const afterFailure = ({ nodes, mean, sd, rho }, margin) => {
  if (nodes === 1) return { each: mean + margin * sd, all: 2 * (mean + margin * sd) }
  const part = 1 / (nodes - 1)
  const spread = sd * Math.sqrt(Math.max(0, 1 + part * part + 2 * rho * part))
  const each = mean * (1 + part) + margin * spread
  return { each, all: nodes * each }
}

/** How 16,384 slots divide over n shards, and how far the fullest is above an equal share. @param {number} shards */
export const slotsOver = (shards) => {
  const fewest = Math.floor(slotCount / shards)
  const withMost = slotCount - fewest * shards
  return {
    fewest,
    most: withMost > 0 ? fewest + 1 : fewest,
    withMost: withMost > 0 ? withMost : shards,
    factor: (Math.ceil(slotCount / shards) * shards) / slotCount,
  }
}

// ElastiCache: nodes of a cluster by default and at most, with up to five replicas a shard.
export const clusterLimits = Object.freeze({ usual: 90, most: 500, replicas: 5, selfManagedLeast: 3 })

/**
 * Why a cluster of so many shards may not be possible; null: no reason.
 * @param {number} shards
 * @param {number} replicas of each
 */
export const shardCountProblem = (shards, replicas) => {
  const nodes = shards * (1 + replicas)
  const { usual, most, selfManagedLeast } = clusterLimits
  const withReplicas = replicas > 0 ? ', counting replicas' : ''
  if (nodes > most) return `more than ${most} nodes${withReplicas}: more than ElastiCache allows in a cluster`
  if (nodes > usual)
    return `more than ${usual} nodes${withReplicas}: above the default quota of ElastiCache, which can be raised to ${most}`
  if (shards > 1 && shards < selfManagedLeast)
    return `${shards} shards: ElastiCache allows them; a cluster of your own needs ${selfManagedLeast} masters to agree on a failover`
  return null
}

const someCounts = [1, 2, 3, 4, 6, 9, 12, 16, 24, 32, 48, 64, 90, 128, 192, 256, 384, 500]

/** Shard counts that a cluster can have, with the one that was asked for. @param {number} nodes @param {number} replicas */
export const shardCounts = (nodes, replicas) => {
  const most = Math.floor(clusterLimits.most / (1 + replicas))
  const possible = [...new Set([...someCounts.filter((count) => count < most), most, nodes])]
  return possible.sort((a, b) => a - b)
}
