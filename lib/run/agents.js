// Which numbers of writers or readers this process has, and how they are reported.

import { unlessInterrupted } from '../base/interrupts.js'
import { count, several } from '../base/units.js'
import { namesOfKind } from '../loads/names.js'
import { workWords } from '../loads/workers/index.js'
import { refuseRival } from '../servers/announcements.js'
import { leases } from '../servers/leases.js'
import { keepsPlans } from '../servers/unsupported-commands.js'

/**
 * @import { Settings } from '../../settings.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { ReadPlan } from '../loads/fetches/plan.js'
 * @import { WorkPlan } from '../loads/workers/plan.js'
 * @import { Warning } from '../measures/warnings.js'
 * @import { AgentGroup } from '../servers/leases.js'
 * @import { Origin, Target } from '../servers/open.js'
 * @import { Announcement } from '../servers/announcements.js'
 */

/** @param {Settings} settings @param {Origin} origin @returns {readonly number[] | 'next'} */
export const wantedAgents = ({ agent, totalAgents }, origin) => {
  const all = Array.from({ length: totalAgents }, (_, i) => i + 1)
  if (agent === 'all' || (agent === 'auto' && origin !== 'address')) return all
  return agent === 'auto' ? 'next' : agent
}

/**
 * @typedef {object} Claim
 * @property {Settings} settings
 * @property {Target} target
 * @property {string} run
 * @property {(line: string) => void} say
 * @property {(message: string) => void} onLost
 * @property {(message: string) => void} [onRival] another plan is being written under the prefix as well
 * @property {() => number} [epochMs] by the clock of the servers
 * @property {AbortSignal} signal
 * @property {string} [token] that marks the leases as this process's
 * @property {() => Promise<boolean>} [isLast] whether no other writers of the plan are left at its release
 * @property {number} [lastMs] how long a lease lasts that is not renewed
 */

/** @param {(warning: Warning) => void} warn @returns {Pick<Claim, 'onLost' | 'onRival'>} */
export const leaseWarnings = (warn) => ({
  onLost: (message) => warn({ code: 'lease', message, invalidates: false }),
  onRival: (message) => warn({ code: 'rival-plan', message, invalidates: true }),
})

/** @param {Omit<Claim, 'settings'>} needs @param {AgentGroup} group @param {'next' | readonly number[]} wanted */
export const leased = async ({ signal, ...needs }, group, wanted) => {
  const clock = () => performance.now()
  const here = needs.target.origin !== 'address'
  const office = leases({ ...needs, group, clock, signal, here })
  try {
    const agents = await unlessInterrupted(signal, office.claim(wanted))
    const { otherWriters, earliest, announce, begin, release } = office
    return { agents, otherWriters, earliest, announce, begin, release }
  } catch (error) {
    await office.release()
    throw error
  }
}

/**
 * Claims numbers of writers in the target, so that the same command on another box gets others; refused while another
 * plan is being written under the prefix.
 * @param {Claim & { announced: Announcement }} claim
 */
export const claimAgents = async ({ settings, announced, ...needs }) => {
  if (!keepsPlans(needs.target.refused))
    return {
      agents: [1],
      otherWriters: async () => 0,
      earliest: async () => null,
      announce: async () => {},
      begin: async () => {},
      release: async () => {},
    }
  await unlessInterrupted(needs.signal, refuseRival(needs.target, announced))
  const { prefix, totalAgents } = settings
  return leased(needs, { prefix, totalAgents }, wantedAgents(settings, needs.target.origin))
}

/**
 * The numbers of the consumers of this process. Only a typed `-a auto` takes a lease in the target, as writers do.
 * Otherwise it has all of them wherever the servers run, as many consumers may read from one local producer.
 * @param {Claim & { strategy: string }} claim
 */
export const claimReaders = async ({ settings, strategy, ...needs }) => {
  const { agent, totalAgents, given, prefix } = settings
  if (agent === 'auto' && given.agent === 'command line') {
    return leased(needs, { prefix, totalAgents, readers: strategy }, 'next')
  }
  const all = Array.from({ length: totalAgents }, (_, i) => i + 1)
  return { agents: Array.isArray(agent) ? [...agent] : all, release: async () => {} }
}

/** @param {'writer' | 'reader'} who @param {readonly number[]} agents @param {number} totalAgents @param {string} ours @param {string} all @param {boolean} [isFleet] whether other boxes have the rest */
const partWords = (who, agents, totalAgents, ours, all, isFleet = false) => {
  if (totalAgents === 1) return `the only ${who}: ${all}`
  if (agents.length === totalAgents) return `all of ${several(totalAgents, who)}: ${all}`
  const numbers = agents.length === 1 ? `${who} ${agents[0]}` : `${who}s ${agents.join(', ')}`
  return `${numbers} of ${totalAgents}: ${ours} of ${all}${isFleet ? '' : '; -a all for everything'}`
}

/** `writer 3 of 8: 37,500 of 300,000 items/s; -a all for everything` @param {Plan} plan @param {boolean} [isFleet] */
export const agentWords = (plan, isFleet) => {
  const { agents, totalAgents, items, quantity, periodMs, pacing, clients } = plan
  const { isShared, unit } = namesOfKind(plan)
  if (clients && !isShared) return `${several(clients.connections, 'client')} over ${count(quantity)} keys`
  const isRate = periodMs === 1000 || pacing === 'smooth'
  const scale = isRate ? 1000 / periodMs : 1
  const all = `${count(quantity * scale)} ${isRate ? `${unit}s/s` : `${unit}s an interval`}`
  const numbers = agents.map(({ agent }) => agent)
  return partWords('writer', numbers, totalAgents, count(items * scale), all, isFleet)
}

/**
 * `reader 3 of 8: 4 of 32 consumers; -a all for everything`
 * @param {Pick<ReadPlan, 'agents' | 'totalAgents' | 'consumers'>} plan
 * @param {boolean} [isFleet]
 */
export const readerWords = ({ agents, totalAgents, consumers }, isFleet) =>
  partWords(
    'reader',
    agents,
    totalAgents,
    count(agents.length * consumers),
    several(totalAgents * consumers, 'consumer'),
    isFleet,
  )

/** `8 workers that take up to 50 jobs each, with 500 µs of computing a job` @param {WorkPlan} plan */
export const workersWords = ({ work: { workers, processes, outputs, take, kind, us } }) => {
  const then = outputs ? `, handed over to ${several(outputs.workers, 'output worker')}` : ''
  const where = processes > 1 ? ` in ${count(processes)} processes` : ''
  return `${several(workers, 'worker')}${where} that take${workers === 1 ? 's' : ''} ${take === 1 ? 'a job' : `up to ${count(take)} jobs`} at once, ${workWords({ us, kind })}${then}`
}
