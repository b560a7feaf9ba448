// When a cache is warm: its share of hits shows no trend, and it is full, or has nearly all keys that there are. Pure.
import { normalTail } from '../base/distributions.js'

/** So many seconds are compared. */
export const secondsThatTell = 10
// Kendall's test: a trend is seen at this level, one side or the other.
const level = 0.1
// Halves that differ less than this do not matter.
const leastPoints = 0.3
// A cache that is not full and grows by more in a second is still filling.
const growing = 0.002

/** The probability that values without a trend have one as clear (Mann-Kendall). @param {readonly number[]} values */
export const trendChance = (values) => {
  const n = values.length
  let s = 0
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) s += Math.sign(values[j] - values[i])
  const deviation = Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18)
  return Math.min(1, 2 * normalTail(Math.max(0, Math.abs(s) - 1) / deviation))
}

/** @param {readonly number[]} values */
const meanOf = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * @typedef {object} WarmLine of intervals.ndjson
 * @property {{ hits?: number, misses?: number }} [cache]
 * @property {readonly { role?: string, evictions?: number | null, keys?: number | null }[]} nodes
 */

/** @param {WarmLine} line */
const shareIn = ({ cache }) => {
  const keys = (cache?.hits ?? 0) + (cache?.misses ?? 0)
  return keys > 0 ? ((cache?.hits ?? 0) / keys) * 100 : Number.NaN
}

/** @param {readonly WarmLine[]} lines */
const isFilling = (lines) => {
  const sum = (/** @type {WarmLine} */ { nodes }, /** @type {'evictions' | 'keys'} */ name) =>
    nodes.reduce((all, row) => (row.role === 'master' ? all + (row[name] ?? 0) : all), 0)
  const [first, last] = [lines[0], lines[lines.length - 1]]
  if (lines.some((line) => sum(line, 'evictions') > 0)) return false
  const grown = sum(last, 'keys') - sum(first, 'keys')
  return grown > growing * (lines.length - 1) * sum(last, 'keys')
}

/** Lines so far, the newest last. @param {readonly WarmLine[]} lines */
export const isWarm = (lines) => {
  const last = lines.slice(1).slice(-secondsThatTell)
  if (last.length < secondsThatTell || isFilling(last)) return false
  const shares = last.map(shareIn)
  if (shares.some(Number.isNaN)) return false
  const half = secondsThatTell / 2
  const apart = Math.abs(meanOf(shares.slice(half)) - meanOf(shares.slice(0, half)))
  return apart < leastPoints || (trendChance(shares) > level && apart < 3 * leastPoints)
}
