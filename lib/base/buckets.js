// Latencies in buckets of a sixteenth of an octave, so that seconds can be merged and drawn where histograms of three
// digits are too large to keep: what is read off them is at most 4.5 % too high, never too low. Pure.

/** @typedef {[bucket: number, n: number][]} Buckets those that have any, from the lowest */

const anOctave = 16

/** @param {number} us at least 1 */
export const bucketOf = (us) => Math.floor(anOctave * Math.log2(us) + 1e-9)

/** The lower end of a bucket, in microseconds. @param {number} bucket */
export const lowerEndOf = (bucket) => 2 ** (bucket / anOctave)

/** @param {readonly Buckets[]} all @returns {Buckets} */
export const mergedBuckets = (all) => {
  /** @type {Map<number, number>} */
  const sums = new Map()
  for (const buckets of all) for (const [at, n] of buckets) sums.set(at, (sums.get(at) ?? 0) + n)
  return [...sums].sort(([a], [b]) => a - b)
}

/** @param {Buckets} buckets */
export const countIn = (buckets) => buckets.reduce((sum, [, n]) => sum + n, 0)

/**
 * The latency that one in `beyond` exceeds.
 * @param {Buckets} buckets
 * @param {number} beyond
 * @param {number} maxUs the highest of all
 */
export const exceededBy = (buckets, beyond, maxUs) => {
  const total = countIn(buckets)
  // The first that has so many at or below it; a part of one counts as one.
  const wanted = Math.max(1, Math.ceil(total - total / beyond - 1e-6))
  let seen = 0
  for (const [at, n] of buckets) {
    seen += n
    if (seen >= wanted) return Math.min(maxUs, Math.round(lowerEndOf(at + 1)))
  }
  return maxUs
}
