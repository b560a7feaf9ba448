// How far into its tail a distribution can be read.

import { count, several } from '../base/units.js'
import { certain, entryOf, exactly } from './typed.js'

// With fewer samples beyond it, a percentile depends on a few of them.
const fewestBeyond = 10

const parts = exactly({ p90: 0.9, p99: 0.99, p999: 0.999 })

/** @typedef {Record<string, any> & { count?: number }} Percentiles count: independent samples */

/**
 * Whether the samples are enough for a percentile; results without a count have all of theirs. The median and the
 * highest of all samples need no tail.
 * @param {Percentiles} percentiles
 * @param {string} name
 */
export const isSupported = ({ count: samples }, name) => {
  const part = entryOf(parts, name)
  // 10 of 1,000 are beyond the p99, whatever 1 - 0.99 is in binary.
  return part === undefined || typeof samples !== 'number' || samples * (1 - part) > fewestBeyond - 1e-6
}

/** How many samples a percentile needs; undefined where it has them. @param {Percentiles} percentiles @param {string} name */
export const neededWords = (percentiles, name) => {
  if (isSupported(percentiles, name)) return undefined
  const needed = Math.round(fewestBeyond / (1 - certain(entryOf(parts, name))))
  return `${name === 'p999' ? 'p99.9' : name} needs ${count(needed)} samples, ${several(percentiles.count ?? 0, 'independent sample')} taken; run for longer`
}

/** Why a percentile is left out; undefined where it is not. @param {Percentiles} percentiles @param {string} name */
export const tooFewWords = (percentiles, name) => {
  const needed = neededWords(percentiles, name)
  return needed && `left out: ${needed}`
}

/**
 * A percentile, or null where too few samples are beyond it.
 * @param {Percentiles | null | undefined} percentiles
 * @param {string} name
 * @returns {number | null}
 */
export const percentileOf = (percentiles, name) =>
  percentiles && isSupported(percentiles, name) ? (percentiles[name] ?? null) : null
