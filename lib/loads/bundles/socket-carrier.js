// Bundles over one plain connection: encoded, written at once, their replies decoded, each part timed.
import { intoSinks } from '../../transport/lane.js'
import { askingBytes } from '../../wire/encode.js'

/**
 * @import { DriverTarget } from '../../transport/socket-writer.js'
 * @import { Decoder, Lane } from '../../transport/lane.js'
 * @import { Kind } from '../../transport/router.js'
 * @import { BundleCommands } from '../../workloads/bind/bundle.js'
 * @import { Delivery } from '../../workloads/declare.js'
 * @import { Bundle } from './flow.js'
 * @import { ReplySink } from '../../wire/values.js'
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

// The outcome of each item of a bundle by its replies: acknowledged, refused with an error line, or not known yet.

/**
 * @typedef {object} BundleReplies
 * @property {(count: number, isAsking?: boolean) => void} expect so many items were sent, with an ASKING between two commands;
 *   what came of the last bundle is forgotten
 * @property {() => ReplySink} sink of the next reply
 * @property {() => void} replied it is whole
 * @property {(count: number) => number} expected replies to so many items
 * @property {() => boolean} isWhole all replies are there
 * @property {() => number} acked
 * @property {(i: number) => string | null | undefined} lineOf with which item i was refused; null: it was acknowledged;
 *   undefined: no reply yet
 */

const nothing = () => {}

const silent = { open: nothing, bulk: nothing, number: nothing, nil: nothing, error: nothing }

/** The outcomes of the items of a bundle so far. */
const outcomesOf = () => {
  const items = {
    count: 0,
    acked: 0,
    /** @type {Map<number, string>} */
    refused: new Map(),
    ack(/** @type {number} */ n) {
      items.acked += n
    },
    refuseAll(/** @type {string} */ line) {
      for (let i = 0; i < items.count; i++) items.refused.set(i, line)
    },
  }
  return items
}

/** The replies of a transaction. @param {ReturnType<typeof outcomesOf>} items */
const transactionOf = (items) => {
  // Whether MULTI was accepted, which element of EXEC's reply is next, and why EXEC did not run.
  let isQueued = true
  let item = 0
  /** @type {string | null} */
  let why = null
  let isArray = false // EXEC's reply, which is an error where nothing was executed
  const acked = () => {
    item++
    items.ack(1)
  }
  /** Without it every command is executed by itself. @type {ReplySink} */
  const ofMulti = {
    ...silent,
    error: () => {
      isQueued = false
    },
  }
  /** @type {ReplySink} */
  const ofQueue = {
    ...silent,
    error: (line) => {
      why ??= line
    },
  }
  /** @type {ReplySink} */
  const ofExec = {
    open: () => {
      isArray = true
    },
    bulk: acked,
    number: acked,
    nil: () => items.refuseAll('ERR no value'),
    error: (line) => (isArray ? items.refused.set(item++, line) : items.refuseAll(why ?? line)),
  }
  return {
    /** Where the elements of a reply go after so many replies; null: it is a command's own reply. @param {number} replies */
    sink(replies) {
      if (replies === 0) return ofMulti
      if (replies <= items.count) return isQueued ? ofQueue : null
      return isQueued ? ofExec : silent
    },
    begin() {
      item = 0
      isArray = false
      isQueued = true
      why = null
    },
  }
}

/** @param {Delivery} delivery @returns {BundleReplies} */
export const bundleReplies = (delivery) => {
  const items = outcomesOf()
  const transaction = delivery === 'transaction' ? transactionOf(items) : null
  const first = transaction ? 1 : 0 // the first item's reply
  let replies = 0 // whole ones
  let each = 1 // two where the reply to an ASKING follows that of an item

  /** What the reply under way says: null: done; undefined: nothing. It counts when the reply is whole. @type {string | null | undefined} */
  let verdict
  const done = () => {
    verdict = null
  }
  const refuse = (/** @type {string} */ line) => {
    verdict = line
  }
  /** A reply for each item. @type {ReplySink} */
  const ofItem = {
    open: nothing,
    bulk: done,
    number: done,
    nil: () => refuse('ERR no value'),
    error: refuse,
  }
  /** One reply for all of them. @type {ReplySink} */
  const ofAll = {
    open: nothing,
    bulk: () => refuse('ERR no number'),
    number: (n) => (n === items.count ? done() : refuse(`ERR the script counted ${n} of ${items.count}`)),
    nil: () => refuse('ERR no value'),
    error: refuse,
  }
  const expected = (/** @type {number} */ count) =>
    delivery === 'call' ? 1 : transaction ? count + 2 : count * each - (each - 1)
  const isOfAsking = () => replies % each === 1
  const isWhole = () => replies === expected(items.count)

  return {
    expect(n, isAsking = false) {
      each = isAsking && delivery !== 'call' && !transaction ? 2 : 1
      items.count = n
      replies = items.acked = 0
      items.refused.clear()
      verdict = undefined
      transaction?.begin()
    },
    sink: () => {
      if (isOfAsking()) return silent
      return delivery === 'call' ? ofAll : (transaction?.sink(replies) ?? ofItem)
    },
    replied() {
      if (verdict === null) items.ack(delivery === 'call' ? items.count : 1)
      else if (verdict !== undefined && delivery === 'call') items.refuseAll(verdict)
      else if (verdict !== undefined) items.refused.set((replies - first) / each, verdict)
      verdict = undefined
      replies++
    },
    expected,
    isWhole,
    // Of a transaction, only a whole one is known.
    acked: () => (transaction && !isWhole() ? 0 : items.acked),
    lineOf(i) {
      const line = items.refused.get(i)
      if (line !== undefined) return line
      const isKnown = delivery === 'call' || transaction ? isWhole() : i * each < replies
      return isKnown ? null : undefined
    },
  }
}

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
