// RESP2 replies, passed on value by value without an object for each, exact at every split of the stream.
import { MillraceError } from '../base/errors.js'
import { checkText, lengthIn, longestArray, longestBulk, longestLine, protocolError } from './protocol.js'

/**
 * @import { Tally } from './decode.js'
 *
 * Replies as nested arrays of texts and numbers, for commands whose replies are small. An error is an Error.
 * @typedef {string | number | null | Error | Reply[]} Reply
 */

/**
 * Takes the bytes of a connection as they come. An error that is a whole reply is a refusal; inside a list it is an element.
 * @param {{ replied: (value: Reply) => void, refused: (line: string) => void, encoding?: BufferEncoding }} listener
 * @returns {(bytes: Buffer) => void}
 */
export const valueReader = ({ replied, refused, encoding = 'latin1' }) => {
  /** @type {Reply} */
  let whole = null
  /** @type {string | null} */
  let refusal = null
  /** @type {{ list: Reply[], left: number }[]} */
  const open = []

  /** @param {Reply} value */
  const put = (value) => {
    const last = open.at(-1)
    if (last === undefined) whole = value
    else {
      last.list.push(value)
      last.left--
    }
    while (open.length > 0 && open[open.length - 1].left === 0) open.pop()
  }
  const sink = {
    /** @param {number} count */
    open(count) {
      /** @type {Reply[]} */
      const list = []
      put(list)
      if (count > 0) open.push({ list, left: count })
    },
    /** @param {Buffer} bytes @param {number} from @param {number} to */
    bulk: (bytes, from, to) => put(bytes.toString(encoding, from, to)),
    number: put,
    nil: () => put(null),
    /** @param {string} line */
    error: (line) => {
      if (open.length > 0) put(new Error(line))
      else refusal = line
    },
  }
  return replyReader({
    sink: () => sink,
    replied() {
      const line = refusal
      refusal = null
      if (line !== null) refused(line)
      else replied(whole)
    },
  })
}

/** Counts a reply by its class, as replyCounter does. @param {Tally} tally @param {Reply} reply */
export const countReply = (tally, reply) => {
  if (reply === null) tally.nil++
  else if (reply === 0) tally.zero++
  else if (reply === 1) tally.one++
  else if (typeof reply === 'string' && reply !== 'OK') tally.bulk++
}

/**
 * Receives the parts of a reply. Bytes are a view that is reused after the call. Elements of an array come in order, at any
 * depth.
 * @typedef {object} ReplySink
 * @property {(count: number, depth: number) => void} open an array begins
 * @property {(bytes: Buffer, from: number, to: number) => void} bulk a string, also a short one like OK
 * @property {(n: number) => void} number
 * @property {() => void} nil a null string or array
 * @property {(line: string) => void} error at the top: the command was refused; inside an array: an element
 *
 * @typedef {object} ReplyListener
 * @property {() => ReplySink} sink asked when a reply begins
 * @property {() => void} replied it is complete
 * @property {number} [mostBytes] of a string in it, which is kept until its end; the limit of the protocol
 */

const plus = 43
const minus = 45
const colon = 58
const dollar = 36
const star = 42
const newline = 10
const carriage = 13

// No reply is nested deeper.
const deepest = 32
// A value cut by the end of a read is assembled here; a larger buffer than this is not kept.
const keptSpill = 4 << 20

/** @param {Uint8Array} bytes @param {number} from @param {number} to */
const integerIn = (bytes, from, to) => {
  const negative = bytes[from] === minus
  let value = 0
  const first = negative ? from + 1 : from
  if (first >= to || to - first > 19) throw protocolError(bytes.subarray(Math.max(0, from - 1), to))
  for (let i = first; i < to; i++) {
    const digit = bytes[i] - 48
    if (digit < 0 || digit > 9) throw protocolError(bytes.subarray(Math.max(0, from - 1), to))
    value = value * 10 + digit
  }
  return negative ? -value : value
}

