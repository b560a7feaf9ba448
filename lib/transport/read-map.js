// Which node serves the reads of a slot: replicas, the master, or any of them in turn.
/**
 * @typedef {import('../target/topology.js').TargetNode} TargetNode
 * @typedef {'replica' | 'master' | 'any'} Reads
 * @typedef {{ nodes: readonly TargetNode[], masters: readonly string[], owners: Uint16Array | null }} ReadTopology
 */

/** @param {ReadTopology} topology @param {Reads} reads */
const serversOf = ({ nodes, masters }, reads) =>
  masters.map((master) => {
    if (reads === 'master') return [master]
    const replicas = nodes.flatMap(({ role, masterAddress, address }) =>
      role === 'replica' && masterAddress === master ? [address] : [],
    )
    if (reads === 'any') return [master, ...replicas]
    return replicas.length > 0 ? replicas : [master]
  })

/**
 * @param {ReadTopology} topology
 * @param {Reads} reads
 */
export const readMapOf = (topology, reads) => {
  const { masters, owners } = topology
  const servers = serversOf(topology, reads)
  const shardOf = (/** @type {number} */ slot) => {
    const shard = owners ? owners[slot] : 0
    // A slot that nobody serves just now: whoever is asked will say so.
    return shard < masters.length ? shard : 0
  }
  const all = [...new Set(servers.flat())]
  return {
    masters,
    shardOf,
    /** The node that serves a shard for this consumer. @param {number} shard @param {number} consumer */
    serverOf: (shard, consumer) => servers[shard][consumer % servers[shard].length],
    masterOf: (/** @type {number} */ slot) => masters[shardOf(slot)],
    /** Every node that may be asked. */
    servers: all,
    isServing: (/** @type {string} */ address) => all.includes(address) || masters.includes(address),
    /** Shards whose only server is the master, though replicas were asked for. */
    bare: reads === 'replica' ? servers.flatMap((list, i) => (list[0] === masters[i] ? [i + 1] : [])) : [],
  }
}
