// Ends a run before it harms the target: judged once a second by what the nodes say.
import { bytes, count, percent, plainText } from '../base/units.js'

/**
 * @import { GuardLimits } from '../../settings.js'
 * @import { NodeRow } from '../probes/node-sampler.js'
 */

/**
 * @param {GuardLimits} limits
 * @returns {(rows: NodeRow[]) => string | null} takes the rows of a second and returns the first limit exceeded, in words
 */
export const guardOf = ({ evicted: mostEvicted, memoryPct, lagBytes }) => {
  /** @type {Map<string, number>} */
  const evicted = new Map()

  /** @param {NodeRow} row */
  const fault = (row) => {
    const { address, evicted: more = 0, memory_bytes: used, memory_limit_bytes: limit, lag_bytes: lag } = row
    const sum = (evicted.get(address) ?? 0) + Number(more ?? 0)
    evicted.set(address, sum)
    const usedPct = used && limit ? (Number(used) / Number(limit)) * 100 : 0
    if (mostEvicted !== null && sum > mostEvicted)
      return `evicted ${count(sum)} keys (evicted>${mostEvicted}); raise maxmemory, shorten lifetimes or write less`
    if (memoryPct !== null && usedPct > memoryPct)
      return `uses ${percent(usedPct)} of its memory, ${bytes(Number(limit))} (memory>${memoryPct}%); shorten lifetimes or write less`
    if (lagBytes !== null && Number(lag ?? 0) > lagBytes)
      return `is ${bytes(Number(lag))} behind its master (lag>${bytes(lagBytes)}); lower the rate or look at its network`
  }

  return (rows) => {
    // Reads every row, so that the sums miss none.
    const faults = rows.map((row) => ({ address: row.address, words: fault(row) }))
    const first = faults.find(({ words }) => words)
    return first ? `${plainText(first.address)} ${first.words}` : null
  }
}
