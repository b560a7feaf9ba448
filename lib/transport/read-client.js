// ioredis as a reader: which of its connections goes to a server, and its replies as the decoder hands them out.
import { Cluster } from 'ioredis'
import { endpointOf } from '../servers/address.js'

/** @typedef {import('../wire/values.js').ReplySink} ReplySink */

/** The client's connection to that server, or any. @param {import('ioredis').Redis | Cluster} client @param {string} address */
export const nodeAt = (client, address) => {
  if (!(client instanceof Cluster)) return client
  const { host, port } = endpointOf(address)
  const nodes = client.nodes('all')
  return nodes.find((node) => node.options.host === host && node.options.port === port) ?? nodes[0]
}

/**
 * @param {unknown} reply
 * @param {ReplySink} sink
 * @param {number} [depth]
 */
export const tellReply = (reply, sink, depth = 0) => {
  if (reply === null || reply === undefined) sink.nil()
  else if (Buffer.isBuffer(reply)) sink.bulk(reply, 0, reply.length)
  else if (typeof reply === 'number') sink.number(reply)
  else if (typeof reply === 'string') {
    const bytes = Buffer.from(reply)
    sink.bulk(bytes, 0, bytes.length)
  } else if (reply instanceof Error) sink.error(reply.message)
  else if (Array.isArray(reply)) {
    sink.open(reply.length, depth)
    for (const element of reply) tellReply(element, sink, depth + 1)
  } else if (typeof reply === 'object') {
    // HGETALL, which the library makes an object of.
    const pairs = Object.entries(/** @type {Record<string, unknown>} */ (reply)).flat()
    tellReply(pairs, sink, depth)
  }
}
