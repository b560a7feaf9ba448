// How far into its tail a distribution can be read.

// With fewer samples beyond it, a percentile is the luck of a few of them.
const fewestBeyond = 10

const parts = /** @type {const} */ ({ p90: 0.9, p99: 0.99, p999: 0.999 })

/** @typedef {Record<string, any> & { count?: number }} Percentiles count: independent samples */

/**
 * Whether the samples are enough for a percentile; results without a count have all of theirs. The median and the
 * highest of all samples need no tail.
 * @param {Percentiles} percentiles
 * @param {string} name
 */
export const isSupported = ({ count }, name) => {
  const part = parts[/** @type {keyof typeof parts} */ (name)]
  // 10 of 1,000 are beyond the p99, whatever 1 - 0.99 is in binary.
  return part === undefined || typeof count !== 'number' || count * (1 - part) > fewestBeyond - 1e-6
}

/**
 * A percentile, or null where too few samples are beyond it.
 * @param {Percentiles | null | undefined} percentiles
 * @param {string} name
 * @returns {number | null}
 */
export const percentileOf = (percentiles, name) =>
  percentiles && isSupported(percentiles, name) ? (percentiles[name] ?? null) : null
