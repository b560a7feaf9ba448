// Who answers the reads of clients, where that need not be the master: replicas, the nearest node, or any.
import { readServersOf } from './slot-map.js'

/**
 * @import { RouterNeeds } from './router.js'
 * @import { slotMapOf } from './slot-map.js'
 */

/**
 * @param {Pick<RouterNeeds<any>, 'readFrom' | 'target' | 'dial'>} needs
 * @param {ReturnType<typeof slotMapOf>} map
 */
export const readersOf = ({ readFrom = 'master', target, dial = target.dial }, map) => {
  const { nodes, tripMs } = target
  if (readFrom === 'master' || !nodes) return null
  const now = () => readServersOf(map, nodes(), readFrom, tripMs)
  const isCluster = target.topology.owners !== null
  const isReplica = (/** @type {string} */ address) => isCluster && !map.addresses().includes(address)
  let servers = now()
  /** Addresses whose connections were told that stale reads will do. @type {Set<string>} */
  const told = new Set()

  return {
    all: () => servers.all,
    /** @param {number} slot @param {number} client */
    serverOf: (slot, client) => servers.serverOf(slot, client),
    /** @type {typeof target.dial} */
    dial(address, events) {
      const readOnly = isReplica(address)
      if (readOnly) told.add(address)
      else told.delete(address)
      return dial(address, { ...events, readOnly })
    },
    /** A new map is in use: a master that became a replica must be told. @param {readonly { address: string, renew: () => unknown }[]} lanes */
    learned(lanes) {
      servers = now()
      // All of them, before the first is dialled anew.
      const untold = lanes.filter(({ address }) => isReplica(address) && !told.has(address))
      for (const lane of untold) lane.renew()
    },
  }
}
