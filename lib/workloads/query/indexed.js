// Queries by an index: made by hand of sorted sets and sets, with the answer in the index, or by the module RediSearch.
import { exactly } from '../../base/typed.js'
import { ask, family, listed, many, number, script, strategy } from '../declare.js'
import { statuses } from './documents.js'
import { fieldOf, isDescending } from './fields.js'
import { asked, document, fieldsOf, jsonModule, ofQueries, searchModule } from './parts.js'

/**
 * @import { Command, Family, Indexing, Need, Variable } from '../declare.js'
 * @import { PlanFields } from './fields.js'
 */

const { texts, ...shared } = ofQueries
const options = Object.freeze([...shared.options, 'indexWhen'])
// The bytes of an entry in a sorted set or a set, with a key of about 10 characters, on Redis 7.0.15 with jemalloc.
const entryBytes = 110
const status = number('status', (n) => n)

/** @param {string} head @param {string} type @param {PlanFields} t */
const byStatus = (head, type, t) =>
  family(`${head}{status}`, type, {
    of: { status },
    keys: statuses.length,
    bytes: (entryBytes * t.quantity) / statuses.length,
    shape: { head, rest: /^[a-z]+$/ },
  })

/**
 * Documents are stored with their index, or before it.
 * @param {PlanFields} t
 * @param {{ key: Family }} k
 * @param {(text: string | Variable) => Command} indexed
 */
const withIndex = (t, k, indexed) => ({
  load: t.indexWhen === 'before' ? [indexed(document(t))] : texts(t, k).load,
  update: [indexed(document(t))],
  index: [indexed('')],
})

/** An entry for each document. @param {PlanFields} t @returns {Indexing} */
const entries = ({ indexWhen, quantity }) => ({
  when: indexWhen,
  create: indexWhen === 'after' ? { play: 'index', count: quantity } : null,
  ready: null,
  drop: 'drop',
  indexes: 1,
})

const queryIndex = strategy({
  ...shared,
  name: 'query-index',
  title: 'sorted sets by price and sort field and a set for each status, intersected by the server',
  options,
  keys: (/** @type {PlanFields} */ t) => ({
    ...shared.keys(t),
    price: family('doc-index:price', 'zset', { bytes: entryBytes * t.quantity }),
    sort: family(`doc-index:${t.sortBy}`, 'zset', { bytes: entryBytes * t.quantity }),
    statuses: byStatus('doc-status:', 'set', t),
    found: family('doc-index:found', 'zset'),
    page: family('doc-index:page', 'zset'),
  }),
  operations: (/** @type {PlanFields} */ t, k) => {
    const { status: wanted, min, max } = asked(t)
    const head = `${t.prefix}doc-status:`
    const joined = { joined: true }
    return {
      ...withIndex(t, k, (text) =>
        ask('EVALSHA', [
          script('index-document', { calls: ['GET', 'SET', 'SREM', 'SADD', 'ZADD'] }),
          3,
          k.key,
          k.price,
          k.sort,
          text,
          fieldOf(t.sortBy),
          isDescending(t.sortBy) ? 1 : 0,
          head,
        ]),
      ),
      drop: [ask('UNLINK', [k.price, k.sort, ...statuses.map((name) => head + name)])],
      // No other client sees the keys in between.
      query: [
        ask('MULTI', [], joined),
        ask('ZRANGESTORE', [k.found, k.price, min, max, 'BYSCORE'], joined),
        ask('ZINTERSTORE', [k.page, 3, k.found, [head, wanted], k.sort, 'WEIGHTS', 0, 0, 1], joined),
        ask('ZRANGE', [k.page, t.pageOffset, t.pageOffset + t.pageSize - 1], joined),
        ask('UNLINK', [k.found, k.page], joined),
        ask('EXEC', [], { reply: 'executed-keys', once: true }),
      ],
    }
  },
  fill: { ...shared.fill, indexing: entries },
})

const queryIndexJson = strategy({
  ...shared,
  name: 'query-index-json',
  title: 'for each status a sorted set by price, with all that an answer needs as JSON; sorted by the client',
  options,
  keys: (/** @type {PlanFields} */ t) => ({
    ...shared.keys(t),
    index: byStatus('doc-index-json:', 'zset', t),
  }),
  operations: (/** @type {PlanFields} */ t, k) => {
    const { status: wanted, min, max } = asked(t)
    const head = `${t.prefix}doc-index-json:`
    const calls = ['GET', 'SET', 'ZREM', 'ZADD']
    return {
      ...withIndex(t, k, (text) =>
        ask('EVALSHA', [script('index-document-json', { calls }), 1, k.key, text, head]),
      ),
      drop: [
        ask(
          'UNLINK',
          statuses.map((name) => head + name),
        ),
      ],
      query: [ask('ZRANGE', [[head, wanted], min, max, 'BYSCORE'], { reply: 'members', once: true })],
    }
  },
  fill: { ...shared.fill, indexing: entries },
  play: { ...shared.play, clientWorks: true },
})

