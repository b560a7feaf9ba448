/** @import { Cluster, Redis } from 'ioredis' */

/**
 * Closes an ioredis client. Its cluster client, if it is just fetching the slots, starts the timer for the next fetch after
 * its own end, and would go on for ever (ioredis 6.0.0).
 * @param {Redis | Cluster} client
 */
export const disconnect = (client) => {
  client.disconnect()
  if ('refreshSlotsCache' in client) client.refreshSlotsCache = () => {}
}
