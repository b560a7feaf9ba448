// The bytes of a value: a pure function of seed, payload and item, so that a reader can tell what must be there.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { STAMP_BYTES } from '../../settings.js'

export const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_'
const codes = Buffer.from(alphabet)
const poolBytes = 1 << 20

/**
 * @param {number} seed
 * @param {number} length
 */
const randomPool = (seed, length) => {
  const random = xoroshiro128plus(seed)
  const pool = Buffer.alloc(length)
  const fresh = Math.min(length, poolBytes)
  for (let at = 0; at < fresh; ) {
    const bits = random.next()
    for (let k = 0; k < 5 && at < fresh; k++) pool[at++] = codes[(bits >>> (6 * k)) & 63]
  }
  for (let at = fresh; at < length; at += fresh) pool.copy(pool, at, 0, Math.min(fresh, length - at))
  return pool
}

/** A 32-bit mix (murmur3's finalizer): neighbours in, far apart out. */
const mix = (/** @type {number} */ n) => {
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
  let text = ''
  let rest = n
  for (let i = 0; i < width; i++) {
    const next = Math.floor(rest / 64)
    text += alphabet[rest - next * 64]
    rest = next
  }
  return text
}

/**
 * How many letters of a value tell items apart.
 * @param {'random' | 'sparse' | 'zero'} payload
 * @param {number} valueBytes without a stamp
 */
export const identityWidth = (payload, valueBytes) =>
  payload === 'zero' ? 0 : Math.min(payload === 'sparse' ? 4 : 8, valueBytes)

/**
 * @param {{ payload: 'random' | 'sparse' | 'zero', valueBytes: number, seed: number, stamp: boolean }} plan
 * @returns {(n: number) => import('../wire/encode.js').Part[]} the parts of item n's value
 */
export const payloadOf = ({ payload, valueBytes, seed, stamp }) => {
  const bytes = valueBytes - (stamp ? STAMP_BYTES : 0)
  const head = identityWidth(payload, bytes)
  const tail = bytes - head
  const lead = stamp ? [/** @type {const} */ ({ hole: 'stamp', width: STAMP_BYTES })] : []
  if (payload !== 'random') {
    const rest = Buffer.alloc(tail, payload === 'zero' ? 0 : '.')
    return (n) => [...lead, identity(n, head), rest]
  }
  const pool = randomPool(seed, poolBytes + tail)
  const salt = mix(seed)
  return (n) => {
    const from = mix(n ^ salt) % poolBytes
    return [...lead, identity(n, head), pool.subarray(from, from + tail)]
  }
}
