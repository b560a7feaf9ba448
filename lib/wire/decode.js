// RESP decoding that is exact at every split of the stream.
import { MillraceError } from '../base/errors.js'
import {
  checkInteger,
  checkText,
  lengthIn,
  longestArray,
  longestBulk,
  longestLine,
  protocolError,
} from './protocol.js'

const plus = 43
const minus = 45
const dollar = 36
const newline = 10
const carriage = 13

const ok = '+OK\r\n'
const manyOks = Buffer.from(ok.repeat(Math.ceil(65_536 / ok.length)))
// Of fewer bytes a call into the engine takes longer than a loop over them.
const fewBytes = 100

/** How many OKs come one after the other from a place on, if there is nothing else. @param {Buffer} bytes @param {number} at */
const oksFrom = (bytes, at) => {
  const whole = Math.trunc((bytes.length - at) / ok.length)
  const size = whole * ok.length
  return size <= manyOks.length && manyOks.compare(bytes, at, at + size, 0, size) === 0 ? whole : 0
}

/** Where a bulk string ends that is whole here; 0: it is not, or is for the careful. @param {Buffer} bytes @param {number} at @param {number} end */
const afterBulk = (bytes, at, end) => {
  let place = at + 1
  let length = bytes[place] - 48
  // No leading zeros.
  if (!(length > 0 && length < 10)) return 0
  for (place++; place < end; place++) {
    const digit = bytes[place] - 48
    if (!(digit >= 0 && digit < 10)) break
    length = 10 * length + digit
    if (length >= end) return 0
  }
  const next = place + 2 + length + 2
  return next <= end &&
    bytes[place] === carriage &&
    bytes[place + 1] === newline &&
    bytes[next - 2] === carriage &&
    bytes[next - 1] === newline
    ? next
    : 0
}

/**
 * Counted replies by class: strings, nulls, 0 and 1.
 * @typedef {{ bulk: number, nil: number, zero: number, one: number }} Tally
 */

/** @returns {Tally} */
export const noTally = () => ({ bulk: 0, nil: 0, zero: 0, one: 0 })

/**
 * Counts whole replies of any depth. `done(n)`: the next n commands were answered without error;
 * `failed(line)`: the next one was refused. Errors inside an array belong to its reply and do not count.
 * @param {{ done: (count: number) => void, failed: (line: string) => void }} listener
 * @param {Tally} [tally] counts the replies that are no arrays
 * @param {number} [most] elements of a reply that may be missing
 */
