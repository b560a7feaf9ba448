// The costs of an item on the servers: their CPU and bytes divided by the items that all writers stored.

import { memoryCost } from './memory-cost.js'
import { othersBy, othersIn } from './others.js'

/**
 * @import { NodeTotals } from '../measures/nodes.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { strategyOf } from '../workloads/bound-strategy.js'
 * @import { Idle, Unknown } from './idle-cost.js'
 * @import { Presence } from './presence.js'
 */

// Fewer calls of the command that counts items are not those of others.
const foreignPart = 0.05

/**
 * Items that were stored in the measured window, of which it has its rate, and by which its CPU and bytes are divided. Where
 * all that was due in it was stored, that is what was due; else, and with no schedule, ticks lie across its edges, and what
 * was acknowledged in its seconds counts, as they count it.
 * @param {Pick<Plan, 'schedule'>} plan
 * @param {{ acked: number, offered: number }} due in the window
 * @param {number} acked in the window, whenever it was due
 */
export const storedOf = (plan, due, acked) =>
  plan.schedule !== 'none' && due.offered > 0 && due.acked === due.offered ? due.acked : acked

// Operations executed but not answered at the first INFO, at the last one, and while its own answer was on its way.
const underWay = 3

/**
 * Operations that the servers' costs are divided by, of slow ones. A server that is busy with scripts answers INFO seconds
 * later: those count that it ran between the same two INFO that their CPU is the difference of. By its own count, which
 * is right at that moment, while replies come some at once; where that counts others, by the replies.
 * @param {object} known
 * @param {Pick<Plan, 'clients'>} known.plan
 * @param {{ onceCommand?: string }} known.strategy
 * @param {Pick<NodeTotals, 'carried' | 'commands'>} known.totals
 * @param {Pick<Presence, 'own' | 'mean'>} known.writers
 */
export const costedOf = ({ plan, strategy, totals: { carried, commands }, writers }) => {
  const { calls = Number.NaN } = commands[strategy.onceCommand ?? ''] ?? {}
  const { connections = 0, pipeline = 1 } = plan.clients ?? {}
  const areOthers = (writers.mean ?? 0) > writers.own
  return !areOthers && Math.abs(calls - carried) <= underWay * connections * pipeline ? calls : carried
}

/**
 * Items that were sent and not stored, repeats, and what is of ticks before the window: the servers may have counted each.
 * What was dropped had no command.
 * @param {{ measured: { failed: number, uncertain: number, unsettled: number }, commands: { repeated: number } }} account
 * @param {number} beyond acknowledged in the window, and not among what was stored
 */
const unsureOf = ({ measured, commands }, beyond) =>
  measured.failed + measured.uncertain + measured.unsettled + commands.repeated + Math.max(0, beyond)

/**
 * What all writers stored in the window, and our part of it. The leases show, each second, how many writers there were;
 * where a command carries one item, the servers cannot have stored more items than they ran of it. Where the leases
 * are not certain (writers came or went, or write as fast as they can), the servers' count decides.
 * @param {object} known
 * @param {Plan} known.plan
 * @param {ReturnType<typeof strategyOf>} known.strategy
 * @param {number} known.stored items that we stored in the window
 * @param {NodeTotals['counted']} [known.counted] of them between the two INFO that the commands are counted by
 * @param {number} known.unsure items that we did not, and commands that were sent again: each may have been counted
 * @param {Presence} known.writers
 * @param {NodeTotals['commands']} commands of the masters in the window
 */
