// What the strategies of 'query' read of a plan. Documents and queries are made when they are asked for first: most
// callers only want to know the names of keys.

import { answerVerifierOf } from './answer-verifier.js'
import { documentsOf } from './documents.js'
import { fieldOf, isDescending, queriesOf } from './queries.js'

/**
 * @import { Answers } from '../declare.js'
 * @import { Question } from '../reply-meanings.js'
 * @import { Query, SortBy } from './queries.js'
 */

/** @type {{ settings: string, made: ReturnType<typeof dataOf> } | null} the last: the parts of a run share it */
let last = null

/** @param {{ seed: number, count: number, queries: number, share: number }} needs */
const dataOf = (needs) => {
  const documents = documentsOf(needs)
  const columns = documents.columns()
  return { documents, columns, queries: queriesOf(columns, needs) }
}

/** @param {Parameters<typeof dataOf>[0]} needs */
const dataFor = (needs) => {
  const settings = JSON.stringify(needs)
  if (last?.settings !== settings) last = { settings, made: dataOf(needs) }
  return last.made
}

/**
 * How a client filters and sorts by itself.
 * @param {{ query: (n: number) => Query, sortBy: SortBy, limit: number, offset: number }} needs
 * @returns {Question}
 */
const questionOf = ({ query, sortBy, limit, offset }) => {
  const field = fieldOf(sortBy)
  const sign = isDescending(sortBy) ? -1 : 1
  return {
    limit,
    offset,
    matches: (n, { status, price }) => {
      const asked = query(n)
      return status === asked.status && price !== undefined && price >= asked.min && price <= asked.max
    },
    sortKey: (document) =>
      (document[field] ?? null) === null ? Number.POSITIVE_INFINITY : sign * Number(document[field]),
  }
}

/** As a pattern of SCAN it means only itself. @param {string} text */
const literally = (text) => text.replaceAll(/[\\*?[\]^]/g, '\\$&')

/**
 * @typedef {object} Own settings of queries
 * @property {number} [selectivity]
 * @property {number} [queries]
 * @property {SortBy} [sortBy]
 * @property {number} [pageSize]
 * @property {number} [pageOffset]
 * @property {number} [scanCount]
 * @property {'before' | 'after'} [indexWhen]
 * @property {number} [indexes]
 * @property {number | null} [searchTimeoutMs]
 */

/** @param {{ prefix: string, quantity: number, seed: number, own?: Own }} plan */
export const planFieldsOf = ({ prefix, quantity, seed, own = {} }) => {
  const { selectivity = 0.01, queries = 100, sortBy = 'created', pageSize = 10, pageOffset = 0 } = own
  const data = () => dataFor({ seed, count: quantity, queries, share: selectivity })
  /** @type {Uint32Array | null} of each document */
  let versions = null
  const versionsOf = () => {
    versions ??= new Uint32Array(quantity + 1)
    return versions
  }
  const query = (/** @type {number} */ n) => data().queries[n - 1]
  return {
    prefix,
    quantity,
    scanCount: own.scanCount ?? 1000,
    sortBy,
    pageSize,
    pageOffset,
    indexWhen: own.indexWhen ?? 'after',
    indexes: own.indexes ?? 1,
    searchTimeoutMs: own.searchTimeoutMs ?? null,
    keysPattern: `${literally(prefix)}doc:*`,
    query,
    document: (/** @type {number} */ n) => data().documents.document(n, versions?.[n]),
    /** @returns {Answers} */
    answers: () => ({
      verifier: () => answerVerifierOf(data(), versionsOf(), { sortBy, limit: pageSize, offset: pageOffset }),
      question: questionOf({ query, sortBy, limit: pageSize, offset: pageOffset }),
      matches: (n) => query(n).matches,
    }),
  }
}

/** @typedef {ReturnType<typeof planFieldsOf>} PlanFields */
