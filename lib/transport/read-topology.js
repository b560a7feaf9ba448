// What a reader knows of its target: the owner of each slot, the servers that answer its reads, and events of changes.
import { refresherOf } from './refresher.js'
import { readServersOf, slotMapOf } from './slot-map.js'
import { topologyEventsOf } from './topology-events.js'

/** @import { ReadDriverOptions } from './read-driver.js' */

/** @param {ReadDriverOptions} options @param {{ spacingMs?: number }} [asking] between an answer and the next question */
export const readTopologyOf = ({ plan, target, clock, onEvent }, { spacingMs } = {}) => {
  const map = slotMapOf(target.topology)
  const serversNow = () => readServersOf(map, target.nodes(), plan.reads)
  let servers = serversNow()
  const topologyEvents = topologyEventsOf({ onEvent, clock })
  const refresher = refresherOf({
    ask: target.refresh,
    learn: (topology) => {
      const before = servers.all
      topologyEvents.topology(topology)
      topologyEvents.left(map.replace(topology), map.ownerOf)
      servers = serversNow()
      if (String(before) !== String(servers.all))
        onEvent('servers', `reads go to ${servers.all.join(', ')} now`)
    },
    clock,
    spacingMs,
  })
  topologyEvents.topology(target.topology)
  return {
    topologyEvents,
    refresh: refresher.request,
    masterOf: map.ownerOf,
    /** @param {number} slot @param {number} consumer */
    serverAt: (slot, consumer) => servers.serverOf(slot, consumer),
    servers: () => servers.all,
    bare: () => servers.bare,
    isServing: (/** @type {string} */ address) => servers.isServing(address),
    /** Once a second. */
    watch() {
      if (refresher.isStale()) refresher.request()
      topologyEvents.tell()
    },
    close: refresher.close,
  }
}
