// Increments of many counters: one call each, or many in one.
import { exactly } from '../../base/typed.js'
import { count as counted } from '../../base/units.js'
import { atRate, count, each, family, gather, many, number, script, strategy } from '../declare.js'

/**
 * @import { Delivery, Play, Command, Declaration, Family, Rule } from '../declare.js'
 * @import { Structure, planFieldsOf } from './fields.js'
 */

// What the strategies of 'counters' share: increment n adds 1 to counter 1 + (n - 1) mod C, in one structure.

/** @typedef {ReturnType<typeof planFieldsOf>} PlanFields
 * @typedef {{ key: Family }} CounterKeys */

/** @param {PlanFields} t */
const counterOf = ({ counters }) =>
  number('counter', counters === 1 ? () => 1 : (n) => 1 + ((n - 1) % counters))

/** Member of a sorted set, or field of a hash. @param {PlanFields} t */
const member = (t) => ['counter:', counterOf(t)]

// With names of about 10 characters, on Redis 7.0.15 with jemalloc.
const bytesACounter = Object.freeze({ zset: 110, hash: 64, string: 72 })

/** @param {PlanFields} t @param {Structure} structure */
const familyOf = (t, structure) => {
  const isUsed = t.structure === structure
  const bytes = isUsed ? bytesACounter[structure] : 0
  if (structure !== 'string')
    return family(`counters-${structure}`, structure, { keys: isUsed ? 1 : 0, bytes: bytes * t.counters })
  return family('{{counters}}:{counter}', 'string', {
    of: { counter: counterOf(t) },
    keys: isUsed ? t.counters : 0,
    bytes,
    shape: { head: '{counters}:', rest: /^\d+$/ },
  })
}

const structures = exactly(['zset', 'hash', 'string'])

/** One increment. @param {PlanFields} t @param {CounterKeys} k @returns {Command} */
const increment = (t, { key }) => {
  if (t.structure === 'zset') return each('ZINCRBY', [key, '1', member(t)])
  return t.structure === 'hash' ? each('HINCRBY', [key, member(t), '1']) : each('INCR', [key])
}

const bodies = Object.freeze({
  zset: Object.freeze({ name: 'count-sorted-set', called: 'millrace_count_sorted_set', command: 'ZINCRBY' }),
  hash: Object.freeze({ name: 'count-hash', called: 'millrace_count_hash', command: 'HINCRBY' }),
  string: Object.freeze({ name: 'count-keys', called: 'millrace_count_keys', command: 'INCR' }),
})

/** A bundle in one call. @param {'EVALSHA' | 'FCALL'} name */
const call =
  (name) =>
  (/** @type {PlanFields} */ t, /** @type {CounterKeys} */ { key }) => {
    const { name: body, called, command } = bodies[t.structure]
    const calls = { calls: [command], counts: command }
    const atom = name === 'FCALL' ? script('counters', { ...calls, called }) : script(body, calls)
    // Keys that are arguments are all in one slot, by their tag.
    return t.structure === 'string'
      ? gather(name, [atom, count, many([`${t.prefix}{counters}:`, counterOf(t)])])
      : gather(name, [atom, 1, key, many(member(t))])
  }

/** @param {(t: PlanFields, k: CounterKeys) => Command} command */
const operations = (command) => (/** @type {PlanFields} */ t, /** @type {CounterKeys} */ k) => ({
  add: [command(t, k)],
  read: [
    t.structure === 'string'
      ? gather('MGET', [many([`${t.prefix}{counters}:`, counterOf(t)])])
      : gather(t.structure === 'hash' ? 'HMGET' : 'ZMSCORE', [k.key, many(member(t))]),
  ],
})

const countersByCommand = operations(increment)
const byScript = operations(call('EVALSHA'))
const byFunction = operations(call('FCALL'))

/** Why the counters do not add up to what was acknowledged. @param {Parameters<Declaration['reasons']>[3]} sum */
const reasonsOf = (sum) => {
  if (sum === null) return ['the counters could not be read after the run, so their sum is not known']
  const { before, after, acked, uncertain, different } = sum
  const grown = after - before
  const most = acked + uncertain
  return [
    ...(grown < acked || grown > most
      ? [
          `the counters grew by ${counted(grown)}, but ${counted(acked)} increments were acknowledged${uncertain > 0 ? ` and ${counted(uncertain)} are uncertain` : ''}`,
        ]
      : []),
    ...(different > 0
      ? [
          `${counted(different)} counters differ from what was declared, although every increment was acknowledged`,
        ]
      : []),
  ]
}

