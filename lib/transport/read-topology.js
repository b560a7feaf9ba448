// What a reader knows of its target besides the net: the servers that answer its reads.
import { netOf } from './net.js'
import { readServersOf } from './slot-map.js'

/**
 * @import { NetNeeds } from './net.js'
 * @import { ReadDriverOptions } from './read-driver.js'
 */

/** @param {ReadDriverOptions} options @param {Pick<NetNeeds, 'spacingMs' | 'connections'>} asking */
export const readTopologyOf = ({ plan, target, machine, onEvent }, asking) => {
  const net = netOf({
    target,
    ...asking,
    onLearned() {
      const before = servers.all
      servers = serversNow()
      if (String(before) !== String(servers.all))
        onEvent('servers', `reads go to ${servers.all.join(', ')} now`)
    },
    onEvent,
    machine,
  })
  const serversNow = () => readServersOf(net.map, target.nodes(), plan.reads, target.tripMs)
  let servers = serversNow()
  return {
    topologyEvents: net.events,
    refresh: net.refresh,
    masterOf: net.map.ownerOf,
    /** @param {number} slot @param {number} consumer */
    serverAt: (slot, consumer) => servers.serverOf(slot, consumer),
    servers: () => servers.all,
    bare: () => servers.bare,
    isServing: (/** @type {string} */ address) => servers.isServing(address),
    listen: net.listen,
    watch: net.watch,
    close: net.close,
  }
}
