// When the idle cost of the servers is measured, and when the servers were not idle.

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
 * Why the idle cost is not measured; null: it is.
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

/**
 * @param {object} needs
 * @param {Plan} needs.plan
 * @param {{ commandNames: ReadonlySet<string> }} needs.strategy
 * @param {Pick<Target, 'reporting' | 'refused' | 'info'>} needs.target
 * @param {'auto' | 'always' | 'never'} needs.asked
 * @param {() => Promise<number>} needs.otherWriters
 * @param {(line: string) => void} needs.say
 * @param {() => void} needs.onSample
 * @returns {Promise<Idle | Unknown>}
 */
export const idleOf = async ({ plan, strategy, target, asked, otherWriters, say, onSample }) => {
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
  return idleCost({ sample, sleep, disturbed: disturbedBy({ strategy, otherWriters }) })
}
