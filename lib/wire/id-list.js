// Ids as bytes behind each other, with their scores: 300,000 of them without an object or a string.

/** @typedef {ReturnType<typeof idList>} IdList */

/**
 * @param {Buffer} bytes
 * @param {number} from
 * @param {number} to
 */
const hashOf = (bytes, from, to) => {
  let h = 0x811c9dc5
  for (let i = from; i < to; i++) h = Math.imul(h ^ bytes[i], 0x01000193)
  return h ^ (h >>> 15)
}

/**
 * A number as a server writes a score.
 * @param {Buffer} bytes
 * @param {number} from
 * @param {number} to
 */
export const scoreIn = (bytes, from, to) => {
  let value = 0
  for (let i = from; i < to; i++) {
    const digit = bytes[i] - 48
    if (digit < 0 || digit > 9) return Number(bytes.toString('latin1', from, to))
    value = value * 10 + digit
  }
  return value
}

/**
 * Grows, is emptied, and is filled again: a consumer needs one for all its fetches.
 * @param {{ unique?: boolean }} [options] unique: an id that is there already is not taken a second time
 */
export const idList = ({ unique = false } = {}) => {
  let bytes = Buffer.allocUnsafeSlow(16_384)
  let ends = new Uint32Array(1024)
  let scores = new Float64Array(0)
  /** Places of ids plus one, by hash; twice as many as ids at least. */
  let table = new Int32Array(unique ? 4096 : 0)
  let count = 0
  let filled = 0
  let duplicates = 0

  const startOf = (/** @type {number} */ i) => (i === 0 ? 0 : ends[i - 1])

  /** Where in the table the id is or would be. @param {Buffer} from @param {number} at @param {number} to */
  const placeOf = (from, at, to) => {
    const mask = table.length - 1
    for (let place = hashOf(from, at, to) & mask; ; place = (place + 1) & mask) {
      const other = table[place] - 1
      if (other < 0) return place
      const start = startOf(other)
      if (ends[other] - start !== to - at) continue
      let k = 0
      while (k < to - at && bytes[start + k] === from[at + k]) k++
      if (k === to - at) return place
    }
  }
  const growTable = () => {
    table = new Int32Array(table.length * 4)
    for (let i = 0; i < count; i++) table[placeOf(bytes, startOf(i), ends[i])] = i + 1
  }

  const list = {
    get count() {
      return count
    },
    get duplicates() {
      return duplicates
    },
    get bytes() {
      return bytes
    },
    startOf,
    endOf: (/** @type {number} */ i) => ends[i],
    text: (/** @type {number} */ i) => bytes.toString('utf8', startOf(i), ends[i]),
    /**
     * Returns the id's place, or -1 where it is there already and the list is unique.
     * @param {Buffer} from
     * @param {number} at
     * @param {number} to
     */
    add(from, at, to) {
      const size = to - at
      let place = 0
      if (unique) {
        if ((count + 1) * 2 > table.length) growTable()
        place = placeOf(from, at, to)
        if (table[place] > 0) {
          duplicates++
          return -1
        }
      }
      if (filled + size > bytes.length) {
        const more = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, filled + size))
        bytes.copy(more, 0, 0, filled)
        bytes = more
      }
      if (count === ends.length) {
        const more = new Uint32Array(count * 2)
        more.set(ends)
        ends = more
      }
      if (size < 48) for (let k = 0; k < size; k++) bytes[filled + k] = from[at + k]
      else from.copy(bytes, filled, at, to)
      filled += size
      ends[count] = filled
      if (unique) table[place] = count + 1
      return count++
    },
    /** @param {number} i @param {number} score */
    setScore(i, score) {
      if (i >= scores.length) {
        const more = new Float64Array(Math.max(ends.length, i + 1))
        more.set(scores)
        scores = more
      }
      scores[i] = score
    },
    /** NaN where none came with the id. @param {number} i */
    scoreOf: (i) => (i < scores.length ? scores[i] : Number.NaN),
    clear() {
      if (unique) table.fill(0)
      scores.fill(Number.NaN)
      count = filled = duplicates = 0
    },
  }
  return list
}
