// Which servers there are, and who owns which slot: read from what they say.
import { slotCount } from '../wire/slot.js'
import { addressOf, endpointOf } from './address.js'

/**
 * @typedef {object} TargetNode
 * @property {string} address
 * @property {string} host
 * @property {number} port
 * @property {'master' | 'replica'} role
 * @property {number} shard from 1
 * @property {string} [masterAddress]
 *
 * @typedef {{ nodes: TargetNode[], masters: string[], owners: Uint16Array | null }} Layout
 */

export const nobody = 0xffff

/**
 * @param {string | null} host as the server names it; empty where it does not know its own
 * @param {number} port
 * @param {string} asked the host that was asked
 */
const nodeAddress = (host, port, asked) => addressOf({ host: host || asked, port })

/**
 * From CLUSTER SLOTS: shards are numbered by their lowest slot.
 * @param {any[]} reply
 * @param {string} asked the host that was asked
 * @returns {Layout}
 */
export const clusterLayout = (reply, asked) => {
  const owners = new Uint16Array(slotCount).fill(nobody)
  const masters = /** @type {string[]} */ ([])
  const nodes = /** @type {TargetNode[]} */ ([])
  const ranges = [...reply].sort((a, b) => a[0] - b[0])
  for (const [first, last, [host, port], ...replicas] of ranges) {
    const address = nodeAddress(host, port, asked)
    let index = masters.indexOf(address)
    if (index < 0) {
      index = masters.push(address) - 1
      const shard = index + 1
      nodes.push({ address, ...endpointOf(address), role: 'master', shard })
      for (const [replicaHost, replicaPort] of replicas) {
        const replica = nodeAddress(replicaHost, replicaPort, asked)
        nodes.push({
          address: replica,
          ...endpointOf(replica),
          role: 'replica',
          shard,
          masterAddress: address,
        })
      }
    }
    owners.fill(index, first, last + 1)
  }
  nodes.sort((a, b) => a.shard - b.shard || Number(a.role === 'replica') - Number(b.role === 'replica'))
  return { nodes, masters, owners }
}

/**
 * One server and the replicas it names.
 * @param {import('./address.js').Endpoint} endpoint
 * @param {Record<string, string>[]} replicas
 * @returns {Layout}
 */
export const singleLayout = (endpoint, replicas) => {
  const address = addressOf(endpoint)
  const others = replicas.map(({ ip, port }) => {
    const replica = { host: ip, port: Number(port) }
    return {
      address: addressOf(replica),
      ...replica,
      role: /** @type {const} */ ('replica'),
      shard: 1,
      masterAddress: address,
    }
  })
  return {
    nodes: [{ address, ...endpoint, role: 'master', shard: 1 }, ...others],
    masters: [address],
    owners: null,
  }
}

/** Slots that nobody serves. @param {Uint16Array | null} owners */
export const orphanSlots = (owners) =>
  owners ? owners.reduce((sum, owner) => sum + Number(owner === nobody), 0) : 0
