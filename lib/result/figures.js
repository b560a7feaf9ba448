// The figures of a run by the names that thresholds, comparisons and experiments use.

import { nearest } from '../base/nearest.js'
import { OptionError } from '../errors.js'

/**
 * @typedef {'us' | 'ms' | 'pct' | 'bytes' | 'mb' | 'count' | 'rate' | 'ratio'} Unit
 * @typedef {Record<string, any>} Document run.json of a producer or a consumer
 *
 * @typedef {object} Figure
 * @property {string} name
 * @property {string} title
 * @property {Unit} unit
 * @property {'lower' | 'higher' | null} better null: neither
 * @property {string} axis the title of an axis
 * @property {(document: Document) => number | null} value null: not measured
 */

const unitWords = {
  us: 'time',
  ms: 'time',
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

/** Of a pass over all numbers. @param {string} name @param {(pass: any, document: Document) => number | null} value */
const ofPass = (name, value) => (/** @type {Document} */ document) => {
  const pass = document.passes?.find((/** @type {any} */ one) => one.name === name)
  return pass ? value(pass, document) : null
}

/** @param {string} role @param {string} key @param {(values: number[]) => number | null} [sum] */
const nodes =
  (role, key, sum = mean) =>
  (/** @type {Document} */ document) =>
    sum(ofNodes(document, role, key))

/** What CloudWatch says of the nodes of a role, as itself or their addresses tell it. @param {string} role @param {string} metric */
const cloudWatch =
  (role, metric) =>
  (/** @type {Document} */ { cloudwatch, nodes: known = [] }) => {
    const roles = new Map(known.map((/** @type {any} */ { address, role }) => [address, role]))
    const caches = (cloudwatch?.nodes ?? []).filter(
      (/** @type {any} */ cache) => (cache.role ?? roles.get(cache.address)) === role,
    )
    return mean(caches.map((/** @type {any} */ { means }) => means[metric]).filter(isNumber))
  }

/** A name without the units of its sections, so that latency.intended.p99 finds latency_us. @param {string} name */
const bare = (name) => name.replace(/_(us|ms)(?=\.|$)/g, '')

/** @param {string} name @param {Document} document @returns {number | null} */
const at = (name, document) => {
  const found = name
    .split('.')
    .reduce(
      (part, key) =>
        part === null || typeof part !== 'object'
          ? undefined
          : (part[key] ?? part[`${key}_us`] ?? part[`${key}_ms`]),
      /** @type {any} */ (document),
    )
  return isNumber(found) ? found : null
}

/** @typedef {[name: string, title: string, unit: Unit, better: Figure['better'], value?: Figure['value'], axis?: string]} Row */

/** @param {string} name @param {string} title @param {Unit} unit @param {string[]} [which] @returns {Row[]} */
const percentilesOf = (name, title, unit, which = ['p50', 'p90', 'p99', 'p999', 'max']) =>
  which.map((key) => [`${name}.${key}`, `${title} ${key === 'p999' ? 'p99.9' : key}`, unit, 'lower'])

/** What an item costs the servers: without what they use while idle, and with it. */
export const netCost = 'server.cpu_us_per_item_net'
export const grossCost = 'server.cpu_us_per_item'

/** @type {Row[]} */
const rows = [
  ['rate.nominal', 'rate asked', 'rate', null],
  ['rate.achieved', 'rate achieved', 'rate', 'higher'],
  [netCost, 'server CPU per item, net of the idle cost', 'us', 'lower'],
  [`${netCost}_uncertainty`, 'uncertainty of the net server CPU per item', 'us', 'lower'],
  [grossCost, 'server CPU per item', 'us', 'lower'],
  ['server.fixed_cpu_share', 'idle cost of the servers, of their CPU', 'ratio', null],
  ['client.cpu_us_per_item', 'client CPU per item', 'us', 'lower'],
  ['server.memory_bytes_per_item', 'memory per item', 'bytes', 'lower'],
  ['server.net_bytes_per_item', 'network per item', 'bytes', 'lower'],
  ['master.cpu_pct', 'CPU of the masters', 'pct', 'lower', nodes('master', 'cpu_pct')],
  ['master.engine_cpu_pct', 'engine CPU of the masters', 'pct', 'lower', nodes('master', 'engine_cpu_pct')],
  [
    'hottest_master.cpu_pct',
    'CPU of the hottest master',
    'pct',
    'lower',
    nodes('master', 'cpu_pct', extreme(Math.max)),
  ],
  [
    'coldest_master.cpu_pct',
    'CPU of the coldest master',
    'pct',
    null,
    nodes('master', 'cpu_pct', extreme(Math.min)),
  ],
  ['replica.cpu_pct', 'CPU of the replicas', 'pct', 'lower', nodes('replica', 'cpu_pct')],
  [
    'replica.engine_cpu_pct',
    'engine CPU of the replicas',
    'pct',
    'lower',
    nodes('replica', 'engine_cpu_pct'),
  ],
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
          'lower',
          cloudWatch(role, metric),
          axis,
        ]),
    ),
  ),
  ...percentilesOf('latency.intended', 'latency', 'us'),
  ...percentilesOf('latency.service', 'service time', 'us'),
  ...percentilesOf('bystander', 'bystander', 'us', ['p50', 'p90', 'p99', 'max']),
  ['items.failed', 'items failed', 'count', 'lower'],
  ['items.uncertain', 'items uncertain', 'count', 'lower'],
  ['items.dropped', 'items dropped', 'count', 'lower'],
  ['items.unsettled', 'items unsettled', 'count', 'lower'],
  ['commands.repeated', 'commands repeated', 'count', 'lower'],
  ...['misses', 'hits'].flatMap(
    (name) =>
      /** @type {Row[]} */ ([
        [`passes.${name}.rate`, `rate of ${name}`, 'rate', 'higher', ofPass(name, (pass) => pass.rate)],
        [
          `passes.${name}.server_cpu_us`,
          `server CPU per operation, ${name}`,
          'us',
          'lower',
          ofPass(name, (pass) => pass.server_cpu_us),
        ],
      ]),
  ),
  [
    'passes.memory_bytes_per_item',
    'memory per id',
    'bytes',
    'lower',
    ofPass('misses', ({ memory_bytes: grown, operations }) => (grown === null ? null : grown / operations)),
  ],
  [
    'passes.false_positives',
    'false positives',
    'ratio',
    'lower',
    ofPass('others', ({ counts, operations }) => counts.known / operations),
  ],
  ['ticks.late', 'ticks late', 'count', 'lower'],
  ...percentilesOf('ticks.lateness', 'lateness', 'us', ['p50', 'p99']),
  ['server.evicted', 'keys evicted', 'count', 'lower'],
  ['server.share', 'our share of all items', 'ratio', null],
  ['client.cpu_pct', 'client CPU', 'pct', 'lower'],
  ['client.thread_cpu_pct', 'CPU of the sending thread', 'pct', 'lower'],
  ['client.busy_pct', 'busiest client thread', 'pct', 'lower'],
  ['client.rss_mb_max', 'client memory', 'mb', 'lower'],
  ['client.loop_delay_ms_p99', 'event loop delay p99', 'ms', 'lower'],
  ['fetches.count', 'fetches', 'count', null],
  ['fetches.failed', 'fetches failed', 'count', 'lower'],
  ['fetches.overrun', 'fetches overrun', 'count', 'lower'],
  ['fetches.items_p50', 'items of a fetch', 'count', null],
  ...percentilesOf('fetches.duration_ms', 'fetch', 'ms'),
  ...percentilesOf('fetches.ids_ms', 'ids of a fetch', 'ms'),
  ...percentilesOf('fetches.values_ms', 'values of a fetch', 'ms'),
  ['rate.items', 'items read', 'rate', 'higher'],
  ['rate.value_bytes', 'bytes read a second', 'bytes', 'higher'],
  ...percentilesOf('freshness_ms', 'age of the newest item', 'ms'),
  ...percentilesOf('replication_ms', 'replication delay', 'ms'),
  ...['checked', 'missing', 'lagging', 'expired', 'stale', 'corrupt', 'unexpected'].map(
    (key) =>
      /** @type {Row} */ ([`verify.${key}`, `values ${key}`, 'count', key === 'checked' ? null : 'lower']),
  ),
]

/** @type {readonly Figure[]} */
export const FIGURES = Object.freeze(
  rows.map(([name, title, unit, better, value, axis = unitWords[unit]]) =>
    Object.freeze({
      name,
      title,
      unit,
      better,
      axis: `${title}, ${axis}`,
      value: value ?? ((/** @type {Document} */ document) => at(bare(name), document)),
    }),
  ),
)

const byName = new Map(FIGURES.map((figure) => [bare(figure.name), figure]))

/**
 * The figure of that name, with or without the units of its sections.
 * @param {string} name
 * @returns {Figure}
 */
export const figureNamed = (name) => {
  const figure = byName.get(bare(name))
  if (figure) return figure
  const like = nearest(
    name,
    FIGURES.map((known) => known.name),
  )
  throw new OptionError(`no figure is called '${name.slice(0, 60)}'${like ? `; did you mean ${like}?` : ''}`)
}
