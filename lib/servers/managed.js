// Services that change a cluster only by their own commands: how to see that a change is complete.

import { TargetError } from '../base/errors.js'
import { several } from '../base/units.js'

/**
 * @typedef {'move' | 'add-shard' | 'remove-shard' | 'failover'} Change
 * @typedef {{ masters: readonly string[], owners: Uint16Array | null }} Topology
 */

/** A server that does not let its clients change the cluster. */
export class RefusedChange extends TargetError {
  /** @param {string} address @param {Error} cause */
  constructor(address, cause) {
    super(`${address} does not let clients change the cluster (${cause.message})`, { code: 'REFUSED', cause })
  }
}

/** @param {unknown} error */
export const isRefusal = (error) =>
  error instanceof Error &&
  /unknown (sub)?command|NOPERM|not allowed|not permitted|is disabled/i.test(error.message)

/** Slots that have another owner than before. @param {Topology} before @param {Topology} now */
export const slotsChanged = (before, now) => {
  const { owners } = before
  const { owners: next } = now
  if (!owners || !next) return 0
  return owners.reduce(
    (sum, owner, slot) => sum + Number(before.masters[owner] !== now.masters[next[slot]]),
    0,
  )
}

/** Whether the requested change has happened. @param {Change} change @param {Topology} before @param {Topology} now */
export const isDone = (change, before, now) => {
  if (change === 'add-shard') return now.masters.length > before.masters.length
  if (change === 'remove-shard') return now.masters.length < before.masters.length
  if (change === 'failover') return now.masters.some((address) => !before.masters.includes(address))
  return slotsChanged(before, now) > 0
}

/** The visible changes in words. @param {Change} change @param {Topology} before @param {Topology} now */
export const seenWords = (change, before, now) => {
  const slots = `${several(slotsChanged(before, now), 'slot')} have new owners`
  if (change === 'move') return slots
  const gone = before.masters.filter((address) => !now.masters.includes(address))
  const come = now.masters.filter((address) => !before.masters.includes(address))
  if (change === 'failover') return `${come.join(', ')} took over from ${gone.join(', ')}; ${slots}`
  return `${several(now.masters.length, 'master')} instead of ${before.masters.length}; ${slots}`
}
