// What the replies to a chunk say of each of its items: acknowledged, refused with a line, or not known yet.
import { MillraceError } from '../base/errors.js'
import { replyReader } from '../wire/values.js'

/**
 * @import { ReplySink } from '../wire/values.js'
 * @import { Delivery } from '../workloads/declare.js'
 *
 * @typedef {object} ChunkReplies
 * @property {(count: number) => void} expect so many items were sent; what came of the last chunk is forgotten
 * @property {(bytes: Buffer) => void} read
 * @property {() => boolean} isWhole all replies are there
 * @property {() => number} acked
 * @property {(i: number) => string | null | undefined} lineOf with which item i was refused; null: it was acknowledged;
 *   undefined: no reply yet
 */

const nothing = () => {}

/** @param {Delivery} delivery @returns {ChunkReplies} */
export const chunkReplies = (delivery) => {
  let count = 0
  let replies = 0 // whole ones
  let acked = 0
  // Of a transaction: whether MULTI was accepted, which element of EXEC's reply is next, and why it is none.
  let isQueued = true
  let item = 0
  /** @type {string | null} */
  let why = null
  /** @type {Map<number, string>} */
  const refused = new Map()

  const ack = (/** @type {number} */ n) => {
    acked += n
  }
  const refuse = (/** @type {number} */ i, /** @type {string} */ line) => {
    refused.set(i, line)
  }
  const refuseAll = (/** @type {string} */ line) => {
    for (let i = 0; i < count; i++) refuse(i, line)
  }

  const isTransaction = delivery === 'transaction'
  const first = isTransaction ? 1 : 0 // the first item's reply

  /** A reply for each item. @type {ReplySink} */
  const ofItem = {
    open: nothing,
    bulk: () => ack(1),
    number: () => ack(1),
    nil: () => refuse(replies - first, 'ERR no value'),
    error: (line) => refuse(replies - first, line),
  }
  /** One reply for all of them. @type {ReplySink} */
  const ofAll = {
    open: nothing,
    bulk: () => refuseAll('ERR no number'),
    number: (n) => {
      if (n === count) ack(n)
      else refuseAll(`ERR the script counted ${n} of ${count}`)
    },
    nil: () => refuseAll('ERR no value'),
    error: refuseAll,
  }
  const silent = { open: nothing, bulk: nothing, number: nothing, nil: nothing, error: nothing }
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
  let isArray = false // EXEC's reply, which is an error where nothing was executed
  /** @type {ReplySink} */
  const ofExec = {
    open: () => {
      isArray = true
    },
    bulk: () => {
      item++
      ack(1)
    },
    number: () => {
      item++
      ack(1)
    },
    nil: () => refuseAll('ERR no value'),
    error: (line) => (isArray ? refuse(item++, line) : refuseAll(why ?? line)),
  }
  const expected = () => (delivery === 'call' ? 1 : isTransaction ? count + 2 : count)
  const sink = () => {
    if (replies >= expected())
      throw new MillraceError('PROTOCOL', 'the server answers more than it was asked')
    if (delivery === 'call') return ofAll
    if (!isTransaction) return ofItem
    if (replies === 0) return ofMulti
    if (replies <= count) return isQueued ? ofQueue : ofItem
    return isQueued ? ofExec : silent
  }
  const reader = () =>
    replyReader({
      sink,
      replied: () => {
        replies++
      },
    })
  let read = reader()

  return {
    expect(n) {
      count = n
      replies = acked = item = 0
      isArray = false
      isQueued = true
      why = null
      refused.clear()
      // A decoder of its own: what a lost connection left half read is gone with it.
      read = reader()
    },
    read: (bytes) => read(bytes),
    isWhole: () => replies === expected(),
    acked: () => acked,
    lineOf(i) {
      const line = refused.get(i)
      if (line !== undefined) return line
      const isKnown = delivery === 'call' || isTransaction ? replies === expected() : i < replies
      return isKnown ? null : undefined
    },
  }
}
