// What an item cost the servers: their figures divided by what all writers stored.

/**
 * @typedef {import('../plan/plan.js').Plan} Plan
 * @typedef {import('../measure/node-sampler.js').NodeTotals} NodeTotals
 */

/**
 * What all writers stored in the window, and our part of it: counted by the servers where a command stands for an
 * item, else by the agents that hold a lease.
 * @param {object} known
 * @param {Plan} known.plan
 * @param {ReturnType<typeof import('../workloads/of-plan.js').strategyOf>} known.strategy
 * @param {number} known.stored items that we stored in the window
 * @param {number} known.unsure items that we did not, and commands that were sent again: each may have been counted
 * @param {NodeTotals['commands']} known.commands of the masters in the window
 * @param {readonly number[]} known.liveAgents
 */
export const shareOf = ({ plan, strategy, stored, unsure, commands, liveAgents }) => {
  const byLeases =
    plan.agents.length / new Set([...liveAgents, ...plan.agents.map(({ agent }) => agent)]).size
  const counting = strategy.countingCommand
  const calls = counting === null ? 0 : (commands[counting]?.calls ?? 0)
  if (calls === 0) return { share: byLeases, all: stored / byLeases }
  // An item that failed by its ZADD has its SETEX counted all the same: what is not ours for certain may still be
  // ours, and no other writer's. Between these bounds the leases decide.
  const least = Math.min(1, stored / calls)
  const most = Math.min(1, (stored + unsure) / calls)
  return { share: Math.min(most, Math.max(least, byLeases)), all: Math.max(stored, calls) }
}

/**
 * @param {object} known
 * @param {Plan} known.plan
 * @param {ReturnType<typeof import('../workloads/of-plan.js').strategyOf>} known.strategy
 * @param {number} known.stored
 * @param {number} known.unsure
 * @param {NodeTotals} known.totals over the window
 * @param {ReturnType<typeof import('./memory-cost.js').memoryCost>} known.memory
 * @param {readonly number[]} known.liveAgents
 */
export const serverCosts = ({ plan, strategy, stored, unsure, totals, memory, liveAgents }) => {
  const { share, all } = shareOf({ plan, strategy, stored, unsure, commands: totals.commands, liveAgents })
  const per = (/** @type {number | null} */ figure) => (figure === null || all === 0 ? null : figure / all)
  return {
    share,
    cpu_us_per_item: per(totals.cpu_s === null ? null : totals.cpu_s * 1e6),
    ...memory,
    net_bytes_per_item: per(totals.net_bytes),
    evicted: totals.evicted,
    commands: Object.fromEntries(
      Object.entries(totals.commands).filter(([name]) => strategy.commandNames.has(name)),
    ),
  }
}
