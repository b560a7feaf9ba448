// When the idle cost of the servers is measured, and when what was seen is not idle.

import { sleep } from '../base/settlement.js'
import { idleCost } from '../measure/idle-cost.js'
import { nodeSampler } from '../measure/node-sampler.js'
import { lengthMs } from './second.js'

/**
 * @import { Idle, Unknown } from '../measure/idle-cost.js'
 * @import { NodeRow } from '../measure/node-sampler.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Target } from '../servers/open.js'
 */

const shortestMs = 10_000

/**
 * Why it is not measured, or null.
 * @param {'auto' | 'always' | 'never'} asked
 * @param {number | null} runMs how long the run will take
 */
export const whyNotIdle = (asked, runMs) => {
  if (asked === 'never') return '--idle-cost never'
  if (asked === 'auto' && runMs !== null && runMs < shortestMs)
    return `a run of less than ${shortestMs / 1000} s measures it only with --idle-cost always`
  return null
}

/**
 * Other boxes of this run may have begun to write.
 * @param {object} needs
 * @param {{ commandNames: ReadonlySet<string> }} needs.strategy
 * @param {() => Promise<number>} needs.others how many writers of other processes are at work
 * @returns {(rows: readonly NodeRow[][]) => Promise<string | null>}
 */
export const disturbedBy =
  ({ strategy, others }) =>
  async (rows) => {
    const names = strategy.commandNames
    const wrote = rows
      .flat()
      .some(({ commands = {} }) => Object.keys(commands).some((name) => names.has(name)))
    if (!wrote) return null
    const there = await others().catch(() => null)
    if (there === null) return 'items were written, and the leases cannot say by whom'
    return there > 0 ? 'other writers of this run were at work already' : null
  }

/**
 * @param {object} needs
 * @param {Plan} needs.plan
 * @param {{ commandNames: ReadonlySet<string> }} needs.strategy
 * @param {Pick<Target, 'reporting' | 'refused' | 'info'>} needs.target
 * @param {'auto' | 'always' | 'never'} needs.asked
 * @param {() => Promise<number>} needs.others
 * @param {(line: string) => void} needs.say
 * @param {() => void} needs.onSample
 * @returns {Promise<Idle | Unknown>}
 */
export const idleOf = async ({ plan, strategy, target, asked, others, say, onSample }) => {
  const why = target.refused.has('INFO') ? 'the server refuses INFO' : whyNotIdle(asked, lengthMs(plan))
  if (why !== null) return { why }
  say('measuring the CPU of the idle servers (--idle-cost never skips it)')
  const sampler = nodeSampler({
    nodes: target.reporting,
    info: target.info,
    clock: () => performance.now(),
  })
  const sample = () => {
    onSample()
    return sampler.sample()
  }
  return idleCost({ sample, sleep, disturbed: disturbedBy({ strategy, others }) })
}
