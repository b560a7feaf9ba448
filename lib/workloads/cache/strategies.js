// A cache beside a source: what is not found is read from the source and written for the next one who asks.
import { exactly } from '../../base/typed.js'
import { each, family, gather, label, many, modulo, script, strategy } from '../declare.js'
import { ttl, ttlLeft, value } from '../latest/parts.js'

/**
 * @import { Family, Rule } from '../declare.js'
 * @import { planFieldsOf } from './fields.js'
 *
 * @typedef {ReturnType<typeof planFieldsOf>} PlanFields
 * @typedef {{ key: Family }} Keys
 */

// With a key of 10 characters, on Redis 7.0.15 with jemalloc.
const keyBytes = 72
const fieldBytes = 96
const ownTtl = 40

const policies = /^volatile-/

/** @type {readonly Rule[]} */
const rules = [
  (s, named) =>
    exactly(['totalAgents', 'agent']).some((key) => ['command line', 'file'].includes(s.given[key])) &&
    !s.control &&
    `${named('totalAgents')}: the boxes of a cache meet on a control server; add --control, and --run`,
  (s, named) =>
    s.control &&
    s.agent !== 'auto' &&
    !(s.agent.length === 1 && Number(s.agent[0]) <= s.totalAgents) &&
    `${named('agent')}: a box of a cache has one number, of those of ${named('totalAgents')}`,
  (s, named) =>
    s.warmUpMs !== 'auto' &&
    s.warmUpMs % 1000 !== 0 &&
    `${named('warmUpMs')}: the hits of a cache are counted by whole seconds; give ${Math.ceil(s.warmUpMs / 1000)}s`,
  (s, named) =>
    s.fill === 'populate' &&
    `${named('fill')} makes keys of other names; --fill alone writes those of the cache`,
  (s, named) =>
    s.maxmemoryBytes !== undefined &&
    s.host !== undefined &&
    `${named('maxmemoryBytes')} is for servers of the run's own: nothing is set on those of others, and what they have is read`,
  (s, named) =>
    (s.maxmemoryBytes ?? 2e6) < 2e6 &&
    `${named('maxmemoryBytes')}: a server takes more than 1 MB without any key; give 2MB or more`,
  (s, named) =>
    s.policy !== undefined &&
    s.maxmemoryBytes === undefined &&
    `${named('policy')} needs --maxmemory: without a limit nothing is evicted`,
  (s, named) =>
    s.policy === 'noeviction' &&
    `${named('policy')}: a cache that may not evict refuses writes when it is full; take allkeys-lru`,
  (s, named) =>
    policies.test(s.policy ?? '') &&
    s.given.ttlS === 'default' &&
    `${named('policy')} evicts keys with a lifetime only: add --ttl`,
  (s, named) =>
    s.serverConfig.some((/** @type {readonly string[]} */ [name]) => /^maxmemory(-policy)?$/.test(name)) &&
    `${named('serverConfig')}: give a cache its limit by --maxmemory and --policy`,
]
/** @type {Rule} */
const withoutTtl = (s, named) =>
  s.given.ttlS !== 'default' &&
  `${named('ttlS')}: fields of cache-hash have no lifetime; those of cache-hash-ttl have`
/** @type {readonly Rule[]} */
const fieldsExpire = [
  (s, named) => s.given.ttlS === 'default' && `${named('strategy')} needs --ttl: the lifetime of a field`,
  (s, named) =>
    policies.test(s.policy ?? '') &&
    `${named('policy')} evicts keys with a lifetime, and those of ${named('strategy')} have none: their fields do`,
]

const common = {
  /** @type {'cache'} */
  workload: 'cache',
  options: Object.freeze([
    ...['keys', 'connections', 'pipeline', 'order', 'shift', 'churn', 'arrivals', 'reconnectHz', 'ttlS'],
    ...['fill', 'ratio', 'missTime', 'missConcurrency', 'coalesce', 'maxmemoryBytes', 'policy'],
    ...['totalAgents', 'agent'],
  ]),
  rules,
  play: Object.freeze({ flow: exactly('clients'), operations: ['serve'], caches: true }),
  keys: (/** @type {PlanFields} */ t) => ({
    key: family('cache:{n}', 'string', {
      lifetimeS: t.expires ? t.ttlS : null,
      keys: t.quantity,
      bytes: keyBytes + t.valueBytesStored + (t.expires ? ownTtl : 0),
    }),
  }),
  fill: { play: 'load' },
  keepsKeys: true,
  /** @type {'safe'} */
  repeat: 'safe',
}