export const replyCounter = ({ done, failed }, tally = noTally(), most = Number.POSITIVE_INFINITY) => {
  /** @type {Buffer | null} a header line that a read has cut */
  let cut = null
  let left = 1 // elements of the current reply still missing
  let skip = 0 // bytes of the current bulk still missing, including its line end
  let isBulk = false // it is a reply of its own, and counts when it is whole
  let run = 0
  let nested = false // the current reply is an array, a set or a map

  const element = () => {
    if (--left === 0) {
      run++
      left = 1
      nested = false
    }
  }
  const tell = () => {
    if (run === 0) return
    const count = run
    run = 0
    done(count)
  }
  const refuse = (/** @type {string} */ line) => {
    if (left > 1 || nested) return element()
    tell()
    failed(line)
  }
  /**
   * Takes the header line in bytes[from, to) (no line end) and returns how many bytes of payload follow it.
   * @param {Buffer} bytes
   * @param {number} from
   * @param {number} to
   */
  const header = (bytes, from, to) => {
    if (bytes[to] !== carriage || to - from > longestLine) throw protocolError(bytes.subarray(from, to))
    switch (bytes[from]) {
      case 58: // :
        checkInteger(bytes, from, to)
        if (left === 1 && !nested && to === from + 2) {
          if (bytes[from + 1] === 48) tally.zero++
          else if (bytes[from + 1] === 49) tally.one++
        }
        element()
        return 0
      case 95: // _ null
        if (to !== from + 1) throw protocolError(bytes.subarray(from, to))
        if (left === 1 && !nested) tally.nil++
        element()
        return 0
      case 35: // # boolean
        if (to !== from + 2 || (bytes[from + 1] !== 116 && bytes[from + 1] !== 102))
          throw protocolError(bytes.subarray(from, to))
        element()
        return 0
      case 40: // ( big number
        checkInteger(bytes, from, to)
        element()
        return 0
      case 44: // , double
        if (!/^,[-+]?(inf|nan|[\d.]+(e[-+]?\d+)?)$/i.test(bytes.toString('latin1', from, to)))
          throw protocolError(bytes.subarray(from, to))
        element()
        return 0
      case plus:
        checkText(bytes, from, to)
        element()
        return 0
      case minus:
        checkText(bytes, from, to)
        refuse(bytes.toString('latin1', from + 1, to))
        return 0
      case dollar:
      case 61: {
        // = verbatim
        const length = lengthIn(bytes, from + 1, to, longestBulk)
        if (left === 1 && !nested) {
          if (length < 0) tally.nil++
          else isBulk = true
        }
        if (length >= 0) return length + 2
        element()
        return 0
      }
      case 42: // *
      case 126: // ~ set
        open(lengthIn(bytes, from + 1, to, longestArray))
        return 0
      case 37: // % map
        open(2 * lengthIn(bytes, from + 1, to, longestArray))
        return 0
      case 62: // > push: answers no command, so it adds its own element
        left += Math.max(0, lengthIn(bytes, from + 1, to, longestArray))
        return 0
      case 124: // | attribute: comes in front of the element it describes
        left += 2 * Math.max(0, lengthIn(bytes, from + 1, to, longestArray))
        return 0
      default:
        throw protocolError(bytes.subarray(from, to))
    }
  }
  const open = (/** @type {number} */ count) => {
    if (count <= 0) return element()
    if (left === 1) nested = true
    left += count - 1
    if (left > most) throw new MillraceError('PROTOCOL', `its reply has more than ${most} elements`)
  }

  const take = (/** @type {Buffer} */ bytes) => {
    const end = bytes.length
    let at = 0
    if (cut) {
      const stop = bytes.indexOf(newline)
      const line = Buffer.concat([cut, stop < 0 ? bytes : bytes.subarray(0, stop)])
      if (line.length > longestLine) throw protocolError(line)
      if (stop < 0) {
        cut = line
        return
      }
      cut = null
      at = stop + 1
      skip = header(line, 0, line.length - 1)
    }
    // Nearly every read of answers to writes: a fifth of the time of looking at each of a hundred.
    if (end - at >= fewBytes && bytes[at] === plus && skip === 0 && left === 1 && !nested) {
      const oks = oksFrom(bytes, at)
      run += oks
      at += oks * ok.length
    }
    for (;;) {
      if (skip > 0) {
        const taken = Math.min(skip, end - at)
        at += taken
        skip -= taken
        // A read may end inside the line end.
        const place = skip === 1 && taken > 0 ? at - 1 : skip === 0 && taken > 1 ? at - 2 : -1
        if (place >= 0 && bytes[place] !== carriage)
          throw protocolError(bytes.subarray(Math.max(0, at - 8), at))
        if (skip > 0) break
        if (bytes[at - 1] !== newline) throw protocolError(bytes.subarray(Math.max(0, at - 8), at))
        if (isBulk) tally.bulk++
        isBulk = false
        element()
      }
      if (at >= end) break
      // '+OK\r\n' is nearly every answer to a write.
      if (
        left === 1 &&
        !nested &&
        bytes[at] === plus &&
        bytes[at + 1] === 79 &&
        bytes[at + 2] === 75 &&
        bytes[at + 3] === carriage &&
        at + 4 < end &&
        bytes[at + 4] === newline
      ) {
        run++
        at += 5
        continue
      }
      if (left === 1 && !nested && bytes[at] === dollar) {
        const next = afterBulk(bytes, at, end)
        if (next > 0) {
          tally.bulk++
          run++
          at = next
          continue
        }
      }
      let stop = at + 1
      while (stop < end && bytes[stop] !== newline) stop++
      if (stop >= end) {
        if (end - at > longestLine) throw protocolError(bytes.subarray(at))
        cut = Buffer.from(bytes.subarray(at))
        break
      }
      skip = header(bytes, at, stop - 1)
      at = stop + 1
    }
  }

  return (/** @type {Buffer} */ bytes) => {
    try {
      take(bytes)
    } finally {
      // Counts also replies before invalid bytes.
      tell()
    }
  }
}