export const shareOf = ({ plan, strategy, stored, counted, unsure, writers }, commands) => {
  const { least: surely, most: perhaps } = counted ?? { least: stored, most: stored }
  const byLeases = writers.mean ? Math.min(1, writers.own / writers.mean) : 1
  const counting = strategy.countingCommands
  // Consumers that run the same command leave no count of items.
  const { signs, all: theirs } = strategy.consumerCommands
  const isShared = counting.some((name) => theirs.has(name)) && [...signs].some((name) => name in commands)
  const calls = isShared ? 0 : counting.reduce((sum, name) => sum + (commands[name]?.calls ?? 0), 0)
  if (calls === 0) return { share: byLeases, all: stored / byLeases, foreign: null }
  // An item that failed by its ZADD has its SETEX counted all the same: what is not ours for certain may still be
  // ours, and no other writer's. Between these bounds the leases decide.
  const least = Math.min(1, surely / calls)
  const most = Math.min(1, (perhaps + unsure) / calls)
  // The last batch of a short window may come after the INFO that the CPU is of; less than half: its count was reset.
  const ran = calls < surely / 2 ? surely : calls
  if (plan.schedule === 'none' || !writers.steady)
    return { share: Math.min(most, Math.max(least, byLeases)), all: ran, foreign: null }
  const ours = (perhaps + unsure) / byLeases
  const isForeign = calls - ours > foreignPart * calls
  const foreign = isForeign ? { command: counting.join(', '), calls: Math.round(calls - ours) } : null
  return { share: Math.max(least, byLeases), all: isForeign ? ours : ran, foreign }
}

/**
 * What was stored in the measured window, at what rate, and what that cost the servers: for a process and a fleet alike.
 * @param {object} known
 * @param {Plan} known.plan
 * @param {ReturnType<typeof strategyOf>} known.strategy
 * @param {Parameters<typeof unsureOf>[0] & { measured: { acked: number, offered: number } }} known.ledger
 * @param {number} known.acked in the window, whenever it was due
 * @param {number} known.measuredS
 * @param {Omit<Parameters<typeof memoryCost>[0], 'plan' | 'strategy'>} known.storedData
 * @param {NodeTotals} known.totals over the window
 * @param {NodeTotals['counted']} [known.counted] not of a fleet, one box of which asks for INFO
 * @param {Idle | Unknown} known.idle
 * @param {Presence} known.writers
 * @param {number} [known.processes] of the run, where that is known
 * @param {boolean} [known.opensConnections] while it runs
 */
export const storedAtCost = ({ ledger, acked, measuredS, storedData, ...known }) => {
  const { plan, strategy } = known
  const stored = storedOf(plan, ledger.measured, acked)
  const { server, costed } = serverCosts({
    ...known,
    ...(strategy.loads ? { stored: costedOf(known), counted: undefined } : { stored }),
    unsure: unsureOf(ledger, acked - stored),
    memory: memoryCost({ plan, strategy, ...storedData }),
  })
  return { stored, server, costed, achieved: measuredS > 0 ? stored / measuredS : null }
}

/**
 * The measurements of the servers that are not divided by items.
 * @typedef {{ totals: Pick<NodeTotals, 'commands' | 'evicted' | 'roles'>, idle: Idle | Unknown, processes?: number, opensConnections?: boolean }} OfServers over the
 *   window; processes: how many of the run there were
 * @param {Parameters<typeof shareOf>[0] & OfServers & { memory: ReturnType<typeof memoryCost> }} needs
 */
export const serverCosts = ({ stored, totals, idle, memory, ...known }) => {
  const { plan, strategy } = known
  const { commands, evicted, roles } = totals
  const { share, all, foreign } = shareOf({ ...known, stored }, commands)
  const { own, mean } = known.writers
  const processes = known.processes ?? 1 + Math.max(0, Math.ceil((mean ?? own) - own))
  const others = foreign
    ? othersBy(foreign, roles.masters)
    : othersIn(roles, { plan, strategy, processes, opensConnections: known.opensConnections ?? false })
  const names = Object.entries(commands).filter(([name]) => strategy.commandNames.has(name))
  return {
    // A run that stored nothing has no costs per item.
    costed: { items: stored === 0 ? 0 : all, idle, others },
    server: {
      share,
      ...memory,
      evicted,
      commands: Object.fromEntries(names),
    },
  }
}
