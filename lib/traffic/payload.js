// The bytes of a value: a pure function of seed, payload and item, so that a reader can tell what must be there.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { mix } from '../base/random.js'
import { sizeLimits, sizeOf } from './sizes.js'

/** Bytes that --stamp takes of a value: epoch milliseconds. */
export const stampBytes = 13

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_'
const codes = Buffer.from(alphabet)
const poolBytes = 1 << 20

/** @type {{ seed: number, pool: Buffer } | null} the last one: a plan's commands, strategies and readers share it */
let made = null

/** At least so long; behind its first part that part is repeated. @param {number} seed @param {number} length */
const randomPool = (seed, length) => {
  if (made?.seed === seed && made.pool.length >= length) return made.pool
  const random = xoroshiro128plus(seed)
  const pool = Buffer.alloc(length)
  for (let at = 0; at < poolBytes; ) {
    const bits = random.next()
    for (let k = 0; k < 5 && at < poolBytes; k++) pool[at++] = codes[(bits >>> (6 * k)) & 63]
  }
  for (let at = poolBytes; at < length; at += poolBytes)
    pool.copy(pool, at, 0, Math.min(poolBytes, length - at))
  made = { seed, pool }
  return pool
}

/**
 * The number of letters of a value that identify the item.
 * @param {'random' | 'sparse' | 'zero'} payload
 * @param {number} valueBytes without a stamp
 */
export const identityWidth = (payload, valueBytes) =>
  payload === 'zero' ? 0 : Math.min(payload === 'sparse' ? 4 : 8, valueBytes)

/** @typedef {{ payload: 'random' | 'sparse' | 'zero', valueBytes: number, valueSizes?: string | null, seed: number, stamp: boolean }} PayloadFields */

/**
 * The value behind the stamp: letters that identify the item, then bytes of a pool from a place of the item's own.
 * @param {PayloadFields} fields
 */
const bodyOf = (fields) => {
  const { payload, seed } = fields
  const lead = fields.stamp ? stampBytes : 0
  const most = sizeLimits(fields).most - lead
  const whole = sizeOf(fields)
  const letters = identityWidth(payload, most)
  const common = { lead, letters, whole, widthOf: (/** @type {number} */ n) => whole(n) - lead }
  if (payload !== 'random')
    return { ...common, pool: Buffer.alloc(most, payload === 'zero' ? 0 : '.'), placeOf: () => 0 }
  const salt = mix(seed)
  return {
    ...common,
    pool: randomPool(seed, poolBytes + most),
    placeOf: (/** @type {number} */ n) => mix(n ^ salt) % poolBytes,
  }
}

/**
 * The bytes of a value behind the stamp: how many each item has, and how they are put in place.
 * @param {PayloadFields} fields
 */
export const payloadBody = (fields) => {
  const { letters, pool, placeOf, widthOf } = bodyOf(fields)
  const { least, most } = sizeLimits(fields)
  const lead = fields.stamp ? stampBytes : 0
  return {
    least: least - lead,
    most: most - lead,
    widthOf,
    /** @param {number} n @param {Buffer} out @param {number} at @param {number} width */
    put: (n, out, at, width) => {
      const head = letters < width ? letters : width
      let rest = n
      for (let i = 0; i < head; i++) {
        const next = Math.floor(rest / 64)
        out[at + i] = codes[rest - next * 64]
        rest = next
      }
      const from = placeOf(n)
      pool.copy(out, at + head, from, from + width - head)
    },
  }
}

/**
 * Whether bytes[from, to) are the value of item n; the digits of a stamp are not compared.
 * @param {PayloadFields} fields
 * @returns {(n: number, bytes: Buffer, from: number, to: number) => boolean}
 */
export const payloadMatcher = (fields) => {
  const { lead, letters, whole, pool, placeOf } = bodyOf(fields)
  return (n, bytes, from, to) => {
    if (to - from !== whole(n)) return false
    let rest = n
    const body = from + lead + Math.min(letters, to - from - lead)
    for (let at = from + lead; at < body; at++) {
      const next = Math.floor(rest / 64)
      if (bytes[at] !== codes[rest - next * 64]) return false
      rest = next
    }
    const place = placeOf(n)
    return body === to || pool.compare(bytes, body, to, place, place + to - body) === 0
  }
}

/**
 * The item whose value begins with these bytes; -1: none.
 * @param {PayloadFields} fields
 * @returns {(bytes: Buffer, from: number, to: number) => number}
 */
export const itemOfValue = (fields) => {
  const { lead, letters } = bodyOf(fields)
  const digits = new Int8Array(256).fill(-1)
  for (const [digit, code] of codes.entries()) digits[code] = digit
  const { least } = sizeLimits(fields)
  return (bytes, from, to) => {
    if (to - from < least) return -1
    const head = Math.min(letters, to - from - lead)
    let n = 0
    for (let at = from + lead + head - 1; at >= from + lead; at--) {
      const digit = digits[bytes[at]]
      if (digit < 0) return -1
      n = n * 64 + digit
    }
    return n
  }
}
