// The servers and the owner of each slot, from the servers' answers.

import { TargetError } from '../base/errors.js'
import { slotCount, slotOf } from '../wire/slot.js'
import { addressOf, endpointOf, isDialable } from './address.js'

/**
 * @import { Endpoint } from './address.js'
 * @import { SlotRow } from './topology-source.js'
 *
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

const noOwner = 0xffff

/** The master that owns a key. @param {{ masters: readonly string[], owners: Uint16Array | null }} topology @param {string | Buffer} key */
export const ownerOf = ({ masters, owners }, key) => masters[owners ? owners[slotOf(key)] : 0]

// Redis recommends a thousand nodes at most, and each of them is connected to.
const mostNodes = 2000

/** @param {number} nodes @param {string} asked */
const checkCount = (nodes, asked) => {
  if (nodes > mostNodes)
    throw new TargetError(`${asked || 'the cluster'} names ${nodes} nodes, more than ${mostNodes}`)
}

/** @param {string} asked */
const senseless = (asked) => new TargetError(`${asked}: its answer to CLUSTER SLOTS makes no sense`)

/**
 * @param {unknown} node host and port, as the server names itself; the host is empty where it does not know it
 * @param {string} asked the host that was asked
 */
const nodeAddress = (node, asked) => {
  const [host, port] = Array.isArray(node) ? node : []
  const endpoint = { host: host === null || host === '' ? asked : host, port }
  if (typeof endpoint.host !== 'string' || !isDialable(endpoint)) throw senseless(asked)
  return addressOf(endpoint)
}

/** @param {unknown} slot */
const isSlot = (slot) => Number.isInteger(slot) && Number(slot) >= 0 && Number(slot) < slotCount

/** @param {unknown} reply @param {string} asked @returns {SlotRow[]} */
export const slotRanges = (reply, asked) => {
  const makesSense = (/** @type {unknown} */ range) =>
    Array.isArray(range) &&
    isSlot(range[0]) &&
    isSlot(range[1]) &&
    range.length >= 3 &&
    range.slice(2).every(Array.isArray)
  if (!Array.isArray(reply) || !reply.every(makesSense)) throw senseless(asked)
  return reply
}

/**
 * From CLUSTER SLOTS: shards are numbered by their lowest slot.
 * @param {unknown} reply
 * @param {string} asked the host that was asked
 * @returns {Layout}
 */
export const clusterLayout = (reply, asked) => {
  const owners = new Uint16Array(slotCount).fill(noOwner)
  /** @type {string[]} */
  const masters = []
  /** @type {TargetNode[]} */
  const nodes = []
  const ranges = [...slotRanges(reply, asked)].sort((a, b) => a[0] - b[0])
  for (const [first, last, master, ...replicas] of ranges) {
    const address = nodeAddress(master, asked)
    let index = masters.indexOf(address)
    if (index < 0) {
      index = masters.push(address) - 1
      const shard = index + 1
      nodes.push({ address, ...endpointOf(address), role: 'master', shard })
      for (const node of replicas) {
        const replica = nodeAddress(node, asked)
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
  checkCount(nodes.length, asked)
  nodes.sort((a, b) => a.shard - b.shard || Number(a.role === 'replica') - Number(b.role === 'replica'))
  return { nodes, masters, owners }
}

/**
 * One server and the replicas it names.
 * @param {Endpoint} endpoint
 * @param {Record<string, string>[]} replicas
 * @returns {Layout}
 */
export const singleLayout = (endpoint, replicas) => {
  const address = addressOf(endpoint)
  checkCount(replicas.length + 1, address)
  const others = replicas.flatMap(({ ip, port }) => {
    const replica = { host: String(ip), port: Number(port) }
    if (!isDialable(replica)) return []
    return {
      address: addressOf(replica),
      ...replica,
      /** @type {'replica'} */
      role: 'replica',
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

/** Slots without an owner. @param {Uint16Array | null} owners */
export const orphanSlots = (owners) =>
  owners ? owners.reduce((sum, owner) => sum + Number(owner === noOwner), 0) : 0