/** A string that is under way: its length, how much of it is in the spill, and line-end bytes still to come. @param {() => void} whole */
const bulkReader = (whole) => {
  let length = -1
  let got = 0
  let lineEnd = 0
  let spill = Buffer.allocUnsafeSlow(16_384)
  return {
    isUnderWay: () => length !== -1,
    begin(/** @type {number} */ n) {
      length = n
      got = 0
      lineEnd = 2
    },
    /** Takes the bytes of it that have arrived; returns where the next value begins. @param {Buffer} bytes @param {number} from @param {ReplySink | null} sink */
    take(bytes, from, sink) {
      const end = bytes.length
      let at = from
      if (got < length) {
        if (got === 0 && at + length <= end) {
          sink?.bulk(bytes, at, at + length)
          at += length
          got = length
        } else {
          if (spill.length < length) spill = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(length)))
          const taken = Math.min(length - got, end - at)
          bytes.copy(spill, got, at, at + taken)
          got += taken
          at += taken
          if (got < length) return at
          sink?.bulk(spill, 0, length)
          if (spill.length > keptSpill) spill = Buffer.allocUnsafeSlow(16_384)
        }
      }
      for (; lineEnd > 0 && at < end; lineEnd--, at++)
        if (bytes[at] !== (lineEnd === 2 ? carriage : newline))
          throw protocolError(bytes.subarray(at, at + 8))
      if (lineEnd === 0) {
        length = -1
        whole()
      }
      return at
    },
  }
}

/** Takes the bytes of a connection as they come. @param {ReplyListener} listener @returns {(bytes: Buffer) => void} */
export const replyReader = ({ sink: sinkOf, replied, mostBytes = longestBulk }) => {
  /** @type {ReplySink | null} the reply under way has begun */
  let sink = null
  /** @type {Buffer | null} a header line that a read has cut */
  let cut = null
  // Elements still missing in each open array.
  /** @type {number[]} */
  const left = []
  let depth = 0

  const element = () => {
    while (depth > 0) {
      if (--left[depth - 1] > 0) return
      depth--
    }
    sink = null
    replied()
  }
  const bulk = bulkReader(element)
  const openArray = (/** @type {ReplySink} */ to, /** @type {number} */ count) => {
    if (depth === deepest) throw protocolError(Buffer.from(`*${count}`))
    if (count < 0) {
      to.nil()
      return element()
    }
    to.open(count, depth)
    if (count === 0) return element()
    left[depth++] = count
  }
  /** Takes the header line in bytes[from, to), no line end. @param {Buffer} bytes @param {number} from @param {number} to */
  const header = (bytes, from, to) => {
    sink ??= sinkOf()
    switch (bytes[from]) {
      case dollar: {
        const n = lengthIn(bytes, from + 1, to, longestBulk)
        if (n > mostBytes)
          throw new MillraceError('PROTOCOL', `its reply has a value of ${n} bytes, more than ${mostBytes}`)
        if (n < 0) {
          sink.nil()
          element()
        } else {
          bulk.begin(n)
          if (n === 0) sink.bulk(bytes, from, from)
        }
        return
      }
      case colon:
        sink.number(integerIn(bytes, from + 1, to))
        return element()
      case star:
        return openArray(sink, lengthIn(bytes, from + 1, to, longestArray))
      case plus:
        checkText(bytes, from, to)
        sink.bulk(bytes, from + 1, to)
        return element()
      case minus:
        checkText(bytes, from, to)
        sink.error(bytes.toString('latin1', from + 1, to))
        return element()
      default:
        throw protocolError(bytes.subarray(from, to))
    }
  }
  return (bytes) => {
    const end = bytes.length
    let at = 0
    while (at < end) {
      if (bulk.isUnderWay()) {
        at = bulk.take(bytes, at, sink)
        continue
      }
      if (cut) {
        const stop = bytes.indexOf(newline, at)
        if (cut.length + (stop < 0 ? end : stop) - at > longestLine) throw protocolError(cut)
        const line = Buffer.concat([cut, bytes.subarray(at, stop < 0 ? end : stop + 1)])
        cut = stop < 0 ? line : null
        if (stop < 0) return
        at = stop + 1
        if (line[line.length - 2] !== carriage) throw protocolError(line)
        header(line, 0, line.length - 2)
        continue
      }
      let stop = at + 1
      while (stop < end && bytes[stop] !== newline) stop++
      if (stop >= end) {
        if (end - at > longestLine) throw protocolError(bytes.subarray(at, at + 60))
        cut = Buffer.from(bytes.subarray(at))
        return
      }
      if (bytes[stop - 1] !== carriage) throw protocolError(bytes.subarray(at, stop))
      const from = at
      at = stop + 1
      header(bytes, from, stop - 1)
    }
  }
}
