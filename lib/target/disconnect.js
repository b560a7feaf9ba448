/**
 * Ends a client of the library. Its cluster client, when it is just asking for the slots, would start the timer for
 * the next time after its own end, and go on asking for ever: ioredis 6.0.0.
 * @param {import('ioredis').Redis | import('ioredis').Cluster} client
 */
export const disconnect = (client) => {
  if (client.isCluster) client.options.slotsRefreshInterval = undefined
  client.disconnect()
}
