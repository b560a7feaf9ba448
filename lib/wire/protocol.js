// Header lines for both decoders: limits, lengths, and the error for invalid ones.
import { MillraceError } from '../base/errors.js'

// No server sends more: a larger length is not RESP, or an attack.
export const longestLine = 65_536
export const longestBulk = 512 * 1024 * 1024
export const longestArray = 0x7fffffff

const minus = 45
const carriage = 13
const one = 49
const shownBytes = 60

/** @param {Uint8Array} line */
export const protocolError = (line) => {
  const text = Buffer.from(line.subarray(0, shownBytes)).toString('latin1')
  return new MillraceError(
    'PROTOCOL',
    `the server's answer is not RESP: ${JSON.stringify(text.replace(/[^ -~\r\n]/g, '?'))}`,
  )
}

/**
 * The length that a header line carries, or -1 for a null.
 * @param {Uint8Array} bytes
 * @param {number} from behind the type
 * @param {number} to
 * @param {number} longest
 */
export const lengthIn = (bytes, from, to, longest) => {
  if (bytes[from] === minus && bytes[from + 1] === one && to === from + 2) return -1
  if (from >= to || to - from > 10) throw protocolError(bytes.subarray(from - 1, to))
  let value = 0
  for (let i = from; i < to; i++) {
    const digit = bytes[i] - 48
    if (digit < 0 || digit > 9) throw protocolError(bytes.subarray(from - 1, to))
    value = value * 10 + digit
  }
  if (value > longest) throw protocolError(bytes.subarray(from - 1, to))
  return value
}

/** Digits, perhaps behind a sign. @param {Uint8Array} bytes @param {number} from the type @param {number} to */
export const checkInteger = (bytes, from, to) => {
  const first = bytes[from + 1]
  let i = first === minus || first === 43 ? from + 2 : from + 1
  if (i >= to) throw protocolError(bytes.subarray(from, to))
  for (; i < to; i++) if (bytes[i] < 48 || bytes[i] > 57) throw protocolError(bytes.subarray(from, to))
}

/** Refuses a line that contains the end of another. @param {Uint8Array} bytes @param {number} from @param {number} to */
export const checkText = (bytes, from, to) => {
  for (let i = from; i < to; i++) if (bytes[i] === carriage) throw protocolError(bytes.subarray(from, to))
}
