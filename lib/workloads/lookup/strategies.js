// GET and SET of single keys of a key space, and both, with DEL, in a ratio.
import { exactly } from '../../base/typed.js'
import { count } from '../../base/units.js'
import { each, family, strategy } from '../declare.js'
import { ttl, value } from '../latest/parts.js'

/**
 * @import { Declaration, Family, Rule } from '../declare.js'
 * @import { planFieldsOf } from './fields.js'
 *
 * @typedef {ReturnType<typeof planFieldsOf>} PlanFields
 */

// With a key of 10 characters, on Redis 7.0.15 with jemalloc.
const keyBytes = 72

/** @param {...string} operations */
const play = (...operations) => Object.freeze({ flow: exactly('clients'), operations, anyServer: true })

/** @type {readonly Rule[]} */
const rules = [
  (s, named) =>
    s.fill === 'populate' &&
    s.cluster &&
    `${named('fill')}: a server of a cluster makes keys of every slot; --fill alone writes them`,
  (s, named) =>
    s.fill === 'populate' &&
    s.given.ttlS !== 'default' &&
    `${named('ttlS')} with ${named('fill')}: the keys that a server makes have no lifetime; --fill alone writes them`,
]

const common = {
  /** @type {'lookup'} */
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
  keys: (/** @type {PlanFields} */ t) => ({
    key: family('key:{n}', 'string', {
      lifetimeS: t.expires ? t.ttlS : null,
      keys: t.quantity,
      bytes: keyBytes + t.valueBytesStored,
    }),
  }),
  operations: (/** @type {PlanFields} */ t, /** @type {{ key: Family }} */ k) => ({
    get: [each('GET', [k.key], { counts: { bulk: 'hit', nil: 'miss' } })],
    set: [each('SET', [k.key, value(t), ...(t.expires ? ['EX', ttl(t)] : [])])],
    del: [each('DEL', [k.key], { counts: { one: 'deleted', zero: 'absent' } })],
  }),
  fill: { play: 'set' },
  rules,
  keepsKeys: true,
  /** @type {Declaration['reasons']} */
  reasons: ({ miss = 0 }, { clients, churn, reads = 'master' }) =>
    clients !== null &&
    // A replica has a key that was filled a while later.
    reads === 'master' &&
    clients.fill !== 'none' &&
    !clients.expires &&
    churn === null &&
    !clients.ratio[2] &&
    miss > 0
      ? [`${count(miss)} lookups missed although every key was filled: keys were removed or evicted`]
      : [],
  /** @type {'safe'} */
  repeat: 'safe',
}

const lookupGet = strategy({
  ...common,
  name: 'lookup-get',
  title: 'GET of one key of many',
  play: play('get'),
})

const lookupSet = strategy({
  ...common,
  name: 'lookup-set',
  title: 'SET of one key of many',
  play: play('set'),
})

const lookupMix = strategy({
  ...common,
  name: 'lookup-mix',
  title: 'SET, GET and DEL of one key of many, in a ratio',
  options: [...common.options, 'ratio'],
  play: play('set', 'get', 'del'),
})

export const lookupStrategies = [lookupGet, lookupSet, lookupMix]
