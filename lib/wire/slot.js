// Hash slots of a cluster.
import slotOfKey from 'cluster-key-slot'
import { certain } from '../base/typed.js'

export const slotCount = 16384

/**
 * For each slot the smallest number that hashes into it, as text: the same for every box at every time. One pass
 * for all of them, as each takes some 16,000 tries.
 * @param {number[]} slots
 */
export const tagsOf = (slots) => {
  const missing = new Set(slots)
  const tags = new Map()
  for (let n = 0; missing.size > 0; n++) {
    const slot = slotOfPlainText(String(n))
    if (missing.delete(slot)) tags.set(slot, String(n))
  }
  return slots.map((slot) => certain(tags.get(slot)))
}

const crcTable = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc
})

/**
 * The slot of the key in bytes[from, to): the same as `slotOf`, without a string.
 * @param {Uint8Array} bytes
 * @param {number} from
 * @param {number} to
 */
export const slotOfBytes = (bytes, from, to) => {
  let first = from
  let last = to
  for (let i = from; i < to; i++) {
    if (bytes[i] !== 123) continue
    let end = i + 1
    while (end < to && bytes[end] !== 125) end++
    if (end < to && end > i + 1) {
      first = i + 1
      last = end
    }
    break
  }
  let crc = 0
  for (let i = first; i < last; i++) crc = ((crc << 8) & 0xffff) ^ crcTable[(crc >> 8) ^ bytes[i]]
  return crc & (slotCount - 1)
}

/** The slot of a text without a hash tag whose letters are bytes; -1 for any other. @param {string} key */
const slotOfPlainText = (key) => {
  let crc = 0
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i)
    if (code > 127 || code === 123) return -1
    crc = ((crc << 8) & 0xffff) ^ crcTable[(crc >> 8) ^ code]
  }
  return crc & (slotCount - 1)
}

/** The library takes 2.5 times as long for a plain key, and every drawn item of a cluster needs its slot. @param {string | Buffer} key */
export const slotOf = (key) => {
  const slot = typeof key === 'string' ? slotOfPlainText(key) : -1
  return slot < 0 ? slotOfKey(key) : slot
}