/** @type {readonly Rule[]} */
const rules = [
  ...atRate('arrivals', 'durationMs'),
  (s, named) => s.delayMs !== undefined && s.tls && `${named('delayMs')}: the proxy does not carry TLS`,
  (s, named) =>
    s.loseEvery !== undefined && s.delayMs === undefined && `${named('loseEvery')} needs --with delay`,
  (s, named) =>
    s.cluster && s.driver === 'ioredis' && `${named('driver')}: counters run over ioredis on one server only`,
]

const ofCounters = Object.freeze({
  /** @type {'counters'} */
  workload: 'counters',
  keys: (/** @type {PlanFields} */ t) => ({
    key: familyOf(t, t.structure),
    // Counters of earlier runs are recognised by their names.
    others: structures.filter((one) => one !== t.structure).map((one) => familyOf(t, one)),
  }),
  passes: Object.freeze({ order: Object.freeze([Object.freeze({ name: 'increments', play: 'add' })]) }),
  play: Object.freeze({
    /** @type {'bundles'} */
    flow: 'bundles',
    operations: Object.freeze(['add']),
    // A client that prepares its bundles is a part of what is compared.
    clientWorks: true,
  }),
  amounts: (/** @type {PlanFields} */ t) => ({
    play: 'read',
    counters: t.counters,
    expected: (/** @type {number} */ counter) => Math.floor((t.increments - counter) / t.counters) + 1,
  }),
  // As published.
  defaultItems: 50_992,
  keepsKeys: true,
  rules,
  /** @type {Declaration['reasons']} */
  reasons: (_counts, { sending }, passes, sum) =>
    sending?.isWhole && passes.length === 0 ? [] : reasonsOf(sum),
  // An increment that is retried may count twice.
  /** @type {'never'} */
  repeat: 'never',
})

const options = Object.freeze(['counters', 'structure', 'delayMs', 'loseEvery', 'arrivals'])
const inBundles = Object.freeze([...options, 'bundleSize'])
const drivers = exactly(['socket', 'ioredis'])

/** @param {Delivery} delivery @param {Play['drivers']} by */
const sent = (delivery, by) => ({ ...ofCounters.play, delivery, drivers: by })

const counterLoop = strategy({
  ...ofCounters,
  name: 'counter-loop',
  title: 'increments one by one, each after the reply to the one before it',
  options,
  play: sent('one', drivers),
  operations: countersByCommand,
})

const counterPipeline = strategy({
  ...ofCounters,
  name: 'counter-pipeline',
  title: 'increments in bundles, a pipeline each',
  options: inBundles,
  play: sent('pipeline', drivers),
  operations: countersByCommand,
})

const counterAutoPipeline = strategy({
  ...ofCounters,
  name: 'counter-auto-pipeline',
  title: 'a bundle of calls at once, which ioredis puts into pipelines by itself',
  options: inBundles,
  play: sent('concurrent', ['ioredis']),
  operations: countersByCommand,
})

const counterScript = strategy({
  ...ofCounters,
  name: 'counter-script',
  title: 'increments in bundles, a script call each',
  options: inBundles,
  play: sent('call', drivers),
  operations: byScript,
})

const counterFunction = strategy({
  ...ofCounters,
  name: 'counter-function',
  title: 'increments in bundles, a function call each',
  options: inBundles,
  play: sent('call', drivers),
  variants: { FUNCTION: [{ command: 'FUNCTION', since: 'Redis 7.0' }] },
  operations: byFunction,
})

const counterTransaction = strategy({
  ...ofCounters,
  name: 'counter-transaction',
  title: 'increments in bundles, a transaction each',
  options: inBundles,
  play: sent('transaction', drivers),
  operations: countersByCommand,
})

export const counterStrategies = [
  counterLoop,
  counterPipeline,
  counterAutoPipeline,
  counterScript,
  counterFunction,
  counterTransaction,
]
