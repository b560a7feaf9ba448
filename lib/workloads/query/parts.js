// What the strategies of 'query' share: documents under doc:<n>, and one filter, sort and page over them.
import { howToGetPeers } from '../../base/optional-packages.js'
import { ask, family, made } from '../declare.js'
import { fieldOf, isDescending } from './fields.js'

/**
 * @import { Family, Rule } from '../declare.js'
 * @import { Document } from './documents.js'
 * @import { PlanFields } from './fields.js'
 */

// A document as JSON with its key, on Redis 7.0.15 with jemalloc.
const bytesADocument = 420

const module = (/** @type {string} */ name, /** @type {string} */ file) =>
  `the module ${name}: ${howToGetPeers}, and --server-config loadmodule=${file} gives it to a local server of Redis 8.2 or Valkey 9.1`

export const searchModule = Object.freeze({
  command: 'FT.SEARCH',
  since: module('RediSearch', 'redisearch.so'),
})
export const jsonModule = Object.freeze({ command: 'JSON.SET', since: module('RedisJSON', 'rejson.so') })

/** Names and values of a document as arguments. @param {Readonly<Record<string, unknown>>} fields @param {readonly string[]} [only] */
export const fieldsOf = (fields, only = Object.keys(fields)) =>
  only.flatMap((name) => (fields[name] === undefined ? [] : [name, String(fields[name])]))

/** @param {Pick<PlanFields, 'document'>} t */
export const document = (t) => made('document', (n) => JSON.stringify(t.document(n)))

/** What a query is about. @param {PlanFields} t */
export const asked = (t) => ({
  status: made('status', (n) => t.query(n).status),
  min: made('min', (n) => String(t.query(n).min)),
  max: made('max', (n) => String(t.query(n).max)),
})

/** The same as arguments of a script. @param {PlanFields} t */
export const filterArguments = (t) => {
  const { status, min, max } = asked(t)
  return [status, min, max, fieldOf(t.sortBy), isDescending(t.sortBy) ? 1 : 0]
}

/** @type {readonly Rule[]} */
const rules = [
  (s, named) => s.cluster && `${named('cluster')}: queries run on one server, with or without replicas`,
  (s, named) =>
    s.updateRateHz !== undefined &&
    s.updateWriters === 0 &&
    `${named('updateRateHz')} needs --with update-writers`,
  (s, named) =>
    s.updateWriters > s.quantity && `${named('updateWriters')}: each of them needs a document of its own`,
]

export const ofQueries = Object.freeze({
  /** @type {'query'} */
  workload: 'query',
  options: Object.freeze([
    'connections',
    'order',
    'arrivals',
    'selectivity',
    'queries',
    'sortBy',
    'pageSize',
    'pageOffset',
    'requests',
    'queryTimeoutMs',
    'updateWriters',
    'updateRateHz',
  ]),
  keys: (/** @type {PlanFields} */ t) => ({
    key: family('doc:{n}', 'string', { keys: t.quantity, bytes: bytesADocument }),
  }),
  /** Documents as JSON text. @param {PlanFields} t @param {{ key: Family }} k */
  texts: (t, k) => ({ load: [ask('SET', [k.key, document(t)])], update: [ask('SET', [k.key, document(t)])] }),
  play: Object.freeze({
    /** @type {'clients'} */
    flow: 'clients',
    operations: Object.freeze(['query']),
    beside: 'update',
    // As the published clients have it: a query that meets the script of another one fails.
    fatal: Object.freeze(['BUSY']),
  }),
  answers: (/** @type {PlanFields} */ t) => t.answers(),
  fill: Object.freeze({ play: 'load' }),
  defaultItems: 100_000,
  keepsKeys: true,
  rules,
  /** @type {'safe'} */
  repeat: 'safe',
})
