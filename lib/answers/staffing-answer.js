// The answer of `millrace plan staff` as plain data, from which text, chart and --json are made. Pure.
import { normalTail } from '../base/distributions.js'
import {
  afterFailure,
  anyOverflow,
  capacityOf,
  clusterLimits,
  sameRiskMargin,
  shardCountProblem,
  shardCounts,
  simulated,
  slotsOver,
  splitOver,
} from './staffing.js'
import { measuredOverflow, typedLoadOf } from './staffing-series.js'

/**
 * @import { LoadUnit, Measured } from './staffing-series.js'
 * @import { Load } from './staffing.js'
 *
 * @typedef {ReturnType<typeof staffingAnswer>} StaffingAnswer
 */

const usualMargins = [1, 2, 3, 4]

/** @param {Load} load @param {number} margin */
const atMargin = (load, margin) => ({
  margin,
  ...capacityOf(load, margin),
  /** The probability that one given node, or the single one, overflows. */
  node: normalTail(margin),
  any: anyOverflow(load, margin),
})

/** The capacity of a node, whatever the unit: for CPU, a main thread is one core. */
const wholePct = 100

/** The capacity of each node if the load is divided. @param {Load} load @param {number} margin */
const eachOf = ({ mean, sd }, margin) => mean + margin * sd

/**
 * Loads above 100 % of a node, and the fewest nodes that have room for them; null: all have room.
 * @param {Load} load
 * @param {number} margin
 * @param {LoadUnit} unit
 */
const beyondNode = (load, margin, unit) => {
  const each = eachOf(load, margin)
  const { single } = capacityOf(load, margin)
  if (unit !== 'pct' || Math.max(each, single) <= wholePct) return null
  for (let nodes = 1; nodes <= clusterLimits.most; nodes++)
    if (eachOf(splitOver(load, nodes), margin) <= wholePct) return { each, single, fewest: nodes }
  return { each, single, fewest: null }
}

/** @param {Load} load @param {number} nodes @param {number} margin @param {number} replicas @param {LoadUnit} unit */
const atCount = (load, nodes, margin, replicas, unit) => {
  const split = splitOver(load, nodes)
  const { factor } = slotsOver(nodes)
  const { separate, single } = capacityOf(split, margin)
  const each = eachOf(split, margin)
  const isBeyond = unit === 'pct' && each > wholePct
  return {
    nodes,
    each,
    separate,
    single,
    /** Capacity if load is in proportion to slots and all shards have the size of the fullest. */
    bySlots: separate * factor,
    any: anyOverflow(split, margin),
    sameRisk: capacityOf(split, sameRiskMargin(split, margin)).separate,
    afterFailure: afterFailure(split, margin).all,
    problem: isBeyond ? 'a node would need more than it has' : shardCountProblem(nodes, replicas),
  }
}

/**
 * @param {object} asked
 * @param {Load} asked.load
 * @param {number} asked.margin
 * @param {number} asked.replicas of each shard
 * @param {LoadUnit} asked.unit
 * @param {Measured | null} asked.measured
 * @param {{ draws: number, seed: number } | null} asked.simulation
 */
export const staffingAnswer = ({ load, margin, replicas, unit, measured, simulation }) => {
  const chosen = atMargin(load, margin)
  const margins = [...new Set([...usualMargins, margin])].sort((a, b) => a - b)
  const safer = sameRiskMargin(load, margin)
  return {
    ...load,
    unit,
    replicas,
    ...chosen,
    /** The part of the separate nodes' capacity that one node saves. */
    saving: 1 - chosen.single / chosen.separate,
    sameRisk: { margin: safer, separate: capacityOf(load, safer).separate },
    afterFailure: afterFailure(load, margin),
    withReplicas: chosen.separate * (1 + replicas),
    slots: { ...slotsOver(load.nodes), separate: chosen.separate * slotsOver(load.nodes).factor },
    shardCountProblem: shardCountProblem(load.nodes, replicas),
    beyondNode: beyondNode(load, margin, unit),
    /** The share of time in which a normal distribution has negative loads. */
    belowZero: load.sd > 0 ? normalTail(load.mean / load.sd) : 0,
    margins: margins.map((each) => ({
      ...atMargin(load, each),
      measured: measured ? measuredOverflow(measured.nodes, each) : null,
    })),
    counts: shardCounts(load.nodes, replicas).map((nodes) => atCount(load, nodes, margin, replicas, unit)),
    measured: measured && {
      what: measured.what,
      moments: measured.moments,
      nodes: typedLoadOf(measured.nodes).each,
      ...measuredOverflow(measured.nodes, margin),
    },
    simulated: simulation && simulated(load, margin, simulation),
  }
}
