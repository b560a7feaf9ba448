// The measures of a run by the names that thresholds, comparisons and experiments use: each is read off run.json.

import { didYouMean } from '../base/did-you-mean.js'
import { OptionError } from '../base/errors.js'
import { isSupported, neededWords } from '../base/samples.js'
import { METRIC_ROWS, METRICS_OF_READERS, metricNamed, metricsNamedIn } from '../measures/index.js'

/** @import { Folded } from '../measures/fold.js' */

/**
 * @typedef {'us' | 'ms' | 's' | 'pct' | 'bytes' | 'mb' | 'count' | 'rate' | 'ratio'} Unit
 * @typedef {'less' | 'more' | 'neither'} Better
 * @typedef {Folded} Document of any kind
 *
 * @typedef {object} MeasureRow
 * @property {string} name
 * @property {string} title
 * @property {Unit} unit
 * @property {Better} better
 * @property {string} axis the title of an axis
 * @property {boolean} isShare it is from 0 to 1, or to 100 %
 * @property {(document: Document) => number | null} value null: not measured
 *
 * @typedef {object} Measure as run.json has it
 * @property {string} name
 * @property {number} value
 * @property {Unit} unit
 * @property {Better} better
 * @property {number | null} count independent samples behind it; null: not counted
 * @property {number | null} spread the value is known to within this; null: not known
 */

const unitWords = {
  us: 'time',
  ms: 'time',
  s: 'time',
  pct: '% of one core',
  bytes: 'bytes',
  mb: 'bytes',
  count: 'number',
  rate: 'a second',
  ratio: 'part of 1',
}

/** @param {unknown} value @returns {value is number} */
const isNumber = (value) => typeof value === 'number' && Number.isFinite(value)

/** A name without the units in its sections, so that latency.intended.p99 finds latency_us. @param {string} name */
const bare = (name) => name.replace(/_(us|ms)(?=\.|$)/g, '')

/** What a document has under a name. @param {string} name @param {Document} document @returns {any} */
export const partOf = (name, document) =>
  name
    .split('.')
    .reduce(
      (part, key) =>
        part === null || typeof part !== 'object'
          ? undefined
          : (part[key] ?? part[`${key}_us`] ?? part[`${key}_ms`]),
      Object(document),
    )

/** @param {string} name @param {Document} document @returns {number | null} */
const at = (name, document) => {
  const found = partOf(name, document)
  return isNumber(found) ? found : null
}

/** @typedef {readonly [name: string, title: string, unit: Unit, better: MeasureRow['better'], value?: MeasureRow['value'], axis?: string, isShare?: boolean]} Row */

const ofConsumers = new Set(METRICS_OF_READERS.map(bare))

/** For what consumers read, not for what is written. @param {string} name */
export const isOfReaders = (name) => ofConsumers.has(bare(name))

/** @param {Row} row @returns {MeasureRow} */
const measureOf = ([name, title, unit, better, value, axis = unitWords[unit], isShare = false]) =>
  Object.freeze({
    name,
    title,
    unit,
    better,
    axis: `${title}, ${axis}`,
    isShare,
    value: value ?? ((/** @type {Document} */ document) => at(name, document)),
  })

export const METRICS = Object.freeze(METRIC_ROWS.map(measureOf))

/** One whose name a model gave. @param {string} name */
const ownMeasure = (name) => {
  const found = metricNamed(name)
  return found && measureOf([name, found.title, found.unit, found.better])
}

/** Those that a run may have, with those of its own model. @param {Document} document */
export const measuresIn = (document) => [
  ...METRICS,
  ...metricsNamedIn(document).flatMap((name) => ownMeasure(name) ?? []),
]

const byName = new Map(METRICS.map((figure) => [bare(figure.name), figure]))

/** `latency.p99` is the latency from the due time. @param {string} name */
const inFull = (name) =>
  bare(name)
    .replace(/^latency\.(?=p\d|max$)/, 'latency.intended.')
    .replace(/^hit_rate$/, 'cache.hit_pct')

const inShort = (/** @type {string} */ name) => name.replace(/^latency\.intended\./, 'latency.')

/**
 * The figure of that name, with or without the units of its sections. One of a model's own comes last: `latency.p99` would be it.
 * @param {string} name @returns {MeasureRow}
 */
export const measureNamed = (name) => {
  const figure = byName.get(bare(name)) ?? byName.get(inFull(name)) ?? ownMeasure(name)
  if (figure) return figure
  const names = METRICS.flatMap((known) => [known.name, inShort(known.name)])
  // For p99 this is the first name that ends so, which usually is the latency from the due time.
  const hint = didYouMean(name, names) || ' (millrace metrics lists them)'
  throw new OptionError(`no metric is called '${name.slice(0, 60)}'${hint}`)
}

/** The percentiles that a measure is one of, and which. @param {string} name @param {Document} document */
const percentileIn = (name, document) => {
  const [, section, last] = /^(.*)\.([^.]+)$/.exec(name) ?? []
  const within = partOf(section, document)
  const samples = typeof within === 'object' && within !== null && 'p50' in within ? within : {}
  return { samples, last }
}

/**
 * What is shown of a measure; null where it was not measured, or too few samples are beyond a percentile.
 * @param {MeasureRow} measure
 * @param {Document} document
 */
export const shownValue = ({ name, value: read }, document) => {
  const { samples, last } = percentileIn(name, document)
  return isSupported(samples, last) ? read(document) : null
}

/** Why nothing is shown of a measure. @param {string} name @param {Document} document */
export const leftOutWords = (name, document) => {
  const { samples, last } = percentileIn(name, document)
  const needed = measureNamed(name).value(document) === null ? undefined : neededWords(samples, last)
  return needed ? `too few samples (${needed})` : 'not measured'
}

/**
 * All that was measured. A percentile with too few samples beyond it is left out.
 * @param {Document} document
 * @returns {Measure[]}
 */
export const measuresOf = (document) =>
  measuresIn(document).flatMap((measure) => {
    const { name, unit, better } = measure
    const value = shownValue(measure, document)
    if (value === null) return []
    const { samples } = percentileIn(name, document)
    const spread = at(`${name}_uncertainty`, document)
    return [{ name, value, unit, better, count: samples.count ?? null, spread }]
  })
