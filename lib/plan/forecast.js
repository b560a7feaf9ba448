// How much memory a plan will take of each master. Pure.
import { strategyOf } from '../workloads/bound-strategy.js'

/** @import { AnyPlan } from '../workloads/bound-strategy.js' */

// Buffers of connections and of the replicas' feed.
const buffersBytes = 4e6

/**
 * Bytes on each master when the plan of all agents has filled it.
 * @param {AnyPlan} plan
 * @param {{ masters: readonly string[], owners: Uint16Array | null }} topology
 * @param {number} [slotTable] bytes that a server takes for each slot that holds a key
 * @returns {number[]} in the order of the masters
 */
export const forecastOfPlan = (plan, topology, slotTable = 0) =>
  strategyOf(plan)
    .forecast(topology, slotTable)
    .map((bytes) => buffersBytes + bytes)
