// Ids that an earlier run left in our sorted sets: older than the ttl, and not in a window of any purge.
import { ownerOf } from './topology.js'

/** @import { Target } from './open.js' */

const atOnce = 1000

/**
 * Removes them a thousand at a time, so that no other client waits long. Returns how many.
 * @param {Pick<Target, 'topology' | 'control'>} target
 * @param {readonly string[]} sets
 * @param {number} deadBeforeMs epoch
 */
export const removeExpiredIds = async ({ topology, control }, sets, deadBeforeMs) => {
  let removed = 0
  for (const set of sets) {
    const client = control(ownerOf(topology, set))
    for (;;) {
      const dead = await client.zrangebyscoreBuffer(set, '-inf', `(${deadBeforeMs}`, 'LIMIT', 0, atOnce)
      if (!Array.isArray(dead) || dead.length === 0) break
      const gone = Number(await client.zrem(set, ...dead))
      // Another client removes them as well, or the answers are not usable.
      if (!(gone > 0)) break
      removed += gone
    }
  }
  return removed
}
