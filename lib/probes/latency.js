// Latencies in mergeable histograms, one a second and one for the whole; microseconds.
import { deflateSync, inflateSync } from 'node:zlib'
import { bucketOf } from '../base/buckets.js'
import { Histogram } from './histogram.js'

/**
 * @import { Buckets } from '../base/buckets.js'
 *
 * @typedef {{ p50: number, p90: number, p99: number, p999: number, max: number, mean?: number }} Times
 * @typedef {Times & { count: number }} Percentiles count: of recordings; one may weigh as much as many items
 */

// In front of deflated counts, with their length: the form of all libraries of HdrHistogram.
const cookie = 0x1c849314
const headBytes = 8
// Of a second they are a few hundred bytes to some kilobytes: what is made ready for more takes longer than to deflate them.
const small = Object.freeze({ windowBits: 12, memLevel: 5 })

/** @param {Histogram} h */
const encodedOf = (h) => {
  const head = Buffer.alloc(headBytes)
  const counts = deflateSync(h.encode(), small)
  head.writeUInt32BE(cookie, 0)
  head.writeUInt32BE(counts.length, 4)
  return Buffer.concat([head, counts]).toString('base64')
}

/** @param {string} text */
const countsIn = (text) => {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length < headBytes || bytes.readUInt32BE(0) !== cookie)
    throw new Error('this is no encoded histogram')
  return inflateSync(bytes.subarray(headBytes))
}

/** Adds a histogram. @param {Histogram} total @param {string | Uint8Array} encoded as text, or its counts */
const addTo = (total, encoded) =>
  total.add(Histogram.decode(typeof encoded === 'string' ? countsIn(encoded) : encoded))

const percents = [50, 90, 99, 99.9]

/** @param {Histogram} h @returns {Times | null} */
const percentiles = (h) => {
  if (h.totalCount === 0) return null
  const max = h.maxValue
  // A percentile is the upper end of its bucket, which may be above all recorded values.
  const [p50, p90, p99, p999] = h.atPercents(percents).map((us) => Math.min(max, us))
  return { p50, p90, p99, p999, max, mean: Math.round(10 * h.mean) / 10 }
}

/** A histogram that is read a second at a time, and as a whole unless a fold of its seconds has that. @param {{ isFolded?: boolean }} [how] */
export const series = ({ isFolded = false } = {}) => {
  const total = isFolded ? null : new Histogram()
  let current = new Histogram()
  let last = new Histogram()
  let recorded = 0
  let folded = 0
  const fold = () => {
    total?.add(current)
    ;[current, last] = [last, current]
    current.reset()
    folded = recorded
  }
  /**
   * Its buckets until the next second ends: to add them takes 0.05 ms, to decode them more. They are not in JSON.
   * @template {object} S
   * @param {S} second
   */
  const ended = (second) => {
    Object.defineProperty(second, 'buckets', { value: { total: current } })
    fold()
    return second
  }
  return {
    /** @param {number} us @param {number} [weight] */
    record(us, weight = 1) {
      recorded++
      current.record(us < 1 ? 1 : Math.round(us), weight)
    },
    /** Ends a second: its percentiles, and its buckets for merging. */
    endSecond() {
      const found = percentiles(current)
      if (!found) return null
      const { totalCount: count } = current
      return ended({ ...found, count, samples: recorded - folded, hdr: encodedOf(current) })
    },
    /** Ends a second that another thread adds to those of others, and needs no more of. */
    endPart() {
      const { totalCount: count, maxValue: max } = current
      return count === 0 ? null : ended({ max, count, samples: recorded - folded, hdr: current.encode() })
    },
    whole() {
      fold()
      const found = total && percentiles(total)
      return found && { ...found, count: recorded }
    },
    /** Clears what was recorded so far. */
    restart() {
      total?.reset()
      current.reset()
      recorded = 0
      folded = 0
    },
    /** Gives its memory back, also where it is still known. */
    close() {
      total?.free()
      current.free()
      last.free()
    },
  }
}

