// How ioredis connects for writers and readers: how long nodes have to name the owners of slots.
import { Cluster } from 'ioredis'

/** @typedef {import('ioredis').Redis} Redis */

/** A busy server has as long for the first map as for a connection; later another node is asked soon. */
export const slotsLimits = Object.freeze({ firstMs: 5000, laterMs: 1000 })

/** Connects, and rejects when no node lets it in. @param {Redis | Cluster} client */
export const connectClient = async (client) => {
  await client.connect()
  if (client instanceof Cluster) client.options.slotsRefreshTimeout = slotsLimits.laterMs
}
