// What one connection was sent and has not answered: entries, each a part of a batch for one tick, settled in order.
import { MillraceError } from '../base/errors.js'
import { replyCounter } from '../wire/decode.js'
import { replyReader } from '../wire/values.js'
import { fifo } from './fifo.js'

/**
 * @import { Progress } from '../measure/item-times.js'
 * @import { Account } from '../measure/ledger.js'
 * @import { TickValues } from '../wire/encode.js'
 * @import { ReplySink } from '../wire/values.js'
 * @import { Step } from '../workloads/step.js'
 * @import { EncodedBatch } from './encoded-batch.js'
 * @import { TickBatch } from './tick-batches.js'
 *
 * @typedef {object} Tick
 * @property {number} index
 * @property {number} chunk which part of the agent's items, over all agents
 * @property {number} dueMs
 * @property {number | null} firstMs when its first byte went to a socket
 * @property {number[]} sends when each of its writes was first sent
 * @property {Progress | null} progress
 * @property {TickValues} values
 * @property {Account} account
 * @property {Float64Array | null} items in the places of the account; null: its own, in order
 * @property {TickBatch[][] | null} portions made for this tick alone
 *
 * @typedef {object} Entry commands [from, to) of an encoded batch for one tick: the unit of sending and settling
 * @property {Tick} tick
 * @property {TickValues} values the tick's own
 * @property {EncodedBatch} encoded
 * @property {number} from the first command not yet answered
 * @property {number} to
 * @property {number} lead answers to come before the first command's own (ASKING)
 * @property {boolean} again its bytes are made anew: the batch may hold a later tick's
 * @property {boolean} inSlotQueue counts among the pending commands of its slot
 * @property {string | null} goTo the address that a redirect named for this once
 * @property {number} attempts
 * @property {number} bytes
 * @property {number} write which of its tick's writes it was first sent with, from 1; 0: it was not sent
 * @property {number} sentMs
 *
 * @typedef {object} ConnectionEvents
 * @property {(entry: Entry, commands: number) => void} onAnswered
 * @property {(entry: Entry, command: number, line: string) => void} onRefused
 * @property {((step: Step, reply: number | string | null | undefined) => void) | null} [onReply]
 *   of a command that was answered, before that is known; null: replies are not looked at
 */

// No number in a text is longer than this.
const mostDigits = 32

/**
 * Takes each reply as it is: a number, a text (a long one as an empty one), null, or undefined for a list.
 * @param {(reply: number | string | null | undefined) => void} onReply
 * @param {(line: string) => void} onRefusal
 */
const replyTaker = (onReply, onRefusal) => {
  /** @type {number | string | null | undefined} */
  let reply
  /** @type {string | null} */
  let fault = null
  let isList = false
  /** @param {number | string | null} value */
  const take = (value) => {
    if (!isList) reply = value
  }
  /** @type {ReplySink} */
  const sink = {
    open: () => {
      isList = true
    },
    bulk: (bytes, from, to) => take(to - from <= mostDigits ? bytes.toString('latin1', from, to) : ''),
    number: take,
    nil: () => take(null),
    error: (line) => {
      if (!isList) fault = line
    },
  }
  return replyReader({
    sink: () => {
      reply = undefined
      fault = null
      isList = false
      return sink
    },
    replied: () => (fault === null ? onReply(reply) : onRefusal(fault)),
  })
}

/** @param {ConnectionEvents} events */
export const unansweredOf = ({ onAnswered, onRefused, onReply = null }) => {
  const sent = /** @type {ReturnType<typeof fifo<Entry>>} */ (fifo())
  let unansweredBytes = 0
  let unansweredCommands = 0

  const finish = (/** @type {Entry} */ entry) => {
    unansweredBytes -= entry.bytes
    sent.shift()
  }
  const next = () => {
    const entry = sent.first()
    if (!entry) throw new MillraceError('PROTOCOL', 'the server answers more than it was asked')
    return entry
  }
  const answered = (/** @type {number} */ count) => {
    let left = count
    while (left > 0) {
      const entry = next()
      if (entry.lead > 0) {
        entry.lead--
        left--
        continue
      }
      const n = Math.min(left, entry.to - entry.from)
      left -= n
      unansweredCommands -= n
      if (entry.from + n === entry.to) finish(entry)
      onAnswered(entry, n)
      entry.from += n
    }
  }
  const refused = (/** @type {string} */ line) => {
    const entry = next()
    // A refused ASKING is not reported: the reply to the command after it says why.
    if (entry.lead > 0) {
      entry.lead--
      return
    }
    unansweredCommands--
    if (entry.from + 1 === entry.to) finish(entry)
    onRefused(entry, entry.from++, line)
  }

  return {
    /** A new decoder for a new connection. */
    decoder: () =>
      onReply === null
        ? replyCounter({ done: answered, failed: refused })
        : replyTaker((reply) => {
            const entry = next()
            if (entry.lead === 0) onReply(entry.encoded.step, reply)
            answered(1)
          }, refused),
    all: sent.all,
    bytes: () => unansweredBytes,
    commands: () => unansweredCommands,
    /** @param {Entry} entry @param {number} bytes */
    add(entry, bytes) {
      entry.bytes = bytes
      unansweredBytes += bytes
      unansweredCommands += entry.to - entry.from
      sent.push(entry)
    },
    /** The connection is lost. */
    takeAll() {
      unansweredBytes = 0
      unansweredCommands = 0
      return sent.takeAll()
    },
  }
}
