// The bytes of a value: a pure function of seed, payload and item, so that a reader can tell what must be there.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/** Bytes that --stamp takes of a value: epoch milliseconds. */
export const stampBytes = 13

export const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_'
const codes = Buffer.from(alphabet)
const poolBytes = 1 << 20

/** @type {{ seed: number, pool: Buffer } | null} the last one: a plan's strategies and readers share it */
let made = null

/**
 * @param {number} seed
 * @param {number} length
 */
const randomPool = (seed, length) => {
  if (made?.seed === seed && made.pool.length === length) return made.pool
  const random = xoroshiro128plus(seed)
  const pool = Buffer.alloc(length)
  const fresh = Math.min(length, poolBytes)
  for (let at = 0; at < fresh; ) {
    const bits = random.next()
    for (let k = 0; k < 5 && at < fresh; k++) pool[at++] = codes[(bits >>> (6 * k)) & 63]
  }
  for (let at = fresh; at < length; at += fresh) pool.copy(pool, at, 0, Math.min(fresh, length - at))
  made = { seed, pool }
  return pool
}

/** A 32-bit mix (murmur3's finalizer): neighbours in, far apart out. */
export const mix = (/** @type {number} */ n) => {
  let h = n | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/**
 * The item's number in `width` letters, lowest digit first: different for every item below 64^width.
 * @param {number} n
 * @param {number} width
 */
const identity = (n, width) => {
  // One text at once, not letter by letter: each step would be a text of its own.
  const letters = /** @type {number[]} */ (Array(width))
  let rest = n
  for (let i = 0; i < width; i++) {
    const next = Math.floor(rest / 64)
    letters[i] = codes[rest - next * 64]
    rest = next
  }
  return String.fromCharCode(...letters)
}

/**
 * How many letters of a value tell items apart.
 * @param {'random' | 'sparse' | 'zero'} payload
 * @param {number} valueBytes without a stamp
 */
export const identityWidth = (payload, valueBytes) =>
  payload === 'zero' ? 0 : Math.min(payload === 'sparse' ? 4 : 8, valueBytes)

/** @typedef {{ payload: 'random' | 'sparse' | 'zero', valueBytes: number, seed: number, stamp: boolean }} PayloadTerms */

/**
 * What stands behind the stamp: so many letters of identity, then bytes of a pool from a place of the item's own.
 * @param {PayloadTerms} terms
 */
const bodyOf = ({ payload, valueBytes, seed, stamp }) => {
  const bytes = valueBytes - (stamp ? stampBytes : 0)
  const head = identityWidth(payload, bytes)
  const tail = bytes - head
  if (payload !== 'random')
    return { head, tail, pool: Buffer.alloc(tail, payload === 'zero' ? 0 : '.'), placeOf: () => 0 }
  const salt = mix(seed)
  return {
    head,
    tail,
    pool: randomPool(seed, poolBytes + tail),
    placeOf: (/** @type {number} */ n) => mix(n ^ salt) % poolBytes,
  }
}

/**
 * @param {PayloadTerms} terms
 * @returns {(n: number) => import('../wire/encode.js').Part[]} the parts of item n's value
 */
export const payloadOf = (terms) => {
  const { head, tail, pool, placeOf } = bodyOf(terms)
  const lead = terms.stamp ? [/** @type {const} */ ({ hole: 'stamp', width: stampBytes })] : []
  return (n) => {
    const from = placeOf(n)
    return [...lead, identity(n, head), pool.subarray(from, from + tail)]
  }
}

/**
 * The same bytes behind the stamp, put in place.
 * @param {PayloadTerms} terms
 * @returns {(n: number, out: Buffer, at: number) => void}
 */
export const payloadPutter = (terms) => {
  const { head, tail, pool, placeOf } = bodyOf(terms)
  return (n, out, at) => {
    let rest = n
    for (let i = 0; i < head; i++) {
      const next = Math.floor(rest / 64)
      out[at + i] = codes[rest - next * 64]
      rest = next
    }
    const from = placeOf(n)
    pool.copy(out, at + head, from, from + tail)
  }
}

/**
 * Whether bytes[from, to) are what `payloadOf` makes of item n; the digits of a stamp are not looked at.
 * @param {PayloadTerms} terms
 * @returns {(n: number, bytes: Buffer, from: number, to: number) => boolean}
 */
export const payloadMatcher = (terms) => {
  const { head, tail, pool, placeOf } = bodyOf(terms)
  const lead = terms.stamp ? stampBytes : 0
  const size = lead + head + tail
  return (n, bytes, from, to) => {
    if (to - from !== size) return false
    let rest = n
    for (let at = from + lead; at < from + lead + head; at++) {
      const next = Math.floor(rest / 64)
      if (bytes[at] !== codes[rest - next * 64]) return false
      rest = next
    }
    const place = placeOf(n)
    return tail === 0 || pool.compare(bytes, to - tail, to, place, place + tail) === 0
  }
}

/**
 * The item whose value would begin like this, -1 where none would.
 * @param {PayloadTerms} terms
 * @returns {(bytes: Buffer, from: number, to: number) => number}
 */
export const itemOfValue = (terms) => {
  const lead = terms.stamp ? stampBytes : 0
  const head = identityWidth(terms.payload, terms.valueBytes - lead)
  const digits = new Int8Array(256).fill(-1)
  for (const [digit, code] of codes.entries()) digits[code] = digit
  return (bytes, from, to) => {
    if (to - from < lead + head) return -1
    let n = 0
    for (let at = from + lead + head - 1; at >= from + lead; at--) {
      const digit = digits[bytes[at]]
      if (digit < 0) return -1
      n = n * 64 + digit
    }
    return n
  }
}
