// Queries without an index: every document is looked at, by the client, by a script, or by many short calls of one.
import { ask, cursor, found, many, script, strategy } from '../declare.js'
import { filterArguments, ofQueries } from './parts.js'

/**
 * @import { Family } from '../declare.js'
 * @import { PlanFields } from './fields.js'
 */

const { texts, ...shared } = ofQueries
const inParts = Object.freeze([...shared.options, 'scanCount'])

const queryClient = strategy({
  ...shared,
  name: 'query-client',
  title: 'SCAN and MGET of all documents, filtered by the client',
  options: inParts,
  operations: (/** @type {PlanFields} */ t, k) => ({
    ...texts(t, k),
    query: [
      ask('SCAN', [cursor, 'MATCH', t.keysPattern, 'COUNT', t.scanCount], { reply: 'cursor-keys' }),
      ask('MGET', [many(found)], { reply: 'documents', until: 'cursor' }),
    ],
  }),
  play: { ...shared.play, clientWorks: true },
})

/** All of it in one call of a script. @param {string} name */
const inOneCall = (name) => (/** @type {PlanFields} */ t, /** @type {{ key: Family }} */ k) => ({
  ...texts(t, k),
  query: [
    ask(
      'EVALSHA',
      [
        script(name, { calls: ['SCAN', 'MGET'] }),
        0,
        t.keysPattern,
        ...filterArguments(t),
        t.pageOffset,
        t.pageSize,
      ],
      { reply: 'keys', once: true },
    ),
  ],
})

const queryScan = strategy({
  ...shared,
  name: 'query-scan',
  title: 'one script call that looks at all documents by string matching',
  operations: inOneCall('query-scan'),
})

const queryScanJson = strategy({
  ...shared,
  name: 'query-scan-json',
  title: 'one script call that decodes all documents with cjson',
  operations: inOneCall('query-scan-json'),
})

const queryScanChunked = strategy({
  ...shared,
  name: 'query-scan-chunked',
  title: 'many short script calls, each over a part of the documents',
  options: inParts,
  operations: (/** @type {PlanFields} */ t, k) => ({
    ...texts(t, k),
    query: [
      ask(
        'EVALSHA',
        [
          script('query-scan-part', { calls: ['SCAN', 'MGET'] }),
          0,
          cursor,
          t.keysPattern,
          t.scanCount,
          ...filterArguments(t),
        ],
        { reply: 'cursor-rows', until: 'cursor' },
      ),
    ],
  }),
})

export const scanningQueries = [queryClient, queryScan, queryScanJson, queryScanChunked]
