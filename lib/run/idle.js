// When the idle cost of the servers is measured, and when the servers were not idle.

import { sleep } from '../base/settlement.js'
import { foldOf } from '../measures/fold.js'
import { nodes, nodeTotals } from '../measures/nodes.js'
import { idleCost } from '../probes/idle-cost.js'
import { nodeSampler } from '../probes/node-sampler.js'
import { othersIn, othersText } from '../probes/others.js'
import { lengthMs } from './second.js'

/**
 * @import { Idle, Unknown } from '../probes/idle-cost.js'
 * @import { NodeRow } from '../probes/node-sampler.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Target } from '../servers/open.js'
 * @import { strategyOf } from '../workloads/bound-strategy.js'
 */

// Runs of this length and longer take samples of a second.
const shortestMs = 10_000

/** How long a sample is: a short run does not wait for it longer than it takes. @param {number | null} runMs how long the run will take */
export const sampleMs = (runMs) => (runMs !== null && runMs < shortestMs ? 500 : 1000)

/**
 * Why the servers were not idle: another box of this run may have begun to write.
 * @param {object} needs
 * @param {{ commandNames: ReadonlySet<string> }} needs.strategy
 * @param {() => Promise<number>} needs.otherWriters how many writers of other processes are at work
 * @returns {(rows: readonly NodeRow[][]) => Promise<string | null>}
 */
export const disturbedBy =
  ({ strategy, otherWriters }) =>
  async (rows) => {
    const names = strategy.commandNames
    const wrote = rows
      .flat()
      .some(({ commands = {} }) => Object.keys(commands).some((name) => names.has(name)))
    if (!wrote) return null
    const there = await otherWriters().catch(() => null)
    if (there === null) return 'items were written, and the leases do not show by whom'
    return there > 0 ? 'other writers of this run were at work already' : null
  }

// Others that may have cost less than this part of what the idle servers used are within its uncertainty.
const fewOthers = 0.1

/**
 * Who else was at work in a second; null: nobody.
 * @param {{ plan: Plan, strategy: ReturnType<typeof strategyOf> }} known
 * @returns {(rows: readonly NodeRow[]) => string | null}
 */
export const othersBeside = ({ plan, strategy }) => {
  // Nothing of the run's own is sent yet.
  const alone = { ...strategy, runCommands: new Set(), runsUnknown: false }
  const fold = foldOf(nodes.record)
  return (rows) => {
    for (const path of Object.keys(fold.sum)) fold.sum[path] = null
    fold.add({ nodes: rows })
    const { cpu_s: cpuS, roles } = nodeTotals(fold.sum, fold.sum)
    const others = othersIn(roles, {
      plan,
      strategy: alone,
      processes: plan.totalAgents > plan.agents.length ? 2 : 1,
      opensConnections: false,
    })
    if (!others || cpuS === null || others.cpu_s <= cpuS * fewOthers) return null
    return `others were at work: ${othersText(others)}`
  }
}

/**
 * @param {object} run
 * @param {Plan} run.plan
 * @param {ReturnType<typeof strategyOf>} run.strategy
 * @param {Pick<Target, 'reporting' | 'refused' | 'info' | 'sent' | 'loadBytes'>} run.target
 * @param {object} needs
 * @param {'auto' | 'always' | 'never'} needs.asked
 * @param {() => Promise<number>} needs.otherWriters
 * @param {(line: string) => void} needs.say
 * @param {() => void} needs.onSample
 * @returns {Promise<Idle | Unknown>}
 */
export const idleOf = async ({ plan, strategy, target }, { asked, otherWriters, say, onSample }) => {
  const why = target.refused.has('INFO')
    ? 'the server refuses INFO'
    : asked === 'never'
      ? '--idle-cost never'
      : null
  if (why !== null) return { why }
  say('measuring the CPU of the idle servers (without it: --idle-cost never)')
  const sampler = nodeSampler(
    { nodes: target.reporting, info: target.info, clock: () => performance.now() },
    { sent: target.sent?.of, loadBytes: target.loadBytes },
  )
  const sample = () => {
    onSample()
    return sampler.sample()
  }
  return idleCost({
    sample,
    sleep,
    lengthMs: sampleMs(asked === 'always' ? null : lengthMs(plan)),
    disturbed: disturbedBy({ strategy, otherWriters }),
    others: othersBeside({ plan, strategy }),
  })
}
