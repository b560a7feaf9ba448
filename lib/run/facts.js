// What the plan must know of the target beyond the settings.

import { OptionError, TargetError } from '../base/errors.js'
import { count, plainText, several } from '../base/units.js'
import { plansOf } from '../loads/plan.js'
import { isKeptBy, waitCommand } from '../transport/durable.js'
import { strategyOf } from '../workloads/bound-strategy.js'
import { strategyNamed } from '../workloads/index.js'

/**
 * @import { Settings } from '../../settings.js'
 * @import { Plan } from '../loads/plan.js'
 * @import { Target } from '../servers/open.js'
 * @import { Declaration } from '../workloads/declare.js'
 */

const isLoopback = (/** @type {string} */ address) => /^(127\.|localhost:|\[?::1\]?:)/.test(address)

/** Nodes on this machine. @param {Pick<Target, 'nodes'>} target */
export const serversHere = ({ nodes }) => nodes().filter(({ address }) => isLoopback(address)).length

// Redis 6.2 reads no more of them in one command.
const oldMaxArguments = 1_048_576

/** The variant of the strategy that the servers support. @param {Declaration} declared @param {Target} target */
const variantOf = async ({ name, variants }, target) => {
  if (variants === null) return null
  const needs = Object.values(variants).flat()
  const known = await target.commands(needs.map(({ command }) => command))
  const variant = Object.keys(variants).find((one) =>
    variants[one].every(({ command }) => known.has(command)),
  )
  if (variant) return variant
  const ways = needs.map(({ command, since }) => `${command} (${since})`).join(' or ')
  throw new TargetError(
    `${target.address} (${target.versions.join(', ')}) does not support ${name}, which needs ${ways}`,
    { code: 'UNSUPPORTED' },
  )
}

/**
 * Checks that the servers know the commands of a user's model, and that they take the same argument as its key.
 * @param {Plan} plan
 * @param {Target} target
 */
const checkCommands = async (plan, { commands, address, versions }) => {
  if (!plan.model) return
  const steps = strategyOf(plan).steps()
  const keys = await commands([...new Set(steps.map(({ name }) => String(name)))])
  for (const { name = '', keyAt = 1 } of steps) {
    const first = keys.get(name)
    const refusal =
      first === undefined
        ? `has no command ${name}`
        : first > 0 && first !== keyAt
          ? `looks for the key of ${name} in argument ${first}, not ${keyAt}`
          : null
    if (refusal)
      throw new TargetError(
        `${address} (${versions.join(', ')}) ${refusal}, as the model ${plan.strategy} needs`,
        {
          code: 'UNSUPPORTED',
        },
      )
  }
}

/** @param {Plan} plan @param {{ max: number, isSpread: boolean }} gathered */
const membersOf = ({ agents, chunks, sets }, { max, isSpread }) => {
  const chunk = Math.ceil(Math.max(...agents.map(({ count }) => count)) / chunks)
  const members = Math.ceil(chunk / (isSpread ? sets.length : 1))
  return max === 0 ? members : Math.min(max, members)
}

/** @param {Settings} settings @param {Plan} plan @param {Target} target */
const checkMembers = ({ maxMembers }, plan, { majorVersion, address, versions }) => {
  if (majorVersion >= 7) return
  for (const gathered of strategyOf(plan).gathered) {
    const most = Math.floor((oldMaxArguments - gathered.fixed) / gathered.anItem)
    const members = membersOf(plan, gathered)
    if (members <= most) continue
    const flag = maxMembers === undefined ? '--ws' : `--max-members ${maxMembers}`
    throw new OptionError(
      `${flag}: a command would have ${count(members)} members, and on ${address} (${versions.join(', ')}), which reads ${count(oldMaxArguments)} arguments, it may have ${count(most)} at most; cut it with --max-members, or raise -c`,
    )
  }
}

// Asked on a connection that wrote nothing, so it is answered at once where so many are there.
const waitLimitMs = 2000

/** That --wait can be kept. @param {Settings} settings @param {Target} target */
const checkWait = async ({ wait }, { topology, control }) => {
  if (wait === '0') return
  const faulty = (/** @type {string} */ why) =>
    new TargetError(`--wait ${wait}: ${why}`, { code: 'UNSUPPORTED' })
  for (const address of topology.masters) {
    const [name, ...args] = waitCommand(wait, waitLimitMs)
    const reply = await control(address)
      .call(String(name), ...args)
      .catch((error) => {
        throw faulty(`${address}: ${plainText(error.message)}`)
      })
    if (isKeptBy(wait)(reply)) continue
    const has = Number(Array.isArray(reply) ? reply[1] : reply)
    throw faulty(`${address} has ${several(has, 'replica')} that answer${has === 1 ? 's' : ''} in time`)
  }
}

/** The numbers of writers that this process may get. @param {Settings} settings */
const possibleAgents = ({ agent, totalAgents }) =>
  Array.isArray(agent) ? [...agent] : Array.from({ length: totalAgents }, (_, i) => i + 1)

/** The plan of a run on a target that can play it, for whichever of its writers. @param {Settings} settings @param {Target} target */
export const plansOnTarget = async (settings, target) => {
  const plans = plansOf(settings, {
    agents: possibleAgents(settings),
    masters: target.topology.masters.length,
    cluster: target.kind === 'cluster',
    variant: await variantOf(strategyNamed(settings.strategy), target),
    startedMs: Date.now(),
    serversHere: serversHere(target),
  })
  const plan = plans()
  await checkCommands(plan, target)
  await checkWait(settings, target)
  checkMembers(settings, plan, target)
  return plans
}
