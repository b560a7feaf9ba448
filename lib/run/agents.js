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
 * Claims them in the target, so that the same command on another box makes other agents.
 * @param {object} needs
 * @param {Settings} needs.settings
 * @param {import('../target/open.js').Target} needs.target
 * @param {string} needs.run
 * @param {(line: string) => void} needs.say
 * @param {(message: string) => void} needs.onLost
 * @param {AbortSignal} needs.signal
 */
export const claimAgents = async ({ settings, target, run, say, onLost, signal }) => {
  const office = leases({ target, terms: settings, run, say, onLost, clock: () => performance.now(), signal })
  try {
    const agents = await unlessInterrupted(signal, office.claim(wantedAgents(settings, target.origin)))
    const live = () => within(office.live(), [])
    return { agents, live, announce: office.announce, release: office.release }
  } catch (error) {
    await office.release()
    throw error
  }
}

/**
 * Which of the run's consumers this process is. Only `-a auto`, typed, writes to the target: a lease, as for writers.
 * @param {Parameters<typeof claimAgents>[0] & { strategy: string }} needs
 */
export const claimReaders = async ({ settings, strategy, ...needs }) => {
  const { agent, totalAgents, given, prefix } = settings
  if (agent === 'auto' && given.agent === 'command line') {
    const terms = { prefix, quantity: 0, totalAgents, strategy: `read ${strategy}` }
    return claimAgents({
      settings: { ...settings, ...terms, strategy: /** @type {any} */ (terms.strategy) },
      ...needs,
    })
  }
  const all = Array.from({ length: totalAgents }, (_, i) => i + 1)
  return { agents: Array.isArray(agent) ? [...agent] : all, release: async () => {} }
}

/** `agent 3 of 8: 37,500 of 300,000 items/s; -a all for everything` @param {import('../plan/plan.js').Plan} plan */
export const agentWords = ({ agents, totalAgents, items, quantity, periodMs }) => {
  const numbers = agents.map(({ agent }) => agent)
  const unit = periodMs === 1000 ? 'items/s' : 'items an interval'
  if (numbers.length === totalAgents)
    return `all of ${several(totalAgents, 'agent')}: ${count(quantity)} ${unit}`
  const who = numbers.length === 1 ? `agent ${numbers[0]}` : `agents ${numbers.join(', ')}`
  return `${who} of ${totalAgents}: ${count(items)} of ${count(quantity)} ${unit}; -a all for everything`
}
