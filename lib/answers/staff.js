// The answer of `millrace plan staff`: what separate nodes and one for the sum need, as plain data, and its report. Pure.
import { normalDensity, normalTail, solved } from '../base/distributions.js'
import { normals } from '../base/random.js'
import * as S from '../base/shape.js'
import { count, plainText } from '../base/units.js'
import { formatted } from '../chart/theme.js'
import { answer, answerSchema, figure, table, words } from '../report/kit.js'
import { slotCount } from '../wire/slot.js'
import { measuredOverflow, typedLoadOf } from './staffing-series.js'

/**
 * @import { Shaped } from '../base/shape-types.js'
 * @import { LoadUnit, Measured } from './staffing-series.js'
 */

// How much capacity n separate nodes need, and how much one node for the sum of their loads.
// Loads are in any one unit; a margin counts standard deviations above the mean.

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

/** @template {string} const N @param {readonly N[]} names */
const numbers = (names) => S.each(names, S.number)
const overflow = S.object(
  numbers(['separate', 'sameSize', 'single', 'node', 'any', 'singleOver', 'peaks', 'peak']),
)
const failure = S.object(numbers(['each', 'all']))

export const schema = answerSchema('staff', {
  ...numbers(['nodes', 'mean', 'sd', 'rho']),
  unit: S.oneOf('pct', 'bytes', 'number'),
  ...numbers(['replicas', 'margin', 'separate', 'single']),
  node: S.said('the probability that one given node, or the single one, overflows', S.number),
  any: S.said('that at least one of the separate nodes does', S.number),
  saving: S.said("the part of the separate nodes' capacity that one node saves", S.number),
  sameRisk: S.object(numbers(['margin', 'separate'])),
  afterFailure: failure,
  withReplicas: S.number,
  slots: S.object(numbers(['fewest', 'most', 'withMost', 'factor', 'separate'])),
  shardCountProblem: S.note,
  beyondNode: S.orNull(S.object({ ...numbers(['each', 'single']), fewest: S.figure })),
  belowZero: S.said('the share of time in which a normal distribution has negative loads', S.number),
  margins: S.list(
    S.object({ ...numbers(['margin', 'separate', 'single', 'node', 'any']), measured: S.orNull(overflow) }),
  ),
  counts: S.list(
    S.object({
      ...numbers(['nodes', 'each', 'separate', 'single', 'bySlots', 'any', 'sameRisk', 'afterFailure']),
      problem: S.note,
    }),
  ),
  measured: S.orNull(
    S.object({
      what: S.text,
      moments: S.number,
      nodes: S.list(S.object({ name: S.text, ...numbers(['mean', 'sd', 'max']) })),
      ...overflow.properties,
    }),
  ),
  simulated: S.orNull(S.object(numbers(['draws', 'node', 'any', 'single', 'sumSd']))),
})
/** @typedef {Shaped<typeof schema>} StaffingAnswer */

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
 * @returns {StaffingAnswer}
 */
