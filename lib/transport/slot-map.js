// The owner of each slot as the driver knows it, how a batch is divided over the owners, and who serves reads.
import { slotCount } from '../wire/slot.js'
import { lowerBound } from './batch-bytes.js'

/**
 * @import { TargetNode } from '../servers/topology.js'
 * @import { TickValues } from '../wire/encode.js'
 * @import { Batch } from './tick-batches.js'
 *
 * @typedef {{ masters: readonly string[], owners: Uint16Array | null, epoch?: number }} Topology owners: index into
 * masters by slot; null where there is one server
 * @typedef {'replica' | 'master' | 'any' | 'nearest'} Reads
 */

/** For each slot, where the run of slots with its owner ends. @param {Uint16Array} owners */
const endsOf = (owners) => {
  const ends = new Uint16Array(slotCount)
  for (let slot = slotCount - 1; slot >= 0; slot--)
    ends[slot] = slot + 1 < slotCount && owners[slot + 1] === owners[slot] ? ends[slot + 1] : slot + 1
  return ends
}

/** @param {Topology} topology */
export const slotMapOf = (topology) => {
  let addresses = [...topology.masters]
  let owners = topology.owners ? Uint16Array.from(topology.owners) : null
  /** @type {Uint16Array | null} */
  let ends = null
  /** @type {WeakMap<Batch, Map<string, number[]>>} */
  let cache = new WeakMap()

  const forget = () => {
    ends = null
    cache = new WeakMap()
  }
  // For a slot without an owner, the server that is asked replies with the error.
  const ownerOf = (/** @type {number} */ slot) => addresses[owners ? owners[slot] : 0] ?? addresses[0]

  /**
   * Pairs [from, to) of commands by owner, within commands [low, high).
   * @param {Batch} batch
   * @param {TickValues} values
   * @param {number} low
   * @param {number} high
   */
  const split = (batch, values, low, high) => {
    /** @type {Map<string, number[]>} */
    const ranges = new Map()
    const put = (/** @type {string} */ address, /** @type {number} */ from, /** @type {number} */ to) => {
      const list = ranges.get(address)
      if (!list) ranges.set(address, [from, to])
      else if (list[list.length - 1] === from) list[list.length - 1] = to
      else list.push(from, to)
    }
    if (!owners) put(addresses[0], low, high)
    else if (!batch.slots) for (let i = low; i < high; i++) put(ownerOf(batch.slotAt(i, values)), i, i + 1)
    else {
      ends ??= endsOf(owners)
      for (let from = low; from < high; ) {
        const slot = batch.slots[from]
        const to = lowerBound(batch.slots, ends[slot], from, high)
        put(ownerOf(slot), from, to)
        from = to
      }
    }
    return ranges
  }

  return {
    addresses: () => addresses,
    ownerOf,
    split,
    /** The whole batch by owner; worked out once for a map. @param {Batch} batch @param {TickValues} values */
    rangesOf(batch, values) {
      const known = cache.get(batch)
      if (known) return known
      const ranges = split(batch, values, 0, batch.count)
      if (batch.slots || !owners) cache.set(batch, ranges)
      return ranges
    },
    /** One slot has moved. @param {number} slot @param {string} address */
    move(slot, address) {
      if (!owners) addresses = [address]
      else {
        let index = addresses.indexOf(address)
        if (index < 0) index = addresses.push(address) - 1
        owners[slot] = index
      }
      forget()
    },
    /** A new map; returns the slots that changed hands, by the address they left. @param {Topology} next */
    replace(next) {
      /** @type {Map<string, number[]>} */
      const left = new Map()
      const names = [...next.masters]
      const indices = next.owners ? Uint16Array.from(next.owners) : null
      for (let slot = 0; slot < (owners ? slotCount : 1); slot++) {
        const now = names[indices ? indices[slot] : 0]
        const was = ownerOf(slot)
        if (was === now) continue
        if (now === undefined) {
          // No node claims the slot now: its last owner is tried.
          const index = names.indexOf(was)
          const kept = index < 0 ? names.push(was) - 1 : index
          if (indices) indices[slot] = kept
          continue
        }
        const list = left.get(was)
        if (list) list.push(slot)
        else left.set(was, [slot])
      }
      addresses = names
      owners = indices
      forget()
      return left
    },
  }
}

/**
 * The nodes that serve reads of each master's slots: its replicas, itself, any of them in turn, or the nearest.
 * @param {ReturnType<typeof slotMapOf>} map
 * @param {readonly TargetNode[]} nodes
 * @param {Reads} reads
 * @param {(address: string) => number} [tripMs]
 */
export const readServersOf = (map, nodes, reads, tripMs = () => 0) => {
  const masters = map.addresses()
  const servers = new Map(
    masters.map((master) => {
      const replicas = nodes.flatMap(({ role, masterAddress, address }) =>
        reads !== 'master' && role === 'replica' && masterAddress === master ? [address] : [],
      )
      const all = [master, ...replicas]
      if (reads === 'nearest') return [master, [all.reduce((a, b) => (tripMs(b) < tripMs(a) ? b : a))]]
      return [master, reads !== 'replica' || replicas.length === 0 ? all : replicas]
    }),
  )
  const all = [...new Set([...servers.values()].flat())]
  return {
    /** Every node that may be asked. */
    all,
    /** The node that serves a slot for this consumer. @param {number} slot @param {number} consumer */
    serverOf(slot, consumer) {
      const list = servers.get(map.ownerOf(slot)) ?? []
      return list[consumer % list.length]
    },
    isServing: (/** @type {string} */ address) => all.includes(address) || masters.includes(address),
    /** Shards whose only server is the master, though replicas were asked for. */
    bare:
      reads === 'replica'
        ? masters.flatMap((master, i) => (servers.get(master)?.[0] === master ? [i + 1] : []))
        : [],
  }
}
