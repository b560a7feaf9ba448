// Bundles over one plain connection: encoded, written at once, their replies decoded, each part timed.
import { intoSinks } from '../../transport/lane.js'
import { askingBytes } from '../../wire/encode.js'
import { bundleReplies } from './replies.js'

/**
 * @import { DriverTarget } from '../../transport/socket-writer.js'
 * @import { Decoder, Lane } from '../../transport/lane.js'
 * @import { Kind } from '../../transport/router.js'
 * @import { BundleCommands } from '../../workloads/bind/bundle.js'
 * @import { Delivery } from '../../workloads/declare.js'
 * @import { Bundle } from './flow.js'
 *
 * @typedef {object} Times ms of the sending thread
 * @property {number} preparing arguments, and their encoding where it is ours
 * @property {number | null} sending null: a library does it, and its time is not known apart
 * @property {number | null} parsing
 *
 * @typedef {object} Outcome of the bundle that was sent last
 * @property {() => number} acked
 * @property {(i: number) => string | null | undefined} lineOf as BundleReplies has it
 *
 * @typedef {object} Carrier how a bundle goes over a lane
 * @property {DriverTarget['dial']} [dial] none: plain sockets
 * @property {Decoder} decoder
 * @property {(bundle: Bundle, lane: Lane<Bundle>, nowMs: number, lead: number) => void} send
 * @property {Kind<Bundle>['reply']} [reply]
 * @property {(bundle: Bundle, left: number) => void} [taken]
 * @property {(bundle: Bundle, results: any) => void} [replied]
 * @property {Outcome} outcome
 * @property {() => Times} times
 */

const multi = Buffer.from('*1\r\n$5\r\nMULTI\r\n')
const exec = Buffer.from('*1\r\n$4\r\nEXEC\r\n')

/** @param {{ delivery: Delivery, bundle: BundleCommands, clock: () => number }} needs @returns {Carrier} */
export const socketCarrier = ({ delivery, bundle: { size, put }, clock }) => {
  const replies = bundleReplies(delivery)
  const [head, tail] = delivery === 'transaction' ? [multi, exec] : [null, null]
  let bytes = Buffer.allocUnsafeSlow(65_536)
  const times = { preparing: 0, sending: 0, parsing: 0 }

  /** Commands, each but the first behind an ASKING. @param {Bundle} bundle @param {number} from */
  const putAsking = ({ ns, count }, from) => {
    let at = put(ns, 1, bytes, from)
    for (let i = 1; i < count; i++) {
      at += askingBytes.copy(bytes, at)
      at = put(ns.subarray(i, i + 1), 1, bytes, at)
    }
    return at
  }
  /** @param {Bundle} bundle @param {boolean} isAsking */
  const encoded = (bundle, isAsking) => {
    const { ns, count } = bundle
    const most = size(ns, count) + multi.length + exec.length + (isAsking ? count * askingBytes.length : 0)
    // All replies are there, so the system has taken all bytes of the bundle.
    if (most > bytes.length) bytes = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(most)))
    let at = head ? head.copy(bytes) : 0
    at = isAsking ? putAsking(bundle, at) : put(ns, count, bytes, at)
    if (tail) at += tail.copy(bytes, at)
    return bytes.subarray(0, at)
  }
  return {
    outcome: replies,
    times: () => times,
    decoder: (taking) => {
      const read = intoSinks(taking)
      return (bundle) => {
        const fromMs = clock()
        read(bundle)
        times.parsing += clock() - fromMs
      }
    },
    reply: replies.sink,
    taken: replies.replied,
    send(bundle, lane, nowMs, lead) {
      const fromMs = clock()
      // One ASKING goes before the bundle: it is enough for a transaction and a call, but each command needs its own.
      const isAsking = lead > 0 && (delivery === 'pipeline' || delivery === 'one')
      const view = encoded(bundle, isAsking)
      replies.expect(bundle.count, isAsking)
      lane.push(bundle, replies.expected(bundle.count), nowMs, lead)
      const encodedMs = clock()
      lane.write(view)
      times.preparing += encodedMs - fromMs
      times.sending += clock() - encodedMs
    },
  }
}
