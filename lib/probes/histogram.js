// How often each value was recorded, to three digits: the buckets and the encoded form of HdrHistogram (V2). Values are whole
// numbers from 0 on. What is read of a second goes over the places that were used, in one pass.

// Up to 2047 each value has a place; from there on each octave has 1024.
const octaveBits = 10
const octave = 1 << octaveBits
const clz32Limit = 2 ** 32
// Of values that clz32 does not take.
const farBits = 20
// More than any library encodes: values up to 2^53.
const mostPlaces = 45 * octave

const noHistogram = 'this is no encoded histogram'

const cookie = 0x1c849313
const headBytes = 40
const significantDigits = 3
// What a number of empty places takes at most.
const emptyBytes = 3

/** @param {number} value */
const placeOf = (value) => {
  const far = value < clz32Limit ? 0 : farBits
  const near = far === 0 ? value : Math.floor(value / 2 ** farBits)
  const shift = Math.max(0, 31 - octaveBits - Math.clz32(near))
  return ((shift + far) << octaveBits) + (near >>> shift)
}

/** The octave of a place: its values are 2 ** so many apart. @param {number} place */
const bitsAt = (place) => Math.max(0, (place >> octaveBits) - 1)
/** @param {number} place */
const lowestAt = (place) => (place - (bitsAt(place) << octaveBits)) * 2 ** bitsAt(place)
/** @param {number} place */
const highestAt = (place) => lowestAt(place) + 2 ** bitsAt(place) - 1
/** @param {number} place */
const middleAt = (place) => lowestAt(place) + Math.floor(2 ** bitsAt(place) / 2)

/** Counts with room for a place. @param {number} place */
const roomFor = (place) => new Float64Array((Math.max(1, place >> octaveBits) + 1) << octaveBits)

/**
 * A whole number with its sign in the lowest bit, seven bits a byte, the lowest first. Returns where it ends.
 * @param {Uint8Array} out
 * @param {number} at
 * @param {number} count negative: so many places without any
 */
const putCount = (out, at, count) => {
  let rest = count < 0 ? -2 * count - 1 : 2 * count
  while (rest > 127) {
    out[at++] = (rest % 128) + 128
    rest = Math.floor(rest / 128)
  }
  out[at] = rest
  return at + 1
}

export class Histogram {
  #counts = roomFor(0)
  #total = 0
  #max = 0
  // Places below and above these have no counts.
  #from = Number.POSITIVE_INFINITY
  #to = 0

  get totalCount() {
    return this.#total
  }
  /** The highest value; of decoded ones the upper end of its bucket. */
  get maxValue() {
    return this.#max
  }
  /** Of the middles of the buckets. */
  get mean() {
    const counts = this.#counts
    let sum = 0
    for (let place = this.#from; place < this.#to; place++)
      if (counts[place] > 0) sum += counts[place] * middleAt(place)
    return this.#total === 0 ? 0 : sum / this.#total
  }

  /** @param {number} place @param {number} count @param {number} value */
  #add(place, count, value) {
    if (place >= this.#counts.length) {
      const more = roomFor(place)
      more.set(this.#counts)
      this.#counts = more
    }
    this.#counts[place] += count
    this.#total += count
    if (value > this.#max) this.#max = value
    if (place < this.#from) this.#from = place
    if (place >= this.#to) this.#to = place + 1
  }

  /** @param {number} value @param {number} count */
  record(value, count) {
    this.#add(placeOf(value), count, value)
  }

  /** @param {Histogram} other */
  add(other) {
    for (let place = other.#from; place < other.#to; place++) {
      const count = other.#counts[place]
      if (count > 0) this.#add(place, count, lowestAt(place))
    }
    if (other.#max > this.#max) this.#max = other.#max
  }

  /**
   * Values that so many percent of all do not exceed, each the upper end of its bucket.
   * @param {readonly number[]} percents ascending
   */
  atPercents(percents) {
    let place = this.#from
    let seen = 0
    return percents.map((percent) => {
      const share = (percent / 100) * this.#total
      // An error of rounding does not count as one more.
      const wanted = Math.max(1, Math.ceil(share - 2 ** (Math.floor(Math.log2(share)) - 52)))
      while (seen < wanted && place < this.#to) seen += this.#counts[place++]
      return seen < wanted ? 0 : highestAt(place - 1)
    })
  }

  /** Values with how often each was recorded, from the lowest. @param {(value: number, count: number) => void} each */
  forEach(each) {
    for (let place = this.#from; place < this.#to; place++)
      if (this.#counts[place] > 0) each(highestAt(place), this.#counts[place])
  }

  reset() {
    this.#counts.fill(0, Math.min(this.#from, this.#to), this.#to)
    this.#total = this.#max = this.#to = 0
    this.#from = Number.POSITIVE_INFINITY
  }

  /** Empties it, and gives the memory of its counts back. */
  free() {
    this.reset()
    this.#counts = roomFor(0)
  }

  encode() {
    const counts = this.#counts
    const end = Math.max(1, this.#to)
    const countBytes = Math.max(emptyBytes, Math.ceil((Math.log2(this.#total + 1) + 1) / 7))
    const bytes = new Uint8Array(headBytes + countBytes * (1 + end - Math.min(this.#from, end - 1)))
    let at = headBytes
    for (let place = 0; place < end; ) {
      const from = place
      while (place < end && counts[place] === 0) place++
      const empty = place - from
      at = putCount(bytes, at, empty > 1 ? -empty : empty === 1 ? 0 : counts[place++])
    }
    const head = new DataView(bytes.buffer)
    head.setUint32(0, cookie)
    head.setUint32(4, at - headBytes)
    head.setUint32(8, 1)
    head.setUint32(12, significantDigits)
    head.setBigUint64(16, 1n)
    head.setBigUint64(24, BigInt(highestAt(counts.length - 1)))
    head.setBigUint64(32, 1n)
    return bytes.slice(0, at)
  }

  /** @param {Uint8Array} bytes */
  static decode(bytes) {
    const head = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const isKnown =
      bytes.length >= headBytes && head.getUint32(0) === cookie && head.getUint32(12) === significantDigits
    const end = headBytes + (isKnown ? head.getUint32(4) : 0)
    if (!isKnown || head.getBigUint64(16) !== 1n || end > bytes.length) throw new Error(noHistogram)
    const found = new Histogram()
    for (let at = headBytes, place = 0; at < end; ) {
      let rest = 0
      let unit = 1
      let byte = 0
      do {
        byte = bytes[at++]
        rest += (byte & 127) * unit
        unit *= 128
      } while (byte > 127 && at < end)
      if (rest % 2 === 1) place += (rest + 1) / 2
      else if (rest === 0) place++
      else {
        if (place < mostPlaces) found.#add(place, rest / 2, highestAt(place))
        place++
      }
      if (place > mostPlaces) throw new Error(noHistogram)
    }
    return found
  }
}
