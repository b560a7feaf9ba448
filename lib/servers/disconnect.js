/** @import { Cluster, Redis } from 'ioredis' */

/**
 * Ends a client of the library. Its cluster client, when it is just asking for the slots, starts the timer for the
 * next time after its own end, and would go on for ever: ioredis 6.0.0.
 * @param {Redis | Cluster} client
 */
export const disconnect = (client) => {
  client.disconnect()
  if ('refreshSlotsCache' in client) client.refreshSlotsCache = () => {}
}