/** Histograms of a run's items, and one of each of its commands. @param {Parameters<typeof series>[0]} [how] */
export const latencyOf = (how) => {
  const intended = series(how)
  const service = series(how)
  /** @type {Map<string, Histogram>} */
  const commands = new Map()
  return {
    intended,
    service,
    /**
     * @param {number} dueMs
     * @param {number} sentMs when the first of its bytes went to a socket
     * @param {number} nowMs
     * @param {number} items
     */
    record(dueMs, sentMs, nowMs, items) {
      intended.record((nowMs - dueMs) * 1000, items)
      service.record((nowMs - sentMs) * 1000, items)
    },
    /** A recorder for the commands of a name, from their last send. @param {string} name */
    command(name) {
      const own = commands.get(name) ?? new Histogram()
      commands.set(name, own)
      return (/** @type {number} */ tookMs, /** @type {number} */ count) =>
        own.record(Math.max(1, Math.round(tookMs * 1000)), count)
    },
    /** Histograms of the commands that were sent, by name. */
    commands: () =>
      Object.fromEntries(
        [...commands].flatMap(([name, own]) => (own.totalCount > 0 ? [[name, [encodedOf(own)]]] : [])),
      ),
    close() {
      intended.close()
      service.close()
      for (const own of commands.values()) own.free()
    },
  }
}

// One in 1, 1.1, 1.3 ... 1,000,000: twelve points a decade.
const depths = Array.from({ length: 73 }, (_, at) => 10 ** (at / 12))

/** @param {string[]} encoded */
const merged = (encoded) => {
  const total = new Histogram()
  for (const text of encoded) addTo(total, text)
  return total
}

/**
 * A sum of encoded histograms, folded as they come: to decode one takes about 0.3 ms.
 * @param {string | null} [encoded] what was summed before
 */
export const histogramSum = (encoded = null) => {
  const total = merged(encoded === null ? [] : [encoded])
  return {
    /** @param {string | Uint8Array} encoded */
    add: (encoded) => addTo(total, encoded),
    /** Adds another sum, which costs no decoding. @param {{ total: Histogram }} other */
    addSum(other) {
      total.add(other.total)
    },
    total,
    count: () => total.totalCount,
    /** null: nothing was recorded. */
    encoded: () => (total.totalCount === 0 ? null : encodedOf(total)),
    percentiles: () => percentiles(total),
    close: () => total.free(),
  }
}

/** @param {string} encoded */
export const isHistogram = (encoded) => {
  try {
    merged([encoded])
    return true
  } catch {
    return false
  }
}

/** The percentiles of histograms that a run, or several, wrote a second at a time. @param {string[]} encoded */
export const mergedPercentiles = (encoded) => percentiles(merged(encoded))

/**
 * The distribution of histograms that a run wrote a second at a time, as far down as their counts reach.
 * @param {string[]} encoded
 * @returns {{ beyond: number, us: number }[]} the latency that one in `beyond` exceeds
 */
export const mergedCurve = (encoded) => {
  const total = merged(encoded)
  const reached = depths.filter((beyond) => beyond <= total.totalCount)
  const values = total.atPercents(reached.map((beyond) => 100 - 100 / beyond))
  return reached.map((beyond, i) => ({ beyond, us: Math.min(total.maxValue, values[i]) }))
}

/**
 * Every value of a second's histogram with how often it was recorded, from the lowest.
 * @param {string} encoded
 * @param {(us: number, n: number) => void} each
 */
export const eachRecorded = (encoded, each) => merged([encoded]).forEach(each)

/** A second's histogram in the coarser buckets of base/buckets.js. @param {string} encoded */
export const bucketsIn = (encoded) => {
  /** @type {Buckets} */
  const found = []
  eachRecorded(encoded, (us, n) => {
    const at = bucketOf(us)
    const last = found.at(-1)
    if (last?.[0] === at) last[1] += n
    else found.push([at, n])
  })
  return found
}
