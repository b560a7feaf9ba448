// What the strategies of 'query' read of a plan. Documents and queries are made when they are asked for first: most
// callers only want to know the names of keys.

import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { documentsOf, statuses } from './documents.js'

/**
 * @import { Answers, AnswerVerdict } from '../declare.js'
 * @import { Question } from '../reply-meanings.js'
 * @import { Columns, Documents } from './documents.js'
 */

// Queries over documents: those of one status whose price lies between two bounds, sorted, and a page of them. The bounds
// of each are chosen so that it matches a stated share of the documents.

/**
 * @typedef {'created' | 'created-desc' | 'rating' | 'rating-desc'} SortBy desc: the highest first
 *
 * @typedef {object} Query
 * @property {string} status
 * @property {number} min price, in cents
 * @property {number} max the same, still in it
 * @property {number} matches documents as they were loaded
 */

/** @param {SortBy} sortBy */
export const fieldOf = (sortBy) => (sortBy.startsWith('created') ? 'created' : 'rating')
/** @param {SortBy} sortBy */
export const isDescending = (sortBy) => sortBy.endsWith('-desc')

/**
 * What a document is sorted by, the lowest first; those without the field come last.
 * @param {Columns} columns
 * @param {SortBy} sortBy
 * @returns {(n: number) => number}
 */
const sortKeyOf = ({ created, rating }, sortBy) => {
  const sign = isDescending(sortBy) ? -1 : 1
  if (fieldOf(sortBy) === 'created') return (n) => sign * created[n]
  return (n) => (rating[n] === 0 ? Number.POSITIVE_INFINITY : sign * rating[n])
}

/**
 * @param {Columns} columns
 * @param {{ count: number, queries: number, share: number, seed: number }} needs share: of the documents that a query matches
 * @returns {Query[]}
 */
export const queriesOf = ({ status, price }, { count, queries, share, seed }) => {
  const wanted = Math.max(1, Math.round(share * count))
  const prices = statuses.map((_, code) => {
    const own = []
    for (let n = 1; n <= count; n++) if (status[n] === code && price[n] >= 0) own.push(price[n])
    return Int32Array.from(own).sort()
  })
  const possible = prices.flatMap(({ length }, code) => (length >= wanted ? [code] : []))
  // A share that no status reaches is asked of the largest: what it matches is counted.
  const codes = possible.length > 0 ? possible : [0]
  const random = xoroshiro128plus(seed ^ 0x51e7)
  const below = (/** @type {number} */ n) => (random.next() >>> 0) % n
  return Array.from({ length: queries }, () => {
    const code = codes[below(codes.length)]
    const own = prices[code]
    const many = Math.min(wanted, own.length)
    const from = below(own.length - many + 1)
    const [min, max] = [own[from], own[from + many - 1]]
    const matches = own.filter((one) => one >= min && one <= max).length
    return { status: statuses[code], min, max, matches }
  })
}

// Whether an answer is right: the same query over the documents that were made, in every version that a document may have
// had within the query's time. Documents that are equal in what they are sorted by may come in any order.

/**
 * @typedef {{ n: number, version: number, sentMs: number, ackedMs: number }} Write ackedMs: Infinity until it is known
 * @typedef {{ may: boolean, must: boolean }} Doubt whether some version, and each, of a document matches
 */

/** @param {Query} query @param {number} code @param {number} cents */
const isMatch = ({ status: name, min, max }, code, cents) =>
  statuses[code] === name && cents >= min && cents <= max

/** As they were loaded. @param {Columns} columns @param {Query} query @returns {(n: number) => boolean} */
const loadedIn = (columns, query) => (n) => isMatch(query, columns.status[n], columns.price[n])

/** Documents in order, and the place of each; equal ones share it. @param {number} count @param {ReturnType<typeof sortKeyOf>} keyOf */
const orderOf = (count, keyOf) => {
  const sorted = Uint32Array.from({ length: count }, (_, i) => i + 1).sort((a, b) => {
    const [x, y] = [keyOf(a), keyOf(b)]
    return x < y ? -1 : x > y ? 1 : a - b
  })
  const rank = new Uint32Array(count + 1)
  for (let i = 1; i < count; i++)
    rank[sorted[i]] = rank[sorted[i - 1]] + (keyOf(sorted[i]) === keyOf(sorted[i - 1]) ? 0 : 1)
  return { sorted, rank }
}

/**
 * Documents of more than one version within a time.
 * @param {readonly Write[]} writes
 * @param {Documents} documents
 * @param {Query} query
 * @param {number} fromMs
 * @param {number} toMs
 */
const doubtsIn = (writes, documents, query, fromMs, toMs) => {
  /** @type {Map<number, Doubt>} */
  const doubts = new Map()
  for (const { n, version, sentMs, ackedMs } of writes) {
    if (ackedMs < fromMs || sentMs > toMs) continue
    for (const one of [version - 1, version]) {
      const matches = isMatch(query, documents.statusOf(n, one), documents.priceOf(n, one))
      const known = doubts.get(n)
      doubts.set(n, {
        may: matches || known?.may === true,
        must: matches && known?.must !== false,
      })
    }
  }
  return doubts
}

