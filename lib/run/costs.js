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

/** Items alive at the end of the window, of all writers. @param {Plan} plan @param {number} share */
const liveItems = (plan, share) => {
  if (plan.ttlS * 1000 < plan.periodMs || share === 0) return null
  if (!plan.once) return plan.items / share
  return plan.rate === 'max' ? null : (plan.items / share) * ((plan.ttlS * 1000) / plan.periodMs)
}

// Tables and buffers that a server grows by itself: below this they would pass for the items'.
const leastBytes = 100_000

/**
 * @param {object} known
 * @param {Plan} known.plan
 * @param {ReturnType<typeof import('../workloads/of-plan.js').strategyOf>} known.strategy
 * @param {number} known.stored
 * @param {number} known.unsure
 * @param {NodeTotals} known.totals over the window
 * @param {number | null} known.dataBefore bytes of the data set before the first write
 * @param {number} known.keysBefore
 * @param {number} known.elapsedMs of the whole run
 * @param {readonly number[]} known.liveAgents
 */
export const serverCosts = ({
  plan,
  strategy,
  stored,
  unsure,
  totals,
  dataBefore,
  keysBefore,
  elapsedMs,
  liveAgents,
}) => {
  const { share, all } = shareOf({ plan, strategy, stored, unsure, commands: totals.commands, liveAgents })
  const live = liveItems(plan, share)
  // A --once run has not reached its steady size before a lifetime has passed.
  const grown = !plan.once || elapsedMs >= plan.ttlS * 1000
  const counts = live !== null && grown && keysBefore < live / 20
  const grownBytes = totals.data_bytes === null || dataBefore === null ? null : totals.data_bytes - dataBefore
  // Of a run that stored nothing the servers' work has no item to be divided by.
  const per = (/** @type {number | null} */ figure) => (figure === null || stored === 0 ? null : figure / all)
  return {
    share,
    cpu_us_per_item: per(totals.cpu_s === null ? null : totals.cpu_s * 1e6),
    memory_bytes_per_item:
      counts && stored > 0 && grownBytes !== null && grownBytes >= leastBytes * plan.masters
        ? grownBytes / live
        : null,
    net_bytes_per_item: per(totals.net_bytes),
    evicted: totals.evicted,
    commands: Object.fromEntries(
      Object.entries(totals.commands).filter(([name]) => strategy.commandNames.has(name)),
    ),
  }
}
