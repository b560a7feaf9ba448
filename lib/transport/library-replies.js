// The replies of a client library as the decoder hands them out.

/** @import { ReplySink } from '../wire/values.js' */

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
