// The keys that runs have left under a prefix: counted, and removed by name and type.
import { TargetError } from '../base/errors.js'
import { certain } from '../base/typed.js'
import { isLease } from '../plan/ownership.js'
import { planKey, plansUnder } from './announcements.js'
import { escapedPattern, ownersBook, plannedPrefixes, scan, typedKeys } from './found-keys.js'
import { ownerOf } from './topology.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { Target } from './open.js'
 *
 * @typedef {object} LeftKeys of one master
 * @property {string} master
 * @property {Record<string, number>} ours by type
 * @property {number} foreign that stay, though their names begin like ours
 * @property {number} removed
 */

/** Why no plan was read: there is none, or none that this version can read. @param {Target} target @param {string} holder @param {string} prefix */
const noPlan = async (target, holder, prefix) => {
  const under = prefix ? `under the prefix '${prefix}'` : 'without a prefix'
  const type = await target.control(holder).type(planKey(prefix))
  const [fault = 'it is not what a writer leaves'] =
    type === 'hash' ? (await plansUnder(target, prefix)).faults : []
  return new TargetError(
    type !== 'none'
      ? `${target.address}: the plan ${under} (${planKey(prefix)}) cannot be read, so nothing there is known to be of Millrace: ${fault}; clean up with the version that wrote it`
      : `${target.address}: found no plan of Millrace ${under}, so nothing there is known to be of Millrace; correct --prefix (a plan is removed with the last of its keys)`,
    { code: 'NO_PLAN' },
  )
}

/**
 * @param {object} needs
 * @param {Target} needs.target
 * @param {string} needs.prefix
 * @param {boolean} needs.remove false: only counts
 * @param {number} needs.nowMs by the clock of the servers
 * @param {(looked: number, removed: number) => void} needs.onProgress
 * @param {AbortSignal} needs.signal ends between two batches
 * @returns {Promise<LeftKeys[]>}
 */
export const clearLeftKeys = async ({ target, prefix, remove, nowMs, onProgress, signal }) => {
  const marker = planKey(prefix)
  const holder = ownerOf(target.topology, marker)
  const prefixes = await plannedPrefixes(target, { under: prefix, most: Number.POSITIVE_INFINITY })
  const typesFor = ownersBook(target, nowMs, { prefixes })
  if (!(await typesFor(marker)).includes('hash')) throw await noPlan(target, holder, prefix)
  let looked = 0
  let removed = 0
  /** @type {LeftKeys[]} */
  const results = []
  for (const master of target.topology.masters) {
    const client = target.control(master)
    const found = {
      master,
      /** @type {Record<string, number>} */
      ours: {},
      foreign: 0,
      removed: 0,
    }
    results.push(found)
    for await (const keys of scan(client, { match: `${escapedPattern(prefix)}*` })) {
      if (signal.aborted) return results
      /** @type {string[]} */
      const names = []
      for (const key of keys) {
        if (isLease(key)) continue // it expires by itself
        if ((await typesFor(key)).length > 0) names.push(key)
        else found.foreign++
      }
      /** @type {string[]} */
      const ours = []
      for (const { key, type } of await typedKeys(client, names)) {
        if (!(await typesFor(key)).includes(type)) {
          found.foreign++
          continue
        }
        found.ours[type] = (found.ours[type] ?? 0) + 1
        if (key !== marker) ours.push(key)
      }
      if (remove) found.removed += await unlink(client, ours)
      looked += keys.length
      removed += remove ? ours.length : 0
      onProgress(looked, removed)
    }
  }
  // The plan is removed last: while it is there, the keys are known to be ours.
  if (remove && !signal.aborted) {
    const last = certain(results.find(({ master }) => master === holder))
    last.removed += await unlink(target.control(holder), [marker])
  }
  return results
}

/**
 * One key a command: in a cluster several may lie in different slots.
 * @param {Redis} client
 * @param {string[]} keys at most what one SCAN gave
 */
const unlink = async (client, keys) => {
  const gone = await Promise.all(keys.map((key) => client.unlink(key)))
  return gone.reduce((sum, n) => sum + n, 0)
}

/** Agents that hold a lease under the prefix. @param {Target} target @param {string} prefix */
export const leasesUnder = async (target, prefix) => {
  let leases = 0
  for (const master of target.topology.masters)
    for await (const keys of scan(target.control(master), {
      match: `${escapedPattern(prefix)}millrace:lease:*`,
    }))
      leases += keys.filter(isLease).length
  return leases
}
