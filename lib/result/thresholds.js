// Limits that a run or a comparison must keep: 'latency.intended.p99<20ms', 'server.cpu_us_per_item<+5%'.
import { OptionError } from '../base/errors.js'
import { measureNamed, shownValue } from './metrics.js'

/**
 * @import { Document, MeasureRow as Figure } from './metrics.js'
 *
 * @typedef {'<' | '<=' | '>' | '>='} Relation
 *
 * @typedef {object} Threshold
 * @property {string} text as it was asked
 * @property {Figure} figure
 * @property {Relation} relation
 * @property {number} limit in the unit of the figure, or a part: 0.05 for +5%
 * @property {boolean} relative to the baseline of a comparison
 *
 * @typedef {{ threshold: string, name: string, value: number | null, passed: boolean }} Judged
 */

const times = { us: 1, µs: 1, ms: 1e3, s: 1e6, m: 60e6 }
const sizes = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }
const counts = { k: 1e3, M: 1e6 }

const usualUnits = {
  us: 'ms',
  ms: 'ms',
  s: 's',
  pct: '%',
  bytes: 'B',
  mb: 'MB',
  count: '',
  rate: '',
  ratio: '',
}

/** A unit as a factor of the figure's own. @type {Record<Figure['unit'], Record<string, number>>} */
const scales = {
  us: times,
  ms: Object.fromEntries(Object.entries(times).map(([unit, us]) => [unit, us / 1000])),
  s: Object.fromEntries(Object.entries(times).map(([unit, us]) => [unit, us / 1e6])),
  pct: { '%': 1 },
  bytes: sizes,
  mb: Object.fromEntries(Object.entries(sizes).map(([unit, n]) => [unit, n / 1e6])),
  count: counts,
  rate: { ...counts, '/s': 1 },
  ratio: { '%': 0.01 },
}

const form = /^\s*([\w.]+)\s*(<=|>=|<|>)\s*([+-]?)(\d[\d_]*(?:\.\d+)?)\s*([a-zµ%/]*)\s*$/i

/** @param {string} text @param {string} why */
const refused = (text, why) => new OptionError(`--threshold ${text.slice(0, 80)}: ${why}`)

/** @param {string} text @returns {Threshold} */
export const thresholdOf = (text) => {
  const [, name, relation, sign, digits, unit] = form.exec(text) ?? []
  if (name === undefined)
    throw refused(
      text,
      "must be a metric and its limit, as in 'latency.intended.p99<20ms' or 'server.cpu_us_per_item<+5%'",
    )
  const figure = namedIn(text, name)
  const relative = sign !== '' && unit === '%'
  const units = new Map(Object.entries(scales[figure.unit]))
  // A number alone is one of items, a ratio, or nothing at all.
  if (figure.unit === 'count' || figure.unit === 'rate' || figure.unit === 'ratio' || Number(digits) === 0)
    units.set('', 1)
  const scale = relative ? 0.01 : units.get(unit)
  if (scale === undefined && unit === '')
    throw refused(
      text,
      `the limit has no unit: write ${name}${relation}${sign}${digits}${usualUnits[figure.unit]}`,
    )
  if (scale === undefined) {
    const known = Object.keys(scales[figure.unit]).join(', ')
    throw refused(text, `${figure.name} is not measured in ${unit}; use ${known}, or +5% in a comparison`)
  }
  const limit = Number(digits.replaceAll('_', '')) * scale * (sign === '-' ? -1 : 1)
  const kept = /** @type {Relation} */ (relation)
  const certain = relative ? null : certainOf(figure, kept, limit)
  if (certain !== null)
    throw refused(
      text,
      `${figure.name} is between 0 and 100 %, so this ${certain ? 'always' : 'never'} holds`,
    )
  return Object.freeze({
    text: text.trim(),
    figure,
    relation: kept,
    limit,
    relative,
  })
}

/**
 * Whether a limit of a share holds or fails for every value that the share may have; null: it depends, or it is at an end
 * and always holds.
 * @param {Figure} figure
 * @param {Relation} relation
 * @param {number} limit
 */
const certainOf = ({ isShare, unit }, relation, limit) => {
  if (!isShare) return null
  const most = unit === 'pct' ? 100 : 1
  if (![0, most].some((value) => holds[relation](value, limit))) return false
  return limit < 0 || limit > most ? true : null
}

/** @param {string} text @param {string} name */
const namedIn = (text, name) => {
  try {
    return measureNamed(name)
  } catch (error) {
    throw error instanceof OptionError ? refused(text, error.message) : error
  }
}

/** One that a single run can be held to. @param {string} text */
export const absoluteThreshold = (text) => {
  const threshold = thresholdOf(text)
  if (threshold.relative)
    throw refused(
      text,
      'a part of another run: only millrace diff and compare have two sides; give a limit with its unit',
    )
  return threshold
}

/** @type {Record<Relation, (value: number, limit: number) => boolean>} */
const holds = {
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
}

/** What was not measured does not keep a limit. @param {Threshold} threshold @param {number | null} value */
export const keeps = ({ relation, limit }, value) => value !== null && holds[relation](value, limit)

/** @param {readonly string[]} thresholds absolute ones @param {Document} document @returns {Judged[]} */
export const judgedBy = (thresholds, document) =>
  thresholds.map(absoluteThreshold).map((threshold) => {
    const value = shownValue(threshold.figure, document)
    return { threshold: threshold.text, name: threshold.figure.name, value, passed: keeps(threshold, value) }
  })

/**
 * The document with what became of its limits.
 * @template {Document} D
 * @param {D} document
 * @param {readonly string[]} thresholds
 * @returns {D & { thresholds?: Judged[] }}
 */
export const withThresholds = (document, thresholds) =>
  thresholds.length === 0 ? document : { ...document, thresholds: judgedBy(thresholds, document) }
