// The measures of a run by the names that thresholds, comparisons and experiments use: each is read off run.json.

import { didYouMean } from '../base/did-you-mean.js'
import { OptionError } from '../base/errors.js'
import { isSupported, tooFewWords } from '../base/samples.js'
import { accounted } from '../measures/account.js'
import { cacheSection, curveSection } from '../measures/cache.js'
import { metricNamed, metricRows, metricsNamedIn, ofReading } from '../measures/index.js'
import { jobs } from '../measures/jobs.js'
import { documents, load, queries, updates } from '../measures/queries.js'
import { metricsOf } from '../measures/section.js'
import { stages, working } from '../measures/workers.js'

/**
 * @typedef {'us' | 'ms' | 's' | 'pct' | 'bytes' | 'mb' | 'count' | 'rate' | 'ratio'} Unit
 * @typedef {'less' | 'more' | 'neither'} Better
 * @typedef {Record<string, any>} Document run.json of any kind
 *
 * @typedef {object} MeasureRow
 * @property {string} name
 * @property {string} title
 * @property {Unit} unit
 * @property {Better} better
 * @property {string} axis the title of an axis
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

/** @param {Document} document @param {string} role @param {string} key @returns {number[]} */
const ofNodes = ({ nodes = [] }, role, key) =>
  nodes
    .filter((/** @type {any} */ node) => node.role === role)
    .map((/** @type {any} */ node) => node[key])
    .filter(isNumber)

/** @param {unknown} value @returns {value is number} */
const isNumber = (value) => typeof value === 'number' && Number.isFinite(value)

const mean = (/** @type {number[]} */ values) =>
  values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null
const extreme = (/** @type {(...values: number[]) => number} */ pick) => (/** @type {number[]} */ values) =>
  values.length > 0 ? pick(...values) : null

/** @param {string} role @param {string} key @param {(values: number[]) => number | null} [sum] */
const nodes =
  (role, key, sum = mean) =>
  (/** @type {Document} */ document) =>
    sum(ofNodes(document, role, key))

/** For a pass over all numbers. @param {string} name @param {(pass: any) => number | null} value */
const ofPass = (name, value) => (/** @type {Document} */ document) => {
  const pass = document.passes?.find((/** @type {any} */ one) => one.name === name)
  return pass ? value(pass) : null
}

/** CloudWatch's numbers for the nodes of a role, by their role or addresses. @param {string} role @param {string} metric */
const cloudWatch =
  (role, metric) =>
  (/** @type {Document} */ { cloudwatch, nodes: known = [] }) => {
    const roles = new Map(known.map((/** @type {any} */ { address, role }) => [address, role]))
    const caches = (cloudwatch?.nodes ?? []).filter(
      (/** @type {any} */ cache) => (cache.role ?? roles.get(cache.address)) === role,
    )
    return mean(caches.map((/** @type {any} */ { means }) => means[metric]).filter(isNumber))
  }

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
      /** @type {any} */ (document),
    )

/** @param {string} name @param {Document} document @returns {number | null} */
const at = (name, document) => {
  const found = partOf(name, document)
  return isNumber(found) ? found : null
}

/** @typedef {readonly [name: string, title: string, unit: Unit, better: MeasureRow['better'], value?: MeasureRow['value'], axis?: string]} Row */

const ofConsumers = new Set(metricRows(undefined, [...ofReading, jobs]).map(([name]) => bare(name)))

/** For what consumers read, not for what is written. @param {string} name */
export const isOfReaders = (name) => ofConsumers.has(bare(name))

/** What an item costs the servers: without what they use while idle, and with it. */
export const netCost = 'server.cpu_us_per_item_net'
export const grossCost = 'server.cpu_us_per_item'