export const staffingAnswer = ({ load, margin, replicas, unit, measured, simulation }) => {
  const chosen = atMargin(load, margin)
  const margins = [...new Set([...usualMargins, margin])].sort((a, b) => a - b)
  const safer = sameRiskMargin(load, margin)
  return {
    schema: 1,
    kind: 'staff',
    ...load,
    unit,
    replicas,
    ...chosen,
    saving: 1 - chosen.single / chosen.separate,
    sameRisk: { margin: safer, separate: capacityOf(load, safer).separate },
    afterFailure: afterFailure(load, margin),
    withReplicas: chosen.separate * (1 + replicas),
    slots: { ...slotsOver(load.nodes), separate: chosen.separate * slotsOver(load.nodes).factor },
    shardCountProblem: shardCountProblem(load.nodes, replicas),
    beyondNode: beyondNode(load, margin, unit),
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

/** A probability with three digits: 18.7 %, 0.0032 % @param {number} share */
const chance = (share) => {
  if (share === 0) return '0 %'
  const pct = share * 100
  return pct < 1e-6 ? 'below 0.000001 %' : `${+pct.toPrecision(3)} %`
}

/** @param {number} share */
const change = (share) => `${+Math.abs(share * 100).toPrecision(3)} %`

/** @param {StaffingAnswer} answer */
const loadWords = (answer) => {
  const { nodes, rho, measured } = answer
  const amount = (/** @type {number} */ value) => formatted(answer.unit, value)
  const together = rho === 0 ? 'independent' : `correlation ${+rho.toFixed(3)}`
  const source = measured
    ? `, ${plainText(measured.what)} measured at ${count(measured.moments)} moments`
    : ''
  return `${nodes} ${nodes === 1 ? 'node' : 'nodes'} with a load of ${amount(answer.mean)}, standard deviation ${amount(answer.sd)}, ${together}${source}; margin ${answer.margin} standard deviations`
}

/** @typedef {{ margin: number, separate: number, single: number, node: number, any: number, singleOver?: number, from: string }} Margin */

/** @param {StaffingAnswer} answer */
const marginTable = ({ margins, nodes, unit }) => {
  const amount = (/** @type {number} */ value) => formatted(unit, value)
  /** @type {Margin[]} */
  const rows = margins.flatMap(({ measured, ...row }) => [
    { ...row, from: 'normal' },
    ...(measured ? [{ margin: row.margin, ...measured, from: 'measured' }] : []),
  ])
  return table('', rows, [
    figure('margin', ({ margin }) => margin, String),
    words('probability', ({ from }) => from),
    figure(`${nodes} nodes`, ({ separate }) => separate, amount),
    figure('a node overflows', ({ node }) => node, chance),
    figure('any node overflows', ({ any }) => any, chance),
    figure('one node', ({ single }) => single, amount),
    figure('it overflows', ({ node, singleOver = node }) => singleOver, chance),
  ])
}

/** @param {StaffingAnswer} answer */
const countTable = ({ counts, unit }) => {
  // Why some of the node counts may not be possible.
  const problems = [...new Set(counts.flatMap(({ problem }) => problem ?? []))]
  const amount = (/** @type {number} */ value) => formatted(unit, value)
  return table(
    'The same total load on other numbers of nodes',
    counts,
    [
      figure('nodes', ({ nodes }) => nodes, count),
      figure('each', ({ each }) => each, amount),
      figure('all', ({ separate }) => separate, amount),
      figure(
        'against one',
        ({ separate, single }) => separate / single - 1,
        (more) => `+${change(more)}`,
      ),
      figure('slots uneven', ({ bySlots }) => bySlots, amount, { rank: 1 }),
      figure('any overflows', ({ any }) => any, chance),
      figure('same risk as one', ({ sameRisk }) => sameRisk, amount),
      figure('one may fail', ({ afterFailure }) => afterFailure, amount),
      words('', ({ problem }) => (problem ? `[${1 + problems.indexOf(problem)}]` : '')),
    ],
    { foot: problems.map((problem, at) => `[${at + 1}] ${problem}`) },
  )
}

/** @param {StaffingAnswer} answer */
const sentences = (answer) => {
  const { nodes, separate, single, saving, any, node, sameRisk, afterFailure, slots, replicas, unit } = answer
  const amount = (/** @type {number} */ value) => formatted(unit, value)
  if (nodes === 1)
    return [`One node needs ${amount(single)}; it overflows with a probability of ${chance(node)}.`]
  return [
    `${nodes} separate nodes need ${amount(separate)}, one node for the sum needs ${amount(single)}: ${change(saving)} less. Separate nodes need ${change(separate / single - 1)} more.`,
    `At that margin one of the ${nodes} nodes overflows with a probability of ${chance(any)}, the single node with ${chance(node)}. For no more risk than that, the nodes need a margin of ${+sameRisk.margin.toFixed(2)} and ${amount(sameRisk.separate)} together.`,
    `If a node fails and the others share its load, each needs ${amount(afterFailure.each)}: ${amount(afterFailure.all)} together. A single node needs a second one of its size: ${amount(2 * single)}.`,
    ...(replicas > 0
      ? [
          `With ${replicas} ${replicas === 1 ? 'replica' : 'replicas'} a shard, which take over what fails: ${amount(answer.withReplicas)}, and ${amount(single * (1 + replicas))} for one node with as many.`,
        ]
      : []),
    slots.most === slots.fewest
      ? `16,384 slots divide evenly over ${nodes} shards.`
      : `16,384 slots do not divide evenly: ${slots.withMost} of ${nodes} shards ${slots.withMost === 1 ? 'has' : 'have'} ${count(slots.most)} slots and the others ${count(slots.fewest)}. If all get the size of the fullest, which is ${change(slots.factor - 1)} above an equal share, they need ${amount(slots.separate)}.`,
  ]
}

// Above this share of time a normal distribution does not fit a load.
const mostBelowZero = 0.01

/** Reasons to doubt the numbers above. @param {StaffingAnswer} answer */
const warnings = ({ beyondNode, belowZero, mean, sd, unit, measured }) => {
  const amount = (/** @type {number} */ value) => formatted(unit, value)
  /** @type {string[]} */
  const texts = []
  if (beyondNode) {
    const { each, single, fewest } = beyondNode
    const who =
      each > 100 ? `Each node needs ${amount(each)}` : `One node for the sum needs ${amount(single)}`
    const room =
      fewest === null
        ? 'no number of shards that a cluster can have is enough'
        : `the load needs at least ${count(fewest)} ${fewest === 1 ? 'node' : 'nodes'}`
    texts.push(
      `Warning: ${who}, and a node has 100 %: every command runs in its main thread, which is one core. With this margin ${room}.`,
    )
  }
  if (belowZero > mostBelowZero)
    texts.push(
      `Warning: a standard deviation of ${amount(sd)} is ${change(sd / mean)} of the mean. A normal distribution has loads below 0 for ${chance(belowZero)} of the time then, which no node has: such loads have a longer tail above than the formulas assume, so they overflow more often than shown at margins of 2 and more. ${measured ? 'Trust the lines that were measured.' : 'Measure them with --from.'}`,
    )
  return texts
}

/** @param {StaffingAnswer} answer */
const measuredSentences = ({ measured, unit, nodes }) => {
  if (!measured) return []
  const amount = (/** @type {number} */ value) => formatted(unit, value)
  return [
    `Nodes of one size need the room of the busiest: ${nodes} of them ${amount(measured.sameSize)}.`,
    `Measured: the peaks of the ${nodes} nodes add up to ${amount(measured.peaks)}, the peak of their sum was ${amount(measured.peak)}. A moment above a margin is counted as measured; neighbouring moments are alike, so ${count(measured.moments)} of them are fewer independent ones.`,
  ]
}

/** @param {StaffingAnswer} answer */
const simulatedSentences = ({ simulated, node, any, nodes, unit }) => {
  if (!simulated) return []
  return [
    `Simulated with ${count(simulated.draws)} draws: a node overflows in ${chance(simulated.node)} (formula ${chance(node)}), any of ${nodes} in ${chance(simulated.any)} (${chance(any)}), the single node in ${chance(simulated.single)} (${chance(node)}); standard deviation of the sum ${formatted(unit, simulated.sumSd)}.`,
  ]
}

export const staffing = answer({
  ...{ kind: 'staff', schema },
  verdict: (/** @type {StaffingAnswer} */ one) => ({
    title: '',
    question: '',
    word: '',
    good: true,
    sentence: loadWords(one),
  }),
  prose: (one) => [sentences(one), warnings(one), measuredSentences(one), simulatedSentences(one)],
  tables: (one) => {
    const amount = (/** @type {number} */ value) => formatted(one.unit, value)
    return [
      one.measured &&
        table('', one.measured.nodes, [
          words('node', ({ name }) => name),
          figure('mean', ({ mean }) => mean, amount),
          figure('standard deviation', ({ sd }) => sd, amount),
          figure('peak', ({ max }) => max, amount),
        ]),
      marginTable(one),
      countTable(one),
    ]
  },
})
