// Documents that many clients change at the same time, a field each time: by reading and writing all of a document, with
// and without WATCH, or by a command that changes the field in place. Client c counts its updates of a document in the
// field w<c>, so a document shows how many of the updates that were acknowledged are still in it.
import { ask, family, listed, many, replied, strategy } from '../declare.js'
import { document, fieldsOf, jsonModule } from '../query/parts.js'

/**
 * @import { Family, Rule } from '../declare.js'
 * @import { PlanFields } from './fields.js'
 */

const fieldOf = (/** @type {number} */ client) => `w${client + 1}`
const field = replied('field', ({ client }) => fieldOf(client))
const updateNumber = (/** @type {PlanFields} */ { next }) =>
  replied('update', ({ client, n }) => String(next(client, n)))
/** The document that was read, with one more update. */
const changed = replied('changed', ({ text, client }) => {
  const read = JSON.parse(text)
  const name = fieldOf(client)
  return JSON.stringify({ ...read, [name]: 1 + (read[name] ?? 0) })
})

const shownIn = (/** @type {string} */ text) =>
  Object.entries(JSON.parse(text)).reduce(
    (sum, [name, value]) => sum + (/^w\d+$/.test(name) ? Number(value) : 0),
    0,
  )

/** @param {boolean} mayLose */
const updates = (mayLose) => (/** @type {PlanFields} */ t) => ({
  read: 'read',
  shownIn,
  acked: t.acked,
  mayLose,
})

/** @param {string} type @param {number} bytes of a document with its key, on Redis 7.0.15 with jemalloc; of JSON on 8.2.3 */
const keys = (type, bytes) => (/** @type {PlanFields} */ t) => ({
  key: family('doc:{n}', type, { keys: t.quantity, bytes, owner: 'query' }),
})

/** @type {readonly Rule[]} */
const rules = [
  (s, named) => s.cluster && `${named('cluster')}: documents are on one server, with or without replicas`,
]

const common = Object.freeze({
  /** @type {'documents'} */
  workload: 'documents',
  options: Object.freeze(['connections', 'order', 'arrivals', 'requests']),
  play: Object.freeze({
    /** @type {'clients'} */
    flow: 'clients',
    operations: Object.freeze(['update']),
    // Reading a document is part of an update.
    clientWorks: true,
  }),
  fill: Object.freeze({ play: 'load' }),
  updates: updates(false),
  defaultItems: 1000,
  keepsKeys: true,
  rules,
})

const texts = Object.freeze({
  ...common,
  keys: keys('string', 420),
  // What it writes is one more than what it read: a retry would count twice.
  /** @type {'never'} */
  repeat: 'never',
})
const textOperations = (/** @type {PlanFields} */ t, /** @type {{ key: Family }} */ { key }) => ({
  load: [ask('SET', [key, document(t)])],
  read: [ask('GET', [key], { reply: 'text' })],
})

const updateGetSet = strategy({
  ...texts,
  name: 'update-get-set',
  title: 'GET of a document, a field changed by the client, SET: writers overwrite each other',
  operations: (/** @type {PlanFields} */ t, k) => {
    const own = textOperations(t, k)
    return { ...own, update: [...own.read, ask('SET', [k.key, changed])] }
  },
  updates: updates(true),
})

const updateWatch = strategy({
  ...texts,
  name: 'update-watch',
  title: 'the same under WATCH, with SET in a transaction, again until no other client wrote in between',
  operations: (/** @type {PlanFields} */ t, k) => {
    const joined = { joined: true }
    const own = textOperations(t, k)
    return {
      ...own,
      update: [
        ask('WATCH', [k.key], joined),
        ...own.read,
        ask('MULTI', [], joined),
        ask('SET', [k.key, changed], joined),
        ask('EXEC', [], { reply: 'executed', until: 'executed' }),
      ],
    }
  },
})

const updateJson = strategy({
  ...common,
  name: 'update-json',
  title: 'JSON.SET of a path, by the module RedisJSON',
  keys: keys('ReJSON-RL', 1100),
  variants: { module: [jsonModule] },
  operations: (/** @type {PlanFields} */ t, { key }) => ({
    load: [ask('JSON.SET', [key, '$', document(t)])],
    read: [ask('JSON.GET', [key], { reply: 'text' })],
    update: [ask('JSON.SET', [key, ['$.', field], updateNumber(t)])],
  }),
  repeat: 'safe',
})

const updateHash = strategy({
  ...common,
  name: 'update-hash',
  title: 'HSET of a field of a hash',
  keys: keys('hash', 560),
  operations: (/** @type {PlanFields} */ t, { key }) => ({
    // A field of an earlier run would count as an update of this one.
    load: [
      ask('UNLINK', [key], { joined: true }),
      ask('HSET', [key, many(listed('fields', (n) => fieldsOf(t.document(n))))]),
    ],
    read: [ask('HGETALL', [key], { reply: 'fields' })],
    update: [ask('HSET', [key, field, updateNumber(t)])],
  }),
  repeat: 'safe',
})

export const documentStrategies = [updateGetSet, updateWatch, updateJson, updateHash]
