// Ids as consecutive bytes with their scores: 300,000 of them without an object or a string.

/** @typedef {ReturnType<typeof idList>} IdList */

/** @param {Buffer} bytes @param {number} from @param {number} to */
const hashOf = (bytes, from, to) => {
  let h = 0x811c9dc5
  for (let i = from; i < to; i++) h = Math.imul(h ^ bytes[i], 0x01000193)
  return h ^ (h >>> 15)
}

/** A number as a server writes a score. @param {Buffer} bytes @param {number} from @param {number} to */
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
 * A list that a consumer empties and fills again. It is a class, since each literal with getters has a hidden class of its
 * own: with 32 consumers every access to a list was looked up anew.
 */
class Ids {
  #bytes = Buffer.allocUnsafeSlow(16_384)
  #ends = new Uint32Array(1024)
  #scores = new Float64Array(0)
  /** Places of ids plus one, by hash; twice as many as ids at least. Empty: ids may come twice. */
  #table
  #count = 0
  #filled = 0
  #duplicates = 0

  /** @param {boolean} unique */
  constructor(unique) {
    this.#table = new Int32Array(unique ? 4096 : 0)
  }

  get count() {
    return this.#count
  }
  get duplicates() {
    return this.#duplicates
  }
  get bytes() {
    return this.#bytes
  }

  /** @param {number} i */
  startOf(i) {
    return i === 0 ? 0 : this.#ends[i - 1]
  }

  /** @param {number} i */
  endOf(i) {
    return this.#ends[i]
  }

  /** @param {number} i */
  text(i) {
    return this.#bytes.toString('utf8', this.startOf(i), this.endOf(i))
  }

  /** The place of the id in the table, or a free one for it. @param {Buffer} from @param {number} at @param {number} to */
  #placeOf(from, at, to) {
    const table = this.#table
    const mask = table.length - 1
    for (let place = hashOf(from, at, to) & mask; ; place = (place + 1) & mask) {
      const other = table[place] - 1
      if (other < 0) return place
      const start = this.startOf(other)
      if (this.#ends[other] - start !== to - at) continue
      let k = 0
      while (k < to - at && this.#bytes[start + k] === from[at + k]) k++
      if (k === to - at) return place
    }
  }

  #growTable() {
    this.#table = new Int32Array(this.#table.length * 4)
    for (let i = 0; i < this.#count; i++) {
      this.#table[this.#placeOf(this.#bytes, this.startOf(i), this.endOf(i))] = i + 1
    }
  }

  /**
   * Returns the id's place, or -1 where it is there already and the list is unique.
   * @param {Buffer} from
   * @param {number} at
   * @param {number} to
   */
  add(from, at, to) {
    const size = to - at
    const unique = this.#table.length > 0
    let place = 0
    if (unique) {
      if ((this.#count + 1) * 2 > this.#table.length) this.#growTable()
      place = this.#placeOf(from, at, to)
      if (this.#table[place] > 0) {
        this.#duplicates++
        return -1
      }
    }
    const filled = this.#filled
    if (filled + size > this.#bytes.length) {
      const more = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, filled + size))
      this.#bytes.copy(more, 0, 0, filled)
      this.#bytes = more
    }
    if (this.#count === this.#ends.length) {
      const more = new Uint32Array(this.#count * 2)
      more.set(this.#ends)
      this.#ends = more
    }
    const bytes = this.#bytes
    if (size < 48) for (let k = 0; k < size; k++) bytes[filled + k] = from[at + k]
    else from.copy(bytes, filled, at, to)
    this.#filled = filled + size
    this.#ends[this.#count] = this.#filled
    if (unique) this.#table[place] = this.#count + 1
    return this.#count++
  }

  /** @param {number} i @param {number} score */
  setScore(i, score) {
    if (i >= this.#scores.length) {
      const more = new Float64Array(Math.max(this.#ends.length, i + 1))
      more.set(this.#scores)
      this.#scores = more
    }
    this.#scores[i] = score
  }

  /** NaN: the id has none. @param {number} i */
  scoreOf(i) {
    return i < this.#scores.length ? this.#scores[i] : Number.NaN
  }

  clear() {
    this.#table.fill(0)
    this.#scores.fill(Number.NaN)
    this.#count = this.#filled = this.#duplicates = 0
  }
}

/** @param {{ unique?: boolean }} [options] unique: an id is taken once */
export const idList = ({ unique = false } = {}) => new Ids(unique)