/** @param {PlanFields} t @param {Keys} k */
const writes = (t, k) => ({
  fill: [each('SET', [k.key, value(t), ...(t.expires ? ['EX', ttl(t)] : [])])],
  // As after long use: keys of all ages.
  load: [each('SET', [k.key, value(t), ...(t.expires ? ['EX', ttlLeft(t)] : [])])],
  drop: [each('DEL', [k.key])],
})

const cacheAside = strategy({
  ...common,
  name: 'cache-aside',
  title: 'GET, and SET of what was not there',
  operations: (/** @type {PlanFields} */ t, /** @type {Keys} */ k) => ({
    serve: [each('GET', [k.key])],
    ...writes(t, k),
  }),
})

const cacheMget = strategy({
  ...common,
  name: 'cache-mget',
  title: 'MGET of several keys, and SET of those that were not there',
  options: Object.freeze([...common.options, 'batch']),
  operations: (/** @type {PlanFields} */ t, /** @type {Keys} */ k) => ({
    serve: [each('MGET', [k.key])],
    serveMany: [gather('MGET', [many(k.key)])],
    ...writes(t, k),
  }),
})

const field = label('{n}')
const inFields = Object.freeze({ ...common.play, inFields: true })

/** Fields by the hash that they are in. @param {PlanFields} t @param {number} bytes of a field beside its value */
const inHashes = (t, bytes) => ({
  key: family('cache:{b}', 'hash', {
    of: { b: modulo('b', t.hashes) },
    holds: t.quantity,
    bytesAnItem: bytes + t.valueBytesStored,
  }),
})

const cacheHash = strategy({
  ...common,
  name: 'cache-hash',
  play: inFields,
  title: 'HGET of a field of a hash, about a hundred in each, and HSET of what was not there',
  rules: [...rules, withoutTtl],
  keys: (/** @type {PlanFields} */ t) => inHashes(t, fieldBytes),
  operations: (/** @type {PlanFields} */ t, /** @type {Keys} */ k) => ({
    serve: [each('HGET', [k.key, field])],
    fill: [each('HSET', [k.key, field, value(t)])],
    load: [each('HSET', [k.key, field, value(t)])],
    drop: [each('HDEL', [k.key, field])],
  }),
})

const storeFields = script('store-fields', { calls: ['HSET', 'HEXPIRE', 'EXPIRE'] })

/** @param {PlanFields} t @param {Keys} k @param {ReturnType<typeof ttl>} seconds */
const storing = (t, k, seconds) =>
  t.variant === 'HEXPIRE'
    ? // The hash lives as long as its newest field may.
      each('EVALSHA', [storeFields, 1, k.key, seconds, t.ttlS, field, value(t)])
    : each('HSETEX', [k.key, 'EX', seconds, 'FIELDS', 1, field, value(t)])

const cacheHashTtl = strategy({
  ...common,
  name: 'cache-hash-ttl',
  play: inFields,
  title: 'HGET of a field with a ttl, about a hundred in a hash, and HSETEX of what was not there',
  rules: [...rules, ...fieldsExpire],
  variants: {
    HSETEX: [{ command: 'HSETEX', since: 'Redis 8.0, Valkey 9.0' }],
    HEXPIRE: [{ command: 'HEXPIRE', since: 'Redis 7.4' }],
  },
  keys: (/** @type {PlanFields} */ t) => inHashes(t, fieldBytes + ownTtl),
  operations: (/** @type {PlanFields} */ t, /** @type {Keys} */ k) => ({
    serve: [each('HGET', [k.key, field])],
    fill: [storing(t, k, ttl(t))],
    load: [storing(t, k, ttlLeft(t))],
    drop: [each('HDEL', [k.key, field])],
  }),
})

export const cacheStrategies = [cacheAside, cacheHash, cacheHashTtl, cacheMget]