/**
 * @param {{ documents: Documents, columns: Columns, queries: readonly Query[] }} data
 * @param {Uint32Array} versions of each document, counted here
 * @param {{ sortBy: SortBy, limit: number, offset: number }} page that is asked for
 */
export const answerVerifierOf = ({ documents, columns, queries }, versions, { sortBy, limit, offset }) => {
  const { count } = documents
  const { sorted, rank } = orderOf(count, sortKeyOf(columns, sortBy))
  const [status, price] = [columns.status.slice(), columns.price.slice()]
  /** @type {Write[]} in the order they were sent */
  let writes = []
  let isChanged = false
  /** @type {({ loaded: Uint32Array, came: Set<number> } | null)[]} of each query that was judged */
  const matching = queries.map(() => null)

  /** What a query matched as it was loaded, whether it still does or not, and what it matches since. @param {number} at of the query */
  const matchesOf = (at) => {
    const query = queries[at]
    const isLoaded = loadedIn(columns, query)
    const found = matching[at] ?? {
      loaded: sorted.filter(isLoaded),
      came: new Set(
        isChanged ? sorted.filter((n) => isMatch(query, status[n], price[n]) && !isLoaded(n)) : [],
      ),
    }
    matching[at] = found
    return found
  }

  /**
   * @param {number} q number of the query, from 1
   * @param {readonly number[]} ids numbers of documents
   * @param {number} fromMs it was sent
   * @param {number} toMs it was answered
   * @returns {AnswerVerdict}
   */
  const verify = (q, ids, fromMs, toMs) => {
    const query = queries[q - 1]
    const doubts = isChanged ? doubtsIn(writes, documents, query, fromMs, toMs) : new Map()
    const matches = (/** @type {number} */ n) => isMatch(query, status[n], price[n])
    const may = (/** @type {number} */ n) => doubts.get(n)?.may ?? matches(n)
    const must = (/** @type {number} */ n) => doubts.get(n)?.must ?? matches(n)
    const given = new Set(ids)
    if (given.size !== ids.length || ids.length > limit) return 'wrong'
    const isUnordered = (/** @type {number} */ n, /** @type {number} */ i) => rank[n] < rank[ids[i - 1]]
    if (ids.some((n) => !Number.isInteger(n) || n < 1 || n > count || !may(n)) || ids.some(isUnordered))
      return 'wrong'

    const first = rank[ids[0]] ?? Number.POSITIVE_INFINITY
    const last = rank[ids[ids.length - 1]] ?? Number.POSITIVE_INFINITY
    const isFull = ids.length === limit
    let skipped = 0 // surely before the page
    let able = 0 // perhaps before it
    /** Between two of the page, or behind one that is not full. @param {number} n that is not in it */
    const isMissing = (n) => {
      if (given.has(n) || !may(n)) return false
      const at = rank[n]
      const isSure = must(n)
      if (at <= first) able++
      if (at < first || (at === first && (first < last || !isFull))) {
        skipped += isSure ? 1 : 0
        return false
      }
      return isSure && (at < last || !isFull)
    }
    const { loaded, came } = matchesOf(q - 1)
    const isLoaded = loadedIn(columns, query)
    for (const n of loaded) {
      if (rank[n] > last && isFull) break
      if (isMissing(n)) return 'partial'
    }
    for (const n of came) if (isMissing(n)) return 'partial'
    for (const n of doubts.keys()) if (!came.has(n) && !isLoaded(n) && isMissing(n)) return 'partial'
    if (skipped > offset) return 'partial'
    return ids.length === 0 || able >= offset ? 'right' : 'wrong'
  }

  return {
    queries: queries.length,
    verify: verify,
    /** A document is written. @param {number} n @param {number} nowMs @returns {Write} */
    begun(n, nowMs) {
      isChanged = true
      const write = { n, version: ++versions[n], sentMs: nowMs, ackedMs: Number.POSITIVE_INFINITY }
      writes.push(write)
      return write
    },
    /** It was acknowledged. @param {Write} write @param {number} nowMs */
    written({ n, version }, nowMs) {
      // Those of the same document that were lost before it are over as well: they came from the same client.
      for (const one of writes)
        if (one.n === n && one.version <= version && one.ackedMs > nowMs) one.ackedMs = nowMs
      status[n] = documents.statusOf(n, version)
      price[n] = documents.priceOf(n, version)
      for (const [at, known] of matching.entries()) {
        if (known === null) continue
        if (isMatch(queries[at], status[n], price[n]) && !loadedIn(columns, queries[at])(n)) known.came.add(n)
        else known.came.delete(n)
      }
    },
    /** What was acknowledged before every query under way is known for good. @param {number} beforeMs */
    forget(beforeMs) {
      writes = writes.filter(({ ackedMs }) => ackedMs >= beforeMs)
    },
  }
}

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
