// Measured loads of nodes: mean, spread, correlation, and how often they overflow. Pure.

/**
 * @typedef {'pct' | 'bytes' | 'number'} LoadUnit
 * @typedef {{ name: string, values: number[] }} NodeSeries values at the moments that all nodes have in common
 * @typedef {{ unit: LoadUnit, what: string, nodes: NodeSeries[], moments: number }} Measured
 * @typedef {{ name: string, points: ReadonlyMap<number, number> }} Points of a node, by epoch or elapsed milliseconds
 */

const average = (/** @type {readonly number[]} */ values) =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** @param {readonly number[]} values */
const deviation = (values) => {
  const middle = average(values)
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1))
}

/** @param {NodeSeries[]} nodes @returns {number[]} */
const sums = (nodes) => nodes[0].values.map((_, at) => nodes.reduce((sum, { values }) => sum + values[at], 0))

/**
 * The load for the formulas: the mean node, and the correlation that gives the measured spread of the sum.
 * @param {NodeSeries[]} nodes
 */
export const typedLoadOf = (nodes) => {
  const each = nodes.map(({ name, values }) => ({
    name,
    mean: average(values),
    sd: deviation(values),
    max: Math.max(...values),
  }))
  const sum = deviation(sums(nodes))
  const own = each.reduce((total, { sd }) => total + sd * sd, 0)
  const together = each.reduce((total, { sd }) => total + sd, 0)
  const pairs = together * together - own
  const rho = nodes.length > 1 && pairs > 0 ? (sum * sum - own) / pairs : 0
  return {
    each,
    load: {
      nodes: nodes.length,
      mean: average(each.map(({ mean }) => mean)),
      sd: average(each.map(({ sd }) => sd)),
      rho: Math.max(-1, Math.min(1, rho)),
    },
  }
}

/**
 * How often measured loads exceeded a margin above their mean, and the capacity that none would have exceeded.
 * @param {NodeSeries[]} nodes
 * @param {number} margin
 */
export const measuredOverflow = (nodes, margin) => {
  const limits = nodes.map(({ values }) => average(values) + margin * deviation(values))
  const totals = sums(nodes)
  const single = average(totals) + margin * deviation(totals)
  const moments = totals.length
  let node = 0
  let any = 0
  for (let at = 0; at < moments; at++) {
    const above = nodes.filter(({ values }, which) => values[at] > limits[which]).length
    node += above
    if (above > 0) any++
  }
  return {
    separate: limits.reduce((sum, limit) => sum + limit, 0),
    /** All nodes in the size that the busiest needs. */
    sameSize: nodes.length * Math.max(...limits),
    single,
    node: node / (moments * nodes.length),
    any: any / moments,
    singleOver: totals.filter((total) => total > single).length / moments,
    peaks: nodes.reduce((sum, { values }) => sum + Math.max(...values), 0),
    peak: Math.max(...totals),
  }
}
