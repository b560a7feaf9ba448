// Ids made of their number n: all different, spread evenly over the partitions. 128 bits as hex text or as bytes, or 48
// bits as an integer. The low bits of an id choose its partition, and the rest of it is what the partition holds.
import { fixed, number } from '../declare.js'

/** murmur3's finalizer: every number of 32 bits has another one. @param {number} x */
const mix = (x) => {
  let y = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  y = Math.imul(y ^ (y >>> 13), 0xc2b2ae35)
  return (y ^ (y >>> 16)) >>> 0
}

const words = new Uint32Array(4)
/** The id of n, shifted right: the highest word first. @param {number} n @param {number} bits */
const shifted = (n, bits) => {
  const low = mix(n)
  const a = mix(low + 0x9e3779b9)
  const b = mix(a + 0x9e3779b9)
  const c = mix(b + 0x9e3779b9)
  if (bits === 0) words.set([a, b, c, low])
  else {
    const left = 32 - bits
    words[0] = a >>> bits
    words[1] = (b >>> bits) | (a << left)
    words[2] = (c >>> bits) | (b << left)
    words[3] = (low >>> bits) | (c << left)
  }
  return words
}

const half = 2 ** 24
/** Four rounds of a Feistel network: every number of 48 bits has another one. @param {number} n */
const integerOf = (n) => {
  let left = Math.floor(n / half) & (half - 1)
  let right = n & (half - 1)
  for (let round = 1; round <= 4; round++) {
    const next = left ^ (mix(right + round * 0x9e3779b9) & (half - 1))
    left = right
    right = next
  }
  return left * half + right
}

const hexDigits = Buffer.from('0123456789abcdef')

/** @typedef {'hex' | 'binary' | 'integer'} IdForm */

/** The partition of n's id, of 2^bits. @param {IdForm} form @param {number} bits */
export const partition = (form, bits) => {
  const mask = 2 ** bits - 1
  return number('partition', form === 'integer' ? (n) => integerOf(n) & mask : (n) => mix(n) & mask)
}

/** What is left of an id without its low bits. @param {IdForm} form @param {number} bits */
export const restOfId = (form, bits) => {
  if (form === 'integer') return number('rest', (n) => Math.floor(integerOf(n) / 2 ** bits))
  const isHex = form === 'hex'
  const width = Math.ceil((128 - bits) / (isHex ? 4 : 8))
  return fixed(
    'rest',
    width,
    isHex
      ? (n, out, at) => {
          const id = shifted(n, bits)
          for (let i = 0; i < width; i++)
            out[at + width - 1 - i] = hexDigits[(id[3 - (i >> 3)] >>> ((i & 7) * 4)) & 15]
        }
      : (n, out, at) => {
          const id = shifted(n, bits)
          for (let i = 0; i < width; i++) out[at + width - 1 - i] = id[3 - (i >> 2)] >>> ((i & 3) * 8)
        },
  )
}

/** The whole id. @param {IdForm} form */
export const wholeId = (form) => restOfId(form, 0)
