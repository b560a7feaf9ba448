// Pairs of numbers from one thread to another, which they do not wake: it takes them when it looks.

const countBytes = 2 * Int32Array.BYTES_PER_ELEMENT
const pairBytes = 2 * Float64Array.BYTES_PER_ELEMENT

/** @param {number} places a power of two */
export const memoryForPairs = (places) => new SharedArrayBuffer(countBytes + places * pairBytes)

/** @param {SharedArrayBuffer} memory */
export const pairsIn = (memory) => {
  // How many were put, and how many were taken.
  const counts = new Int32Array(memory, 0, 2)
  const numbers = new Float64Array(memory, countBytes)
  const places = numbers.length / 2
  const placeOf = (/** @type {number} */ count) => 2 * (count & (places - 1))
  return {
    /** Returns false when there is no room. @param {number} a @param {number} b */
    put(a, b) {
      const [put] = counts
      if (((put - Atomics.load(counts, 1)) | 0) === places) return false
      const at = placeOf(put)
      numbers[at] = a
      numbers[at + 1] = b
      Atomics.store(counts, 0, put + 1)
      return true
    },
    /** @param {(a: number, b: number) => void} each */
    take(each) {
      const end = Atomics.load(counts, 0)
      for (let taken = counts[1]; taken !== end; taken = (taken + 1) | 0) {
        const at = placeOf(taken)
        each(numbers[at], numbers[at + 1])
      }
      Atomics.store(counts, 1, end)
    },
  }
}
