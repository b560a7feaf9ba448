// Which agents this process is, and what that means in words.
import { count, several } from '../report/units.js'
import { leases } from '../target/leases.js'
import { unlessInterrupted } from './start-up.js'

/**
 * @typedef {import('../../settings.js').Settings} Settings
 */

/** @param {Settings} settings @param {import('../target/open.js').Origin} origin */
const wantedAgents = ({ agent, totalAgents }, origin) => {
  const all = Array.from({ length: totalAgents }, (_, i) => i + 1)
  if (agent === 'all' || (agent === 'auto' && origin !== 'address')) return all
  return agent === 'auto' ? /** @type {const} */ ('next') : agent
}

const answerLimitMs = 2000

/**
 * At its end a run asks who else was writing; a server that is away or blocked must not keep the result back.
 * @template T
 * @param {Promise<T>} answer
 * @param {T} otherwise
 * @returns {Promise<T>}
 */
const within = (answer, otherwise) => {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const limit = new Promise((/** @type {(value: T) => void} */ resolve) => {
    timer = setTimeout(resolve, answerLimitMs, otherwise)
  })
  return Promise.race([answer.catch(() => otherwise), limit]).finally(() => clearTimeout(timer))
}

/**
 * @typedef {object} Claim
 * @property {Settings} settings
 * @property {import('../target/open.js').Target} target
 * @property {string} run
 * @property {(line: string) => void} say
 * @property {(message: string) => void} onLost
 * @property {AbortSignal} signal
 */

/** @param {Omit<Claim, 'settings'>} needs @param {import('../target/leases.js').Terms} terms @param {'next' | readonly number[]} wanted */
const leased = async ({ target, run, say, onLost, signal }, terms, wanted) => {
  const clock = () => performance.now()
  const here = target.origin !== 'address'
  const office = leases({ target, terms, run, say, onLost, clock, signal, here })
  try {
    const agents = await unlessInterrupted(signal, office.claim(wanted))
    const live = () => within(office.live(), [])
    return { agents, live, announce: office.announce, release: office.release }
  } catch (error) {
    await office.release()
    throw error
  }
}

/** Claims them in the target, so that the same command on another box makes other agents. @param {Claim} claim */
export const claimAgents = ({ settings, ...needs }) =>
  leased(needs, settings, wantedAgents(settings, needs.target.origin))

/**
 * Which of the run's consumers this process is. Only `-a auto`, typed, writes to the target: a lease, as for writers.
 * It is one agent wherever the servers run, for many consumers may read beside one embedded producer.
 * @param {Claim & { strategy: string }} claim
 */
export const claimReaders = async ({ settings, strategy, ...needs }) => {
  const { agent, totalAgents, given, prefix } = settings
  if (agent === 'auto' && given.agent === 'command line') {
    const terms = { prefix, quantity: 0, totalAgents, strategy: `read ${strategy}` }
    return leased(needs, terms, 'next')
  }
  const all = Array.from({ length: totalAgents }, (_, i) => i + 1)
  return { agents: Array.isArray(agent) ? [...agent] : all, release: async () => {} }
}

/** @param {readonly number[]} agents @param {number} totalAgents @param {string} ours @param {string} all */
const partWords = (agents, totalAgents, ours, all) => {
  if (agents.length === totalAgents) return `all of ${several(totalAgents, 'agent')}: ${all}`
  const who = agents.length === 1 ? `agent ${agents[0]}` : `agents ${agents.join(', ')}`
  return `${who} of ${totalAgents}: ${ours} of ${all}; -a all for everything`
}

/** `agent 3 of 8: 37,500 of 300,000 items/s; -a all for everything` @param {import('../plan/plan.js').Plan} plan */
export const agentWords = ({ agents, totalAgents, items, quantity, periodMs }) => {
  const unit = periodMs === 1000 ? 'items/s' : 'items an interval'
  const numbers = agents.map(({ agent }) => agent)
  return partWords(numbers, totalAgents, count(items), `${count(quantity)} ${unit}`)
}

/** `agent 3 of 8: 4 of 32 consumers; -a all for everything` @param {import('../plan/read-plan.js').ReadPlan} plan */
export const readerWords = ({ agents, totalAgents, consumers }) =>
  partWords(
    agents,
    totalAgents,
    count(agents.length * consumers),
    several(totalAgents * consumers, 'consumer'),
  )
