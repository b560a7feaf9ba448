// Which agent has which items, and how they are divided into parts.

/**
 * @typedef {{ first: number, count: number, items?: Float64Array | null }} Range consecutive items; or places, and the
 *   items in them
 */

/**
 * Agent a of t (from 1): equal shares, the last takes the rest.
 * @param {number} quantity
 * @param {number} totalAgents
 * @param {number} agent
 * @returns {Range}
 */
export const agentRange = (quantity, totalAgents, agent) => {
  const each = Math.floor(quantity / totalAgents)
  const first = 1 + (agent - 1) * each
  return { first, count: agent === totalAgents ? quantity - first + 1 : each }
}

/**
 * Part k of c (from 0) of a range, as equal as whole items allow.
 * @param {Range} range
 * @param {number} chunks
 * @param {number} k
 * @returns {Range}
 */
export const chunkRange = ({ first, count }, chunks, k) => {
  const from = Math.floor((k * count) / chunks)
  return { first: first + from, count: Math.floor(((k + 1) * count) / chunks) - from }
}

/** `3, 5-8` @param {readonly number[]} numbers rising */
export const rangesText = (numbers) => {
  /** @type {[number, number][]} */
  const ranges = []
  for (const n of numbers) {
    const last = ranges.at(-1)
    if (last && last[1] === n - 1) last[1] = n
    else ranges.push([n, n])
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')
}
