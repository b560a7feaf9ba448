// Counts in memory that several threads see: what a thread has counted is known even when it dies.

/**
 * Where counts are kept: takes those that are new, and returns those that are counted in.
 * @typedef {<Counts extends Record<string, number>>(counts: Counts) => Counts} Keep
 */

/** Memory for all counts that something keeps. @param {(keep: Keep) => unknown} make @returns {SharedArrayBuffer} */
export const memoryFor = (make) => {
  let numbers = 0
  make((counts) => {
    numbers += Object.keys(counts).length
    return counts
  })
  return new SharedArrayBuffer(numbers * Float64Array.BYTES_PER_ELEMENT)
}

/** Keeps counts in that memory: the same ones in the same order are the same counts in every thread. @param {SharedArrayBuffer} memory @returns {Keep} */
export const keptIn = (memory) => {
  const all = new Float64Array(memory)
  let next = 0
  return (counts) => {
    const kept = {}
    for (const name of Object.keys(counts)) {
      const at = next++
      const set = (/** @type {number} */ n) => {
        all[at] = n
      }
      Object.defineProperty(kept, name, { enumerable: true, get: () => all[at], set })
    }
    return /** @type {typeof counts} */ (kept)
  }
}

/**
 * The sums of counts, as they are whenever one is read.
 * @template {Record<string, number>} Counts
 * @param {readonly Counts[]} parts of the same names
 */
export const summed = (parts) => {
  const sums = {}
  for (const name of Object.keys(parts[0] ?? {})) {
    const get = () => parts.reduce((sum, part) => sum + part[name], 0)
    Object.defineProperty(sums, name, { enumerable: true, get })
  }
  return /** @type {Readonly<Counts>} */ (sums)
}
