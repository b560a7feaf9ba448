// What `millrace staff` answers, as plain data: the text, the chart and --json are made of it. Pure.
import { normalTail } from '../base/distributions.js'
import {
  afterFailure,
  anyOverflow,
  capacityOf,
  sameRiskMargin,
  shardCountProblem,
  shardCounts,
  slotsOver,
  splitOver,
} from './staffing.js'
import { loadOf, measuredOverflow } from './staffing-series.js'
import { simulated } from './staffing-simulation.js'

/**
 * @typedef {import('./staffing.js').Load} Load
 * @typedef {import('./staffing-series.js').Measured} Measured
 * @typedef {import('./staffing-series.js').LoadUnit} LoadUnit
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

/** @param {Load} load @param {number} nodes @param {number} margin @param {number} replicas */
const atCount = (load, nodes, margin, replicas) => {
  const split = splitOver(load, nodes)
  const { factor } = slotsOver(nodes)
  const { separate, single } = capacityOf(split, margin)
  const each = split.mean + margin * split.sd
  return {
    nodes,
    each,
    separate,
    single,
    /** Where the load follows the slots, and all shards have the size that the fullest needs. */
    bySlots: separate * factor,
    any: anyOverflow(split, margin),
    sameRisk: capacityOf(split, sameRiskMargin(split, margin)).separate,
    afterFailure: afterFailure(split, margin).all,
    problem: shardCountProblem(nodes, replicas),
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
    /** Part of the separate nodes' capacity that one node does without. */
    saving: 1 - chosen.single / chosen.separate,
    sameRisk: { margin: safer, separate: capacityOf(load, safer).separate },
    afterFailure: afterFailure(load, margin),
    withReplicas: chosen.separate * (1 + replicas),
    slots: { ...slotsOver(load.nodes), separate: chosen.separate * slotsOver(load.nodes).factor },
    shardCountProblem: shardCountProblem(load.nodes, replicas),
    margins: margins.map((each) => ({
      ...atMargin(load, each),
      measured: measured ? measuredOverflow(measured.nodes, each) : null,
    })),
    counts: shardCounts(load.nodes, replicas).map((nodes) => atCount(load, nodes, margin, replicas)),
    measured: measured && {
      what: measured.what,
      moments: measured.moments,
      nodes: loadOf(measured.nodes).each,
      ...measuredOverflow(measured.nodes, margin),
    },
    simulated: simulation && simulated(load, margin, simulation),
  }
}
