// How unevenly things happen: their counts per bin of 10 ms, as amounts that add up over seconds and processes. The variance of the
// counts by their mean is 1 of single events at random moments, and n where n come at once.

/** @typedef {{ bins: number, items: number, squares: number }} Bins that are over; squares: of the counts, summed up */

const binMs = 10
// Of fewer the variance says nothing.
const fewest = { bins: 200, items: 50 }

export const binned = () => {
  let bin = Number.NaN
  let count = 0
  let sums = { bins: 0, items: 0, squares: 0 }
  return {
    /** @param {number} atMs what is of a bin that is over counts in the open one @param {number} items */
    add(atMs, items) {
      const own = Math.floor(atMs / binMs)
      if (Number.isNaN(bin)) bin = own
      if (own > bin) {
        sums.bins += own - bin
        sums.items += count
        sums.squares += count * count
        bin = own
        count = 0
      }
      count += items
    },
    /** Since the call before. @returns {Bins} */
    take() {
      const taken = sums
      sums = { bins: 0, items: 0, squares: 0 }
      return taken
    },
  }
}

/** @param {Bins | null} sums @returns {number | null} null: too few */
export const dispersionOf = (sums) =>
  sums && sums.bins >= fewest.bins && sums.items >= fewest.items
    ? sums.squares / sums.items - sums.items / sums.bins
    : null
