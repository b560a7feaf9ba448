// What an item cost the servers: their figures divided by what all writers stored.
import { netCost } from '../measure/idle-cost.js'
import { isScheduled } from '../plan/pacer.js'

/**
 * @typedef {import('../plan/plan.js').Plan} Plan
 * @typedef {import('../measure/node-sampler.js').NodeTotals} NodeTotals
 * @typedef {import('../measure/idle-cost.js').Idle} Idle
 * @typedef {import('../measure/idle-cost.js').Unknown} Unknown
 */

// What others may run of our commands before it is worth a word.
const foreignPart = 0.05

/**
 * What all writers stored in the window, and our part of it. The leases tell, each second, how many writers there were;
 * where a command stands for an item, the servers cannot have stored more items than they ran of it. Where the leases
 * are not certain (writers came or went, or write as fast as they can), the servers' count decides.
 * @param {object} known
 * @param {Plan} known.plan
 * @param {ReturnType<typeof import('../workloads/of-plan.js').strategyOf>} known.strategy
 * @param {number} known.stored items that we stored in the window
 * @param {number} known.unsure items that we did not, and commands that were sent again: each may have been counted
 * @param {NodeTotals['commands']} known.commands of the masters in the window
 * @param {import('../measure/presence.js').Presence} known.writers
 */
export const shareOf = ({ plan, strategy, stored, unsure, commands, writers }) => {
  const byLeases = writers.mean ? Math.min(1, writers.own / writers.mean) : 1
  const counting = strategy.countingCommand
  const calls = counting === null ? 0 : (commands[counting]?.calls ?? 0)
  if (calls === 0) return { share: byLeases, all: stored / byLeases, foreign: null }
  // An item that failed by its ZADD has its SETEX counted all the same: what is not ours for certain may still be
  // ours, and no other writer's. Between these bounds the leases decide.
  const least = Math.min(1, stored / calls)
  const most = Math.min(1, (stored + unsure) / calls)
  if (!isScheduled(plan) || !writers.steady)
    return { share: Math.min(most, Math.max(least, byLeases)), all: Math.max(stored, calls), foreign: null }
  const all = Math.max(stored, Math.min(calls, (stored + unsure) / byLeases))
  const foreign =
    calls - all > foreignPart * calls ? { command: counting, calls: Math.round(calls - all) } : null
  return { share: Math.max(least, byLeases), all, foreign }
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
 * @param {Idle | Unknown} known.idle
 * @param {readonly { address: string, sampled_s: number }[]} known.nodes
 * @param {number | null} known.dataBefore bytes of the data set before the first write
 * @param {number} known.keysBefore
 * @param {number} known.elapsedMs of the whole run
 * @param {import('../measure/presence.js').Presence} known.writers
 */
export const serverCosts = ({
  plan,
  strategy,
  stored,
  unsure,
  totals,
  idle,
  nodes,
  dataBefore,
  keysBefore,
  elapsedMs,
  writers,
}) => {
  const { commands } = totals
  const { share, all, foreign } = shareOf({ plan, strategy, stored, unsure, commands, writers })
  const live = liveItems(plan, share)
  // A --once run has not reached its steady size before a lifetime has passed.
  const grown = !plan.once || elapsedMs >= plan.ttlS * 1000
  // What others had stored before our first item is part of what was there before.
  const counts = live !== null && grown && keysBefore < live / 20 && !writers.before
  const grownBytes = totals.data_bytes === null || dataBefore === null ? null : totals.data_bytes - dataBefore
  // Of a run that stored nothing the servers' work has no item to be divided by.
  const per = (/** @type {number | null} */ figure) => (figure === null || stored === 0 ? null : figure / all)
  const watched = nodes.map(({ address, sampled_s: overS }) => ({ address, overS }))
  const net = netCost({ cpuS: totals.cpu_s, items: stored === 0 ? 0 : all, idle, nodes: watched })
  return {
    share,
    cpu_us_per_item: per(totals.cpu_s === null ? null : totals.cpu_s * 1e6),
    cpu_us_per_item_net: net?.net ?? null,
    cpu_us_per_item_net_uncertainty: net?.uncertainty ?? null,
    fixed_cpu_share: net?.fixed_share ?? null,
    idle,
    memory_bytes_per_item:
      counts && stored > 0 && grownBytes !== null && grownBytes >= leastBytes * plan.masters
        ? grownBytes / live
        : null,
    net_bytes_per_item: per(totals.net_bytes),
    evicted: totals.evicted,
    foreign_calls: foreign,
    commands: Object.fromEntries(
      Object.entries(totals.commands).filter(([name]) => strategy.commandNames.has(name)),
    ),
  }
}
