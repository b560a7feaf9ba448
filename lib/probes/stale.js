// Whether an answer is older than what had been acknowledged when it was asked for. Each write carries the next number in front of
// its value. Writes of one key that overlap may be executed in any order, so an answer is stale only where its number is below
// that of the first of the latest overlapping writes of which one was acknowledged: at least so many are. Without a clock.

/**
 * @typedef {object} StaleCounts
 * @property {number} compared answers
 * @property {number} stale
 * @property {{ record: (us: number) => void }} ages how long before the question the newest write that was missed had been acknowledged
 *
 * @typedef {object} Written of a key
 * @property {number} inFlight writes without an outcome
 * @property {number} first of the writes that overlap
 * @property {number} floor below it an answer is stale; 0: nothing was acknowledged
 * @property {number} floorMs when that was acknowledged
 *
 * @typedef {object} Question what a request keeps of it, of the key n
 * @property {number} version that a write carries
 * @property {number} floor when it was asked
 * @property {number} floorMs
 *
 * @typedef {ReturnType<typeof staleOf>} Stale
 */

// Of a million keys it takes 150 MB; answers of others are not compared.
const mostKeys = 1_000_000
const digits = 13

/** @param {StaleCounts} counts */
export const staleOf = (counts) => {
  /** @type {Map<number, Written>} */
  const keys = new Map()
  let version = 0

  return {
    /** A write is about to be sent for the first time. @param {number} n @param {Question} write */
    begin(n, write) {
      write.version = ++version
      let key = keys.get(n)
      if (key === undefined) {
        if (keys.size >= mostKeys) return
        key = { inFlight: 0, first: 0, floor: 0, floorMs: 0.5 }
        keys.set(n, key)
      }
      if (key.inFlight++ === 0) key.first = write.version
    },
    /** A write has its outcome. @param {number} n @param {boolean} isAcked @param {number} nowMs */
    end(n, isAcked, nowMs) {
      const key = keys.get(n)
      if (key === undefined) return
      key.inFlight--
      if (!isAcked || key.floor >= key.first) return
      key.floor = key.first
      key.floorMs = nowMs
    },
    /** A question is about to be sent. @param {number} n @param {Question} question */
    ask(n, question) {
      const key = keys.get(n)
      question.floor = key === undefined ? 0 : key.floor
      question.floorMs = key === undefined ? 0 : key.floorMs
    },
    /** @param {Question} question @param {number} found the number in front of the value @param {number} askedMs */
    answered({ floor, floorMs }, found, askedMs) {
      if (floor === 0 || Number.isNaN(found)) return
      counts.compared++
      if (found >= floor) return
      counts.stale++
      counts.ages.record((askedMs - floorMs) * 1000)
    },
  }
}

/** What a write carries in front of its value. @param {number} version */
export const versionText = (version) => String(version).padStart(digits, '0')

/** The number in front of a value as text; NaN: there is none. @param {string} value */
export const versionOf = (value) => {
  const text = value.slice(0, digits)
  return text.length === digits && /^\d+$/.test(text) ? Number(text) : Number.NaN
}

/** The same of bytes; NaN: there is none. @param {Buffer} bytes @param {number} from @param {number} to */
export const versionIn = (bytes, from, to) => {
  if (to - from < digits) return Number.NaN
  let n = 0
  for (let at = from; at < from + digits; at++) {
    const digit = bytes[at] - 48
    if (digit < 0 || digit > 9) return Number.NaN
    n = n * 10 + digit
  }
  return n
}
