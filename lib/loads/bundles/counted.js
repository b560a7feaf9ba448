// Reads the counters of a run from the servers and compares them with what was acknowledged.
import { certain } from '../../base/typed.js'
import { listIn } from '../../servers/lists.js'
import { ownerOf } from '../../servers/topology.js'

/**
 * @import { Counts } from '../../probes/ledger.js'
 * @import { Target } from '../../servers/open.js'
 * @import { Amounts, Sum } from '../../workloads/declare.js'
 * @import { strategyOf } from '../../workloads/bound-strategy.js'
 *
 * @typedef {ReturnType<typeof strategyOf>} Strategy
 */

const pageSize = 5000

/**
 * @param {Strategy} strategy
 * @param {Target} target
 * @returns {Promise<Float64Array>} of counter i + 1
 */
const amountsIn = async (strategy, target) => {
  const { play, counters } = certain(strategy.amounts())
  const { commands } = strategy.bundle(play)
  const control = target.control(ownerOf(target.topology, strategy.keyOf(1)))
  const amounts = new Float64Array(counters)
  for (let from = 0; from < counters; from += pageSize) {
    const numbers = Array.from({ length: Math.min(pageSize, counters - from) }, (_, i) => from + i + 1)
    const [[name, ...args]] = commands(numbers, numbers.length)
    const found = listIn(name, await control.call(name, args))
    // What is no number was not written by us, and cannot be incremented.
    for (const [i, amount] of found.entries()) amounts[from + i] = Number(amount) || 0
  }
  return amounts
}

const sumOf = (/** @type {Float64Array} */ amounts) => amounts.reduce((sum, amount) => sum + amount, 0)

/**
 * Reads the counters; what it returns reads them again, and compares.
 * @param {Strategy} strategy
 * @param {Target} target
 * @param {boolean} inPasses it is known how often each was incremented
 */
export const counted = async (strategy, target, inPasses) => {
  const before = await amountsIn(strategy, target)
  /** @param {Counts} outcome @returns {Promise<Sum>} */
  return async ({ offered, acked, uncertain, unsettled }) => {
    const after = await amountsIn(strategy, target)
    const { expected } = certain(strategy.amounts())
    let different = 0
    if (inPasses && acked === offered)
      for (const [i, amount] of after.entries()) if (amount - before[i] !== expected(i + 1)) different++
    return {
      before: sumOf(before),
      after: sumOf(after),
      acked,
      // What the run did not wait for may have been done as well.
      uncertain: uncertain + unsettled,
      different,
    }
  }
}