/** @type {Row[]} */
const rows = [
  ['rate.nominal', 'target rate', 'rate', 'neither'],
  ['rate.achieved', 'rate achieved', 'rate', 'more'],
  [netCost, 'server CPU per item, net of the idle cost', 'us', 'less'],
  [`${netCost}_uncertainty`, 'half of the 95 % interval of the server CPU per item', 'us', 'less'],
  [grossCost, 'gross server CPU per item', 'us', 'less'],
  [`${grossCost}_uncertainty`, 'half of the 95 % interval of the gross server CPU per item', 'us', 'less'],
  ['server.masters_cpu_us_per_item_net', 'CPU of the masters per item, net of the idle cost', 'us', 'less'],
  ['server.fixed_cpu_share', 'idle cost of the servers, of their CPU', 'ratio', 'neither'],
  [
    'server.operations_per_core',
    'operations per core of the servers',
    'rate',
    'more',
    ({ server }) => (server?.cpu_us_per_item > 0 ? 1e6 / server.cpu_us_per_item : null),
    'operations a second',
  ],
  ['server.memory_bytes_per_item', 'memory per item', 'bytes', 'less'],
  ['server.net_bytes_per_item_net', 'network per item, net of what is on it while idle', 'bytes', 'less'],
  ['server.net_bytes_per_item', 'network per item', 'bytes', 'less'],
  ['master.cpu_pct', 'CPU of the masters', 'pct', 'less', nodes('master', 'cpu_pct')],
  ['master.engine_cpu_pct', 'engine CPU of the masters', 'pct', 'less', nodes('master', 'engine_cpu_pct')],
  [
    'hottest_master.cpu_pct',
    'CPU of the busiest master',
    'pct',
    'less',
    nodes('master', 'cpu_pct', extreme(Math.max)),
  ],
  [
    'coldest_master.cpu_pct',
    'CPU of the least busy master',
    'pct',
    'neither',
    nodes('master', 'cpu_pct', extreme(Math.min)),
  ],
  ['replica.cpu_pct', 'CPU of the replicas', 'pct', 'less', nodes('replica', 'cpu_pct')],
  ['replica.engine_cpu_pct', 'engine CPU of the replicas', 'pct', 'less', nodes('replica', 'engine_cpu_pct')],
  ...['master', 'replica'].flatMap((role) =>
    /** @type {const} */ ([
      ['cpu_pct', 'CPUUtilization', '% of all vCPUs'],
      ['engine_cpu_pct', 'EngineCPUUtilization', '% of one core'],
    ]).map(
      ([key, metric, axis]) =>
        /** @type {Row} */ ([
          `cloudwatch.${role}.${key}`,
          `${metric} of the ${role}s`,
          'pct',
          'less',
          cloudWatch(role, metric),
          axis,
        ]),
    ),
  ),
  ...['misses', 'hits', 'increments'].flatMap(
    (name) =>
      /** @type {Row[]} */ ([
        [`passes.${name}.rate`, `rate of ${name}`, 'rate', 'more', ofPass(name, (pass) => pass.rate)],
        [
          `passes.${name}.server_cpu_us`,
          `gross server CPU per operation, ${name}`,
          'us',
          'less',
          ofPass(name, (pass) => pass.server_cpu_us),
        ],
      ]),
  ),
  [
    'passes.memory_bytes_per_item',
    'memory per id',
    'bytes',
    'less',
    ofPass('misses', ({ memory_bytes: grown, operations }) => (grown === null ? null : grown / operations)),
  ],
  [
    'passes.false_positives',
    'false positives',
    'ratio',
    'less',
    ofPass('others', ({ counts, operations }) => counts.known / operations),
  ],
  ...['save', 'flush', 'load'].flatMap(
    (step) =>
      /** @type {Row[]} */ ([
        [`snapshot.${step}.total_ms`, `time to ${step} all data`, 'ms', 'less'],
        [`snapshot.${step}.longest_ms`, `time to ${step} one master's data`, 'ms', 'less'],
        [`snapshot.${step}.bystander_max`, `longest wait of another client, ${step}`, 'us', 'less'],
      ]),
  ),
  ['chunks.time_ms.whole', 'time of all increments', 'ms', 'less'],
  ...['waiting', 'preparing', 'sending', 'parsing', 'other'].map(
    (part) =>
      /** @type {Row} */ ([`chunks.time_ms.${part}`, `${part}, of the time of all increments`, 'ms', 'less']),
  ),
  ['chunks.calls', 'round trips of chunks', 'count', 'less'],
  ['chunks.delay.added', 'round trip added by the proxy', 'ms', 'neither'],
  ['chunks.delay.proxy', 'round trip that the proxy itself takes', 'ms', 'neither'],
  ...metricsOf([load, queries, documents]),
  ...metricRows(),
  ...metricsOf([updates]),
  ['items.failed', 'items failed', 'count', 'less'],
  ['items.uncertain', 'items uncertain', 'count', 'less'],
  ['items.dropped', 'items dropped', 'count', 'less'],
  ['items.unsettled', 'items unsettled', 'count', 'less'],
  ['commands.repeated', 'commands retried', 'count', 'less'],
  ['ticks.late', 'ticks late', 'count', 'less'],
  ['server.evicted', 'keys evicted', 'count', 'less'],
  ['server.share', 'our share of all items', 'ratio', 'neither'],
  ['server.cpu_us_per_job', 'gross server CPU per job', 'us', 'less'],
  ['server.net_bytes_per_job', 'network per job', 'bytes', 'less'],
  ['queue.refused', 'jobs refused by a full queue', 'count', 'less'],
  ['queue.full_ms', 'time until the queue was full', 'ms', 'more'],
  ['queue.predicted_ms', 'time until the queue would be full, as predicted', 'ms', 'neither'],
  ...metricsOf([accounted, working, stages, cacheSection, curveSection]),
  ...metricRows(({ metricsOfBoxes }) => metricsOfBoxes),
]

/** @param {Row} row @returns {MeasureRow} */
const measureOf = ([name, title, unit, better, value, axis = unitWords[unit]]) =>
  Object.freeze({
    ...{ name, title, unit, better },
    axis: `${title}, ${axis}`,
    value: value ?? ((/** @type {Document} */ document) => at(name, document)),
  })

export const METRICS = Object.freeze(rows.map(measureOf))

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
const inFull = (name) => bare(name).replace(/^latency\.(?=p\d|max$)/, 'latency.intended.')

/**
 * The figure of that name, with or without the units of its sections. One of a model's own comes last: `latency.p99` would be it.
 * @param {string} name @returns {MeasureRow}
 */
export const measureNamed = (name) => {
  const figure = byName.get(bare(name)) ?? byName.get(inFull(name)) ?? ownMeasure(name)
  if (figure) return figure
  const names = METRICS.map((known) => known.name)
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

/** Why a measured value is not shown. @param {string} name @param {Document} document */
export const leftOutWords = (name, document) => {
  const { samples, last } = percentileIn(name, document)
  return measureNamed(name).value(document) === null ? undefined : tooFewWords(samples, last)
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
