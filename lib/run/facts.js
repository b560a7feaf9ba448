// What the plan must know of the target beyond the settings.
import { OptionError, TargetError } from '../errors.js'
import { planOf } from '../plan/plan.js'
import { count } from '../report/units.js'
import { contextOf } from '../strategies/context.js'
import { strategies } from '../strategies/index.js'
import { scriptSha } from '../target/scripts.js'

/**
 * @typedef {import('../../settings.js').Settings} Settings
 * @typedef {import('../target/open.js').Target} Target
 */

// Redis 6.2 reads no more of them in one command.
const oldMaxArguments = 1_048_576

/** How fields get a lifetime on this server. @param {Target} target */
const fieldExpiryOf = async (target) => {
  const known = await target.commands(['HSETEX', 'HEXPIRE'])
  if (known.has('HSETEX')) return /** @type {const} */ ('HSETEX')
  if (known.has('HEXPIRE')) return /** @type {const} */ ('HEXPIRE')
  throw new TargetError(
    `${target.address} (${target.versions.join(', ')}) cannot expire the fields of a hash: hash-ttl needs HEXPIRE (Redis 7.4) or HSETEX (Redis 8.0, Valkey 9.0)`,
    { code: 'UNSUPPORTED' },
  )
}

/**
 * How many items a command of this step may carry within so many arguments.
 * @param {import('../strategies/declare.js').GatherStep} step
 * @param {number} most
 */
const membersWithin = ({ key, args }, most) => {
  const [one, two] = [[1], [1, 1]].map((ns) => args(key(1), ns).length)
  const anItem = two - one
  return Math.floor((most - (one - anItem)) / anItem)
}

/**
 * The most items that a tick puts under one key: its agent's chunk, of which the sorted sets have equal parts.
 * @param {import('../plan/plan.js').Plan} plan
 * @param {import('../strategies/declare.js').GatherStep} step
 */
const membersOf = ({ agents, chunks, sets }, { key, max }) => {
  const chunk = Math.ceil(Math.max(...agents.map(({ count }) => count)) / chunks)
  const isSpread = sets.includes(/** @type {string} */ (key(1)))
  const members = Math.ceil(chunk / (isSpread ? sets.length : 1))
  return max === 0 ? members : Math.min(max, members)
}

/** @param {Settings} settings @param {import('../plan/plan.js').Plan} plan @param {Target} target */
const checkMembers = ({ maxMembers }, plan, { majorVersion, address, versions }) => {
  if (majorVersion >= 7) return
  for (const step of strategies[plan.strategy](contextOf(plan))) {
    if (step.kind !== 'gather') continue
    const most = membersWithin(step, oldMaxArguments)
    const members = membersOf(plan, step)
    if (members <= most) continue
    const flag = maxMembers === undefined ? '--ws' : `--max-members ${maxMembers}`
    throw new OptionError(
      `${flag}: a command would have ${count(members)} members, and on ${address} (${versions.join(', ')}), which reads ${count(oldMaxArguments)} arguments, it may have ${count(most)} at most; cut it with --max-members, or raise -c`,
    )
  }
}

/** The agents that this process may become. @param {Settings} settings */
const possibleAgents = ({ agent, totalAgents }) =>
  Array.isArray(agent) ? [...agent] : Array.from({ length: totalAgents }, (_, i) => i + 1)

/**
 * @param {Settings} settings
 * @param {Target} target
 * @param {number[]} [agents]
 * @returns {Promise<import('../plan/plan.js').Facts>}
 */
export const factsOf = async (settings, target, agents = []) => {
  const facts = {
    agents,
    masters: target.topology.masters.length,
    cluster: target.kind === 'cluster',
    fieldExpiry: settings.strategy === 'hash-ttl' ? await fieldExpiryOf(target) : null,
    scripts: {
      storeItem: scriptSha('store-item'),
      storeItems: scriptSha(settings.script ?? 'store-items'),
      storeHash: scriptSha('store-hash'),
      storeFields: scriptSha('store-fields'),
    },
  }
  checkMembers(settings, planOf(settings, { ...facts, agents: possibleAgents(settings) }), target)
  return facts
}
