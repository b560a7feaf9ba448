// What an interval says of a change. Pure.

/**
 * @typedef {'better' | 'worse' | 'same' | 'unclear'} Verdict same: no difference beyond the smallest effect
 *
 * @typedef {object} Difference of b against a
 * @property {boolean} relative false: a value was 0 or less, so a change is a difference and not a part
 * @property {number} centreA geometric mean, or plain where it is not relative
 * @property {number} centreB
 * @property {number} change 0.05: five percent more
 * @property {number | null} low ends of the interval that decides between better and worse; null: too few runs for one
 * @property {number | null} high
 * @property {{ low: number, high: number } | null} equivalence the narrower interval that decides for no difference
 * @property {Verdict} verdict
 * @property {number | null} detectable the smallest change that as many runs detect in four of five comparisons
 */

/** The smallest change that matters, unless another is asked for. */
export const smallestEffect = 0.03

/**
 * How often a metric of a comparison may err: in 5 %, whatever the number of sides (Bonferroni). Differences are looked for
 * between one side and each of the others: the first for changes, the best for which one is best. Equal may be called any two.
 * @param {number} sides
 */
export const levelsOf = (sides) => ({
  difference: 0.05 / (sides - 1),
  equivalence: 0.2 / (sides * (sides - 1)),
})

/** In four of five tries. */
export const missed = 0.2

// Equal samples differ by what adding them up in another order leaves.
const hair = 1e-12

/**
 * @param {object} found on a logarithmic scale where it is relative
 * @param {boolean} found.relative
 * @param {number} found.middle
 * @param {number} found.half of the interval that decides between better and worse
 * @param {number} found.narrow half of the interval for no difference: two one-sided tests
 * @param {number} found.reach half, and what is missed in one of five tries
 * @param {{ better: 'less' | 'more' | 'neither', effect: number }} asked
 * @returns {Omit<Difference, 'centreA' | 'centreB'>}
 */
export const judged = ({ relative, middle, half, narrow, reach }, { better, effect }) => {
  const shown = (/** @type {number} */ value) => (relative ? Math.expm1(value) : value)
  const within = relative ? Math.log1p(effect) : 0
  const isSame = relative
    ? middle - narrow > -within && middle + narrow < within
    : Math.abs(middle) <= hair && half <= hair
  /** @type {Verdict} */
  let verdict = 'unclear'
  if (isSame) verdict = 'same'
  else if (Math.abs(middle) > half + hair) verdict = middle < 0 === (better !== 'more') ? 'better' : 'worse'
  return {
    relative,
    change: shown(middle),
    low: shown(middle - half),
    high: shown(middle + half),
    equivalence: { low: shown(middle - narrow), high: shown(middle + narrow) },
    verdict,
    detectable: shown(reach),
  }
}

/** One run a side has no interval. @param {boolean} relative @param {number} middle @returns {Omit<Difference, 'centreA' | 'centreB'>} */
export const unjudged = (relative, middle) => ({
  relative,
  change: relative ? Math.expm1(middle) : middle,
  low: null,
  high: null,
  equivalence: null,
  verdict: 'unclear',
  detectable: null,
})
