// Chunks over one plain connection: encoded, written at once, their replies decoded, each part timed.
import { chunkReplies } from './replies.js'

/**
 * @import { Socket } from 'node:net'
 * @import { DriverTarget } from '../../transport/socket.js'
 * @import { ChunkCommands } from '../../workloads/bind/chunk.js'
 * @import { Delivery } from '../../workloads/declare.js'
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
 * @typedef {object} Carrier
 * @property {Outcome} outcome
 * @property {() => Times} times
 * @property {() => boolean} isUp
 * @property {(address: string) => Promise<void>} connect to the server that the chunks are for
 * @property {(ns: Float64Array, count: number) => void} send
 * @property {() => number} silentMs since something came, while replies are owed
 * @property {() => void} cut gives the connection up: onEnd follows
 * @property {() => void} close for good
 * @property {() => number} waitingBytes
 */

const multi = Buffer.from('*1\r\n$5\r\nMULTI\r\n')
const exec = Buffer.from('*1\r\n$4\r\nEXEC\r\n')

/**
 * @param {object} needs
 * @param {Delivery} needs.delivery
 * @param {ChunkCommands} needs.chunk
 * @param {Pick<DriverTarget, 'dial'>} needs.target
 * @param {(nowMs: number) => void} needs.onDone all replies to the chunk are there, or will not come
 * @param {(error?: Error) => void} needs.onEnd the connection is gone
 * @param {() => number} needs.clock
 * @returns {Carrier}
 */
export const socketCarrier = ({ delivery, chunk, target, onDone, onEnd, clock }) => {
  const replies = chunkReplies(delivery)
  const [head, tail] = delivery === 'transaction' ? [multi, exec] : [null, null]
  let bytes = Buffer.allocUnsafeSlow(65_536)
  let socket = /** @type {Socket | null} */ (null)
  let owed = false
  let closed = false
  let heardMs = 0
  const times = { preparing: 0, sending: 0, parsing: 0 }

  const onBytes = (/** @type {Buffer} */ chunk) => {
    const nowMs = clock()
    heardMs = nowMs
    replies.read(chunk)
    const isWhole = owed && replies.isWhole()
    times.parsing += clock() - nowMs
    if (!isWhole) return
    owed = false
    onDone(nowMs)
  }

  /** @param {Float64Array} ns @param {number} count */
  const encoded = (ns, count) => {
    const size = chunk.size(ns, count) + multi.length + exec.length
    // All replies are there, so the system has taken all bytes of the chunk.
    if (size > bytes.length) bytes = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(size)))
    let at = head ? head.copy(bytes) : 0
    at = chunk.put(ns, count, bytes, at)
    if (tail) at += tail.copy(bytes, at)
    return bytes.subarray(0, at)
  }

  return {
    outcome: replies,
    times: () => times,
    isUp: () => socket !== null,
    async connect(address) {
      const opened = await target.dial(address, {
        onBytes,
        onClose: (error) => {
          const wasOwed = owed
          socket = null
          owed = false
          onEnd(error)
          if (wasOwed) onDone(clock())
        },
      })
      if (closed) opened.destroy()
      else socket = opened
    },
    send(ns, count) {
      const fromMs = clock()
      const view = encoded(ns, count)
      replies.expect(count)
      const encodedMs = clock()
      owed = true
      heardMs = encodedMs
      socket?.write(view)
      times.preparing += encodedMs - fromMs
      times.sending += clock() - encodedMs
    },
    silentMs: () => (owed ? clock() - heardMs : 0),
    cut: () => socket?.destroy(),
    close() {
      closed = true
      socket?.destroy()
    },
    waitingBytes: () => socket?.writableLength ?? 0,
  }
}
