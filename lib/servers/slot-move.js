// One slot and its keys from one master to another, while both serve.
import { setTimeout as sleep } from 'node:timers/promises'
import { errorOf } from '../base/errors.js'
import { endpointOf } from './address.js'
import { listIn } from './lists.js'
import { isRefusal, RefusedChange } from './managed.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { ClusterNode } from './cluster-nodes.js'
 * @import { Access } from './dial.js'
 *
 * @typedef {object} Means
 * @property {(address: string) => Redis} control
 * @property {Access} access
 * @property {(address: string, ...args: (string | number)[]) => Promise<unknown>} ask
 */

const keysPerBatch = 100
const migrateTimeoutMs = 5000
const migrateAttempts = 5
const migratePauseMs = 500

/** @param {Means} means */
export const slotMover = ({ control, access, ask }) => {
  const signIn = access.username
    ? ['AUTH2', access.username, access.password ?? '']
    : access.password
      ? ['AUTH', access.password]
      : []

  /**
   * Moves one batch of keys; after a broken transfer both sides may have a copy, and the source's is the one served.
   * @param {ClusterNode} from
   * @param {ClusterNode} to
   * @param {(string | Buffer)[]} keys
   */
  const migrate = async (from, to, keys) => {
    const { host, port } = endpointOf(to.address)
    for (let attempt = 1; ; attempt++) {
      const replace = attempt > 1 ? ['REPLACE'] : []
      try {
        const args = [
          host,
          port,
          '',
          String(access.db ?? 0),
          String(migrateTimeoutMs),
          ...replace,
          ...signIn,
          'KEYS',
          ...keys,
        ]
        await control(from.address).call('MIGRATE', ...args)
        return
      } catch (error) {
        const { message } = errorOf(error)
        if (attempt < migrateAttempts && /^IOERR/.test(message)) continue
        if (attempt < migrateAttempts && /CLUSTERDOWN|LOADING|BUSY /.test(message)) {
          await sleep(migratePauseMs)
          continue
        }
        throw error
      }
    }
  }

  /** @param {number} slot @param {ClusterNode} from */
  const keysIn = async (slot, from) =>
    listIn(
      'CLUSTER GETKEYSINSLOT',
      await control(from.address).callBuffer('CLUSTER', 'GETKEYSINSLOT', String(slot), String(keysPerBatch)),
    )

  /**
   * Moves a slot; returns how many keys were in it.
   * @param {number} slot
   * @param {ClusterNode} from
   * @param {ClusterNode} to
   * @param {ClusterNode[]} masters
   */
  return async (slot, from, to, masters) => {
    let moved = 0
    try {
      await ask(to.address, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id)
      await ask(from.address, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id)
      for (let keys = await keysIn(slot, from); keys.length > 0; keys = await keysIn(slot, from)) {
        await migrate(from, to, keys)
        moved += keys.length
      }
    } catch (error) {
      // A part of what the receiver refused may be there: the slot stays between the two, where all keys are found.
      const isReceivers = /Target instance replied/.test(errorOf(error).message)
      if (!isRefusal(error) || isReceivers) throw error
      // A change that may not begin leaves nothing half done.
      if (moved === 0)
        for (const { address } of [from, to])
          await ask(address, 'CLUSTER', 'SETSLOT', slot, 'STABLE').catch(() => {})
      throw error instanceof RefusedChange ? error : new RefusedChange(from.address, errorOf(error))
    }
    // The new owner first: from then on a node serves the slot, even if this program ends.
    await ask(to.address, 'CLUSTER', 'SETSLOT', slot, 'NODE', to.id)
    // Without its last slot, the source may have become a replica of the new owner.
    await ask(from.address, 'CLUSTER', 'SETSLOT', slot, 'NODE', to.id).catch((error) => {
      if (!/only with masters/.test(error.message)) throw error
    })
    await Promise.allSettled(
      masters
        .filter(({ id }) => id !== to.id && id !== from.id)
        .map(({ address }) => ask(address, 'CLUSTER', 'SETSLOT', slot, 'NODE', to.id)),
    )
    return moved
  }
}