// Fields of the first index are those of the queries; the others are what an application would ask for besides.
const schemas = Object.freeze([
  [],
  [
    ['title', 'TEXT'],
    ['customer', 'TAG'],
  ],
  [
    ['category', 'TAG'],
    ['country', 'TAG'],
    ['stock', 'NUMERIC', 'SORTABLE'],
  ],
])

/** @param {PlanFields} t @param {number} n of the index, from 1 @param {boolean} isJson */
const schemaOf = ({ sortBy }, n, isJson) => {
  const queried = [
    ['status', 'TAG'],
    ['price', 'NUMERIC'],
    [fieldOf(sortBy), 'NUMERIC', 'SORTABLE'],
  ]
  const fields = n === 1 ? queried : schemas[n - 1]
  return fields.flatMap(([name, ...type]) => (isJson ? [`$.${name}`, 'AS', name, ...type] : [name, ...type]))
}

/**
 * @param {object} kind
 * @param {string} kind.name
 * @param {string} kind.title
 * @param {string} kind.type of its documents
 * @param {readonly Need[]} kind.needs
 * @param {(t: PlanFields, k: { key: Family }) => { load: Command[], update: Command[] }} kind.writes
 */
const bySearch = ({ name, title, type, needs, writes }) => {
  const isJson = type !== 'hash'
  return strategy({
    ...shared,
    name,
    title,
    options: [...options, 'indexes', 'searchTimeoutMs'],
    variants: { module: needs },
    keys: (/** @type {PlanFields} */ t) => ({
      key: family('doc:{n}', type, { keys: t.quantity, bytes: isJson ? 1100 : 560 }),
    }),
    operations: (/** @type {PlanFields} */ t, k) => {
      const { status: wanted, min, max } = asked(t)
      const head = `${t.prefix}doc-search:`
      const index = [head, number('index', (n) => n)]
      const timeout = t.searchTimeoutMs === null ? [] : ['TIMEOUT', t.searchTimeoutMs]
      return {
        ...writes(t, k),
        create: [
          ask('FT.CREATE', [
            index,
            ...['ON', isJson ? 'JSON' : 'HASH', 'PREFIX', 1, `${t.prefix}doc:`, 'SCHEMA'],
            many(listed('schema', (n) => schemaOf(t, n, isJson))),
          ]),
        ],
        ready: [ask('FT.INFO', [index], { reply: 'indexed' })],
        drop: [ask('FT.DROPINDEX', [index])],
        query: [
          ask(
            'FT.SEARCH',
            [
              `${head}1`,
              ['@status:{', wanted, '} @price:[', min, ' ', max, ']'],
              'NOCONTENT',
              ...['SORTBY', fieldOf(t.sortBy), isDescending(t.sortBy) ? 'DESC' : 'ASC'],
              ...['LIMIT', t.pageOffset, t.pageSize],
              ...timeout,
            ],
            { reply: 'search-keys', once: true },
          ),
        ],
      }
    },
    fill: {
      ...shared.fill,
      indexing: (/** @type {PlanFields} */ t) => ({
        when: t.indexWhen,
        create: { play: 'create', count: t.indexes },
        ready: 'ready',
        drop: 'drop',
        indexes: t.indexes,
      }),
    },
  })
}

const changed = exactly(['status', 'price', 'stock', 'version'])

const querySearch = bySearch({
  name: 'query-search',
  title: 'hashes indexed by the module RediSearch (FT.SEARCH)',
  type: 'hash',
  needs: [searchModule],
  writes: (t, k) => ({
    load: [ask('HSET', [k.key, many(listed('fields', (n) => fieldsOf(t.document(n))))])],
    update: [ask('HSET', [k.key, many(listed('changed', (n) => fieldsOf(t.document(n), changed)))])],
  }),
})

const querySearchJson = bySearch({
  name: 'query-search-json',
  title: 'JSON documents indexed by the module RediSearch (FT.SEARCH)',
  type: 'ReJSON-RL',
  needs: [searchModule, jsonModule],
  writes: (t, k) => {
    const set = [ask('JSON.SET', [k.key, '$', document(t)])]
    return { load: set, update: set }
  },
})

export const indexedQueries = [queryIndex, queryIndexJson, querySearch, querySearchJson]
