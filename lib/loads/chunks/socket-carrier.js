// Chunks over one plain connection: encoded, written at once, their replies decoded, each part timed.
import { intoSinks } from '../../transport/lane.js'
import { askingBytes } from '../../wire/encode.js'
import { chunkReplies } from './replies.js'

/**
 * @import { DriverTarget } from '../../transport/socket-writer.js'
 * @import { Decoder, Lane } from '../../transport/lane.js'
 * @import { Kind } from '../../transport/router.js'
 * @import { ChunkCommands } from '../../workloads/bind/chunk.js'
 * @import { Delivery } from '../../workloads/declare.js'
 * @import { Chunk } from './flow.js'
 *
 * @typedef {object} Times ms of the sending thread
 * @property {number} preparing arguments, and their encoding where it is ours
 * @property {number | null} sending null: a library does it, and its time is not known apart
 * @property {number | null} parsing
 *
 * @typedef {object} Outcome of the chunk that was sent last
 * @property {() => number} acked
 * @property {(i: number) => string | null | undefined} lineOf as ChunkReplies has it
 *
 * @typedef {object} Carrier how a chunk goes over a lane
 * @property {DriverTarget['dial']} [dial] none: plain sockets
 * @property {Decoder} decoder
 * @property {(chunk: Chunk, lane: Lane<Chunk>, nowMs: number, lead: number) => void} send
 * @property {Kind<Chunk>['reply']} [reply]
 * @property {(chunk: Chunk, left: number) => void} [taken]
 * @property {(chunk: Chunk, results: any) => void} [replied]
 * @property {Outcome} outcome
 * @property {() => Times} times
 */

const multi = Buffer.from('*1\r\n$5\r\nMULTI\r\n')
const exec = Buffer.from('*1\r\n$4\r\nEXEC\r\n')

/** @param {{ delivery: Delivery, chunk: ChunkCommands, clock: () => number }} needs @returns {Carrier} */
export const socketCarrier = ({ delivery, chunk: { size, put }, clock }) => {
  const replies = chunkReplies(delivery)
  const [head, tail] = delivery === 'transaction' ? [multi, exec] : [null, null]
  let bytes = Buffer.allocUnsafeSlow(65_536)
  const times = { preparing: 0, sending: 0, parsing: 0 }

  /** Commands, each but the first behind an ASKING. @param {Chunk} chunk @param {number} from */
  const putAsking = ({ ns, count }, from) => {
    let at = put(ns, 1, bytes, from)
    for (let i = 1; i < count; i++) {
      at += askingBytes.copy(bytes, at)
      at = put(ns.subarray(i, i + 1), 1, bytes, at)
    }
    return at
  }
  /** @param {Chunk} chunk @param {boolean} isAsking */
  const encoded = (chunk, isAsking) => {
    const { ns, count } = chunk
    const most = size(ns, count) + multi.length + exec.length + (isAsking ? count * askingBytes.length : 0)
    // All replies are there, so the system has taken all bytes of the chunk.
    if (most > bytes.length) bytes = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(most)))
    let at = head ? head.copy(bytes) : 0
    at = isAsking ? putAsking(chunk, at) : put(ns, count, bytes, at)
    if (tail) at += tail.copy(bytes, at)
    return bytes.subarray(0, at)
  }
  return {
    outcome: replies,
    times: () => times,
    decoder: (taking) => {
      const read = intoSinks(taking)
      return (chunk) => {
        const fromMs = clock()
        read(chunk)
        times.parsing += clock() - fromMs
      }
    },
    reply: replies.sink,
    taken: replies.replied,
    send(chunk, lane, nowMs, lead) {
      const fromMs = clock()
      // One ASKING goes before the chunk: it is enough for a transaction and a call, but each command needs its own.
      const isAsking = lead > 0 && (delivery === 'pipeline' || delivery === 'one')
      const view = encoded(chunk, isAsking)
      replies.expect(chunk.count, isAsking)
      lane.push(chunk, replies.expected(chunk.count), nowMs, lead)
      const encodedMs = clock()
      lane.write(view)
      times.preparing += encodedMs - fromMs
      times.sending += clock() - encodedMs
    },
  }
}
