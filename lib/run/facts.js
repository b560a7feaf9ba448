// What the plan must know of the target beyond the settings.
import { OptionError, TargetError } from '../errors.js'
import { scriptSha } from '../target/scripts.js'

/**
 * @typedef {import('../../settings.js').Settings} Settings
 * @typedef {import('../target/open.js').Target} Target
 */

// 6.2 reads at most 2^20 arguments: ZADD, the key, and two a member.
const oldMaxMembers = 524_287

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

/** @param {Settings} settings @param {Target} target */
const checkMembers = ({ maxMembers, quantity, chunks }, { majorVersion, address, versions }) => {
  if (majorVersion >= 7 || maxMembers === undefined) return
  const members = maxMembers === 0 ? Math.ceil(quantity / chunks) : Math.min(maxMembers, quantity)
  if (members <= oldMaxMembers) return
  throw new OptionError(
    `--max-members ${maxMembers}: a command may have ${oldMaxMembers.toLocaleString('en')} members at most on ${address} (${versions.join(', ')}), which reads 1,048,576 arguments`,
  )
}

/**
 * @param {Settings} settings
 * @param {Target} target
 * @param {number[]} [agents]
 * @returns {Promise<import('../plan/plan.js').Facts>}
 */
export const factsOf = async (settings, target, agents = []) => {
  checkMembers(settings, target)
  return {
    agents,
    masters: target.topology.masters.length,
    cluster: target.kind === 'cluster',
    fieldExpiry: settings.strategy === 'hash-ttl' ? await fieldExpiryOf(target) : null,
    scripts: { storeItem: scriptSha('store-item'), storeItems: scriptSha(settings.script ?? 'store-items') },
  }
}
