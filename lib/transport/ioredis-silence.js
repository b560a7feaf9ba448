// The connections of ioredis that may be half-open: what they have read, and whether they owe answers.
import { addressOf } from '../servers/address.js'

/**
 * @import { Cluster, Redis } from 'ioredis'
 * @import { Listened } from './half-open.js'
 *
 * @typedef {{ bytesRead: number, destroy: () => void }} Stream
 * @typedef {{ stream?: Stream, commandQueue: { length: number }, options: { host?: string, port?: number } }} Node what is read of the library's
 */

/** Checked once a second, so a silence is known to a second. @param {Cluster | Redis} client @param {() => number} clock */
export const silentConnectionsOf = (client, clock) => {
  /** @type {WeakMap<Stream, { bytes: number, sinceMs: number }>} */
  const heard = new WeakMap()

  /** @param {Node} node */
  const silentMs = ({ stream, commandQueue }) => {
    if (!stream) return 0
    const { bytesRead } = stream
    const last = heard.get(stream)
    if (last?.bytes === bytesRead && commandQueue.length > 0) return clock() - last.sinceMs
    heard.set(stream, { bytes: bytesRead, sinceMs: clock() })
    return 0
  }
  /** @returns {Listened[]} */
  return () => {
    // A class of iovalkey is not one of ioredis.
    const nodes = 'nodes' in client ? client.nodes('all') : [client]
    return /** @type {Node[]} */ (/** @type {unknown} */ (nodes)).map((node) => ({
      address: addressOf({ host: node.options.host ?? '', port: node.options.port ?? 0 }),
      silentMs: () => silentMs(node),
      cut: () => node.stream?.destroy(),
    }))
  }
}
