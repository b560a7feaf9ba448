// What a list of measures must be, checked when it is made: what would fail silently later is said here, with what to do.
import { claimedTwice } from '../base/claims.js'
import { exactly } from '../base/typed.js'

/**
 * @import { Measure } from './contract.js'
 * @typedef {Pick<import('./section.js').Section, 'name' | 'shape'> & Partial<Pick<import('./section.js').Section, 'metrics'>>} Section
 * @typedef {Pick<Measure, 'name' | 'record' | 'result' | 'metrics' | 'metricsOfBoxes' | 'prometheus' | 'done' | 'shown'>} Registered
 */

/** latency_us of a result is latency in a metric. @param {string} path */
export const bare = (path) => path.replace(/_(us|ms)(?=\.|$)/g, '')

/** Every path of a schema. @param {string} path @param {{ properties?: Readonly<Record<string, object>> }} schema @returns {string[]} */
const pathsIn = (path, { properties }) => [
  path,
  ...Object.entries(properties ?? {}).flatMap(([name, part]) => pathsIn(`${path}.${name}`, part)),
]

// What boxes of a fleet read is a section of their own in run.json.
const ofBoxes = /^readers\./

/**
 * A metric that is in no result is never measured, and a threshold on it fails in every run.
 * @param {Registered} measure
 * @param {ReadonlySet<string>} known paths of all results
 */
const metricFaults = ({ name, metrics, metricsOfBoxes = {} }, known) =>
  [...Object.keys(metrics), ...Object.keys(metricsOfBoxes)]
    .filter((metric) => !known.has(bare(metric.replace(ofBoxes, ''))))
    .map(
      (metric) =>
        `the metric '${metric}' of '${name}' is in no result: name it as its place in run.json, or put that into 'result'`,
    )

/** @param {Registered} measure */
const seriesFaults = ({ name, record, shown = {}, prometheus = [], done }) => {
  const fields = [...Object.keys(record), ...Object.keys(shown)]
  const paths = [...prometheus.map(({ path }) => path), ...(done === undefined ? [] : [done])]
  return [
    ...paths
      .filter((path) => !fields.some((own) => path === own || path.startsWith(`${own}.`)))
      .map((path) => `'${path}' of '${name}' is in no second: add it to its 'record', or to what it shows`),
    ...prometheus
      .filter(({ type, by }) => by !== undefined && type !== 'counter')
      .map(
        ({ name: series, by }) =>
          `the series '${series}' of '${name}' is by '${by}', which only a counter can be: make it one, or leave out 'by'`,
      ),
  ]
}

/** @param {readonly Registered[]} measures */
const sameSeries = (measures) => {
  const all = measures.flatMap(({ name, prometheus = [] }) => prometheus.map((row) => ({ ...row, by: name })))
  return claimedTwice(
    'Prometheus series',
    all.map(({ name, labels, by }) => [`${name}${JSON.stringify(labels ?? {})}`, by]),
  )
}

/** Metrics of sections that are in no shape. @param {readonly Section[]} sections @param {ReadonlySet<string>} known paths of all results */
const sectionMetricFaults = (sections, known) =>
  sections.flatMap(({ name, metrics = {} }) =>
    Object.entries(metrics)
      .filter(([metric, { value }]) => value === undefined && !known.has(bare(metric)))
      .map(
        ([metric]) =>
          `the metric '${metric}' of the section '${name}' is in no result: name it as its place in run.json, or give it a 'value'`,
      ),
  )

/**
 * What is wrong with the sections of each kind of run.json, a line each.
 * @param {Readonly<Record<string, readonly Section[]>>} documents
 */
export const documentFaults = (documents) =>
  Object.entries(documents).flatMap(([kind, sections]) =>
    claimedTwice(
      `section of run.json (${kind})`,
      sections.map(({ name }, at) => [name, `entry ${at + 1} of its list`]),
    ),
  )

/**
 * What is wrong with a list of measures, a line each.
 * @param {readonly Registered[]} measures
 * @param {readonly Section[]} [sections] in which they put something
 */
export const faultsOf = (measures, sections = []) => {
  const claims = (/** @type {(measure: Registered) => object} */ of) =>
    measures.flatMap((measure) => Object.keys(of(measure)).map((name) => exactly([name, measure.name])))
  const known = new Set(
    [
      ...measures.flatMap(({ result }) =>
        Object.entries(result).flatMap(([path, schema]) => pathsIn(path, schema)),
      ),
      ...sections.flatMap(({ name, shape }) => pathsIn(name, shape)),
    ].map(bare),
  )
  return [
    ...claimedTwice(
      'name',
      measures.map(({ name }) => [name, name]),
    ),
    ...claimedTwice(
      'field of a second',
      claims(({ record }) => record),
    ),
    ...claimedTwice(
      'section',
      claims(({ result }) => result),
    ),
    ...claimedTwice('metric', [
      ...sections.flatMap(({ name, metrics = {} }) =>
        Object.keys(metrics).map((metric) => exactly([metric, `the section ${name}`])),
      ),
      ...claims(({ metrics, metricsOfBoxes }) => ({ ...metrics, ...metricsOfBoxes })),
    ]),
    ...sameSeries(measures),
    ...measures.flatMap((measure) => [...metricFaults(measure, known), ...seriesFaults(measure)]),
    ...sectionMetricFaults(sections, known),
  ]
}

/**
 * A list that is as it must be.
 * @template {Registered} M
 * @param {readonly M[]} measures
 * @param {Readonly<Record<string, readonly Section[]>>} documents the sections of each kind of run.json
 * @returns {readonly M[]}
 */
export const registered = (measures, documents) => {
  const sections = [...new Set(Object.values(documents).flat())]
  const [fault] = [...documentFaults(documents), ...faultsOf(measures, sections)]
  if (fault) throw new Error(`lib/measures: ${fault}`)
  return Object.freeze(measures)
}
