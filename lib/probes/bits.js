// A growing set of numbers from 1 on, one bit each, in the order of Redis' own bitmaps: bit n is what GETBIT n reads. The
// bytes that changed since the set was last stored are known as a range.

const pop = Uint8Array.from({ length: 256 }, (_, byte) => {
  let ones = 0
  for (let rest = byte; rest > 0; rest >>= 1) ones += rest & 1
  return ones
})

/** @param {Uint8Array} bytes */
export const onesIn = (bytes) => {
  let ones = 0
  for (let i = 0; i < bytes.length; i++) ones += pop[bytes[i]]
  return ones
}

/** Numbers in bytes, ascending. @param {Uint8Array} bytes @param {number} most */
export const numbersIn = (bytes, most) => {
  /** @type {number[]} */
  const numbers = []
  for (let i = 0; i < bytes.length && numbers.length < most; i++)
    for (let bit = 0; bytes[i] !== 0 && bit < 8; bit++) if (bytes[i] & (128 >> bit)) numbers.push(i * 8 + bit)
  return numbers.slice(0, most)
}

/** @param {Uint8Array[]} sets */
export const unionOf = (sets) => {
  const whole = new Uint8Array(Math.max(0, ...sets.map(({ length }) => length)))
  for (const set of sets) for (let i = 0; i < set.length; i++) whole[i] |= set[i]
  return whole
}

/** The numbers of the first set that are not in the second. @param {Uint8Array} one @param {Uint8Array} other */
export const without = (one, other) => one.map((byte, i) => byte & ~(other[i] ?? 0))

/** The numbers in both sets. @param {Uint8Array} one @param {Uint8Array} other */
export const commonNumbers = (one, other) => one.map((byte, i) => byte & (other[i] ?? 0))

export const bitsOf = () => {
  let bytes = new Uint8Array(1024)
  let ones = 0
  let end = 0 // bytes in use
  let from = Number.POSITIVE_INFINITY // of the changed range
  let to = 0
  return {
    /** @param {number} n @returns whether it was not there */
    add(n) {
      const at = n >>> 3
      if (at >= bytes.length) {
        const larger = new Uint8Array(2 ** Math.ceil(Math.log2(at + 1)))
        larger.set(bytes)
        bytes = larger
      }
      const bit = 128 >> (n & 7)
      if (bytes[at] & bit) return false
      bytes[at] |= bit
      ones++
      if (at < from) from = at
      if (at >= to) to = at + 1
      if (at >= end) end = at + 1
      return true
    },
    count: () => ones,
    bytes: () => bytes.subarray(0, end),
    /** The bytes changed since the last call. @returns {{ from: number, bytes: Buffer } | null} */
    changed() {
      if (to === 0) return null
      const change = { from, bytes: Buffer.from(bytes.subarray(from, to)) }
      from = Number.POSITIVE_INFINITY
      to = 0
      return change
    },
  }
}

/** @typedef {ReturnType<typeof bitsOf>} Bits */
