// GET and SET of single keys of a key space, and both, with DEL, in a ratio.
import { count } from '../../base/units.js'
import { each, family, strategy } from '../declare.js'
import { ttl, valueBody } from '../latest/parts.js'

// With a key of 10 characters, on Redis 7.0.15 with jemalloc.
const keyBytes = 72

/** @param {...string} play */
const roles = (...play) =>
  Object.freeze({ writer: Object.freeze({ flow: /** @type {const} */ ('clients'), play }) })

const common = {
  workload: 'lookup',
  options: Object.freeze([
    'keys',
    'fill',
    'snapshot',
    'connections',
    'pipeline',
    'order',
    'shift',
    'churn',
    'arrivals',
    'reconnectHz',
    'ttlS',
  ]),
  keys: (/** @type {any} */ t) => ({
    key: family('key:{n}', 'string', {
      lifetimeS: t.expires ? t.ttlS : null,
      keys: t.quantity,
      bytes: keyBytes + t.valueBytesStored,
    }),
  }),
  operations: (/** @type {any} */ t, /** @type {any} */ k) => ({
    get: [each('GET', [k.key], { counts: { bulk: 'hit', nil: 'miss' } })],
    set: [each('SET', [k.key, valueBody(t), ...(t.expires ? ['EX', ttl(t)] : [])])],
    del: [each('DEL', [k.key], { counts: { one: 'deleted', zero: 'absent' } })],
  }),
  fill: 'set',
  rules: Object.freeze([
    (/** @type {any} */ s, /** @type {(key: string) => string} */ named) =>
      s.fill === 'populate' &&
      s.cluster &&
      `${named('fill')}: a server of a cluster makes keys of every slot; --fill alone writes them`,
    (/** @type {any} */ s, /** @type {(key: string) => string} */ named) =>
      s.fill === 'populate' &&
      s.given.ttlS !== 'default' &&
      `${named('ttlS')} with ${named('fill')}: the keys that a server makes have no lifetime; --fill alone writes them`,
  ]),
  anyServer: true,
  keepsKeys: true,
  reasons: (/** @type {Record<string, number>} */ { miss = 0 }, /** @type {any} */ { clients, churn }) =>
    clients.fill !== 'none' && !clients.expires && churn === null && !clients.ratio[2] && miss > 0
      ? [`${count(miss)} lookups missed although every key was filled: keys were removed or evicted`]
      : [],
  repeat: /** @type {const} */ ('safe'),
}

export const lookupGet = strategy({
  ...common,
  name: 'lookup-get',
  title: 'GET of one key of many',
  roles: roles('get'),
})

export const lookupSet = strategy({
  ...common,
  name: 'lookup-set',
  title: 'SET of one key of many',
  roles: roles('set'),
})

export const lookupMix = strategy({
  ...common,
  name: 'lookup-mix',
  title: 'SET, GET and DEL of one key of many, in a ratio',
  options: [...common.options, 'ratio'],
  roles: roles('set', 'get', 'del'),
})
