// The shortest of several round trips to each node: which one is nearest.

import { endpointOf } from './address.js'

/** @import { controlConnections } from './control.js' */

const asks = 7

/**
 * @param {() => readonly { address: string }[]} nodes
 * @param {Pick<ReturnType<typeof controlConnections>, 'clientOf'>} control
 * @param {() => number} [clock]
 */
export const roundTripsOf = (nodes, control, clock = () => performance.now()) => {
  /** @type {Map<string, number>} */
  const shortest = new Map()
  let isWanted = false

  /** @param {string} address */
  const ask = async (address) => {
    const client = control.clientOf(endpointOf(address))
    // The first connects.
    await client.ping()
    for (let i = 0; i < asks; i++) {
      const fromMs = clock()
      await client.ping()
      shortest.set(address, Math.min(shortest.get(address) ?? Number.POSITIVE_INFINITY, clock() - fromMs))
    }
  }
  /** Nodes that were not asked yet, one after the other. A node that does not answer is far away. */
  const measure = async () => {
    for (const { address } of nodes())
      if (!shortest.has(address)) await ask(address).catch(() => shortest.delete(address))
  }
  return {
    /** Measures, and from now on new nodes too. */
    async measureTrips() {
      isWanted = true
      await measure()
    },
    ofNew: async () => {
      if (isWanted) await measure()
    },
    /** @param {string} address */
    tripMs: (address) => shortest.get(address) ?? Number.POSITIVE_INFINITY,
  }
}
