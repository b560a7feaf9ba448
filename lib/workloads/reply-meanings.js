// What replies of a multi-step operation mean: the cursor of a scan, keys, documents, rows of keys and what they are sorted by, the
// text of a document, whether a transaction was executed, or the answer itself.
import { MillraceError } from '../base/errors.js'

/**
 * @import { Reply } from '../wire/values.js'
 * @import { Document } from './query/documents.js'
 *
 * @typedef {{ key: string, sortKey: number }} Row
 *
 * @typedef {object} Progress of an operation under way
 * @property {number} n
 * @property {number} client that plays it
 * @property {string} cursor
 * @property {string[]} found keys of the last reply
 * @property {Row[]} rows those that match so far
 * @property {Reply[] | null} answer
 * @property {string} text of the document that was read
 * @property {boolean} isExecuted the last transaction was
 * @property {number} conflicts transactions that were not
 *
 * @typedef {object} Question how a client filters and sorts by itself
 * @property {(n: number, document: Document) => boolean} matches
 * @property {(document: Document) => number} sortKey the lowest first
 * @property {number} limit
 * @property {number} offset
 *
 * @typedef {ReturnType<typeof meaningsOf>} Meanings
 */

const noDocument = '{}'

/** @param {number} n @param {number} client @returns {Progress} */
export const progressOf = (n, client) => ({
  n,
  client,
  cursor: '0',
  found: [],
  rows: [],
  answer: null,
  text: noDocument,
  isExecuted: true,
  conflicts: 0,
})

/** @param {Reply} value @returns {Reply[]} */
const list = (value) => {
  if (!Array.isArray(value)) throw new MillraceError('PROTOCOL', 'a reply is no list, as the command has it')
  return value
}
/** @param {Reply} value */
const number = (value) => (value === null || value === '' ? Number.POSITIVE_INFINITY : Number(value))

/** The page of what matched; a scan may bring a key twice. @param {Row[]} rows @param {Question} question */
const pageOf = (rows, { limit, offset }) => {
  const once = new Map(rows.map((row) => [row.key, row]))
  return [...once.values()]
    .sort((a, b) => (a.sortKey < b.sortKey ? -1 : a.sortKey > b.sortKey ? 1 : 0))
    .slice(offset, offset + limit)
    .map(({ key }) => key)
}

/** @param {Question | null} question */
export const meaningsOf = (question) => {
  const asked = () => {
    if (question === null) throw new TypeError('an operation without a question filters nothing')
    return question
  }
  return {
    /** @param {Progress} _ @param {Reply} value */
    done: (_, value) => {
      if (value === null) throw new MillraceError('PROTOCOL', 'a transaction was not executed')
    },
    /** [cursor, [key, ...]] @param {Progress} progress @param {Reply} value */
    'cursor-keys': (progress, value) => {
      const [cursor, keys] = list(value)
      progress.cursor = String(cursor)
      progress.found = list(keys).map(String)
    },
    /** [cursor, [key, what it is sorted by, ...]] @param {Progress} progress @param {Reply} value */
    'cursor-rows': (progress, value) => {
      const [cursor, rows] = list(value)
      progress.cursor = String(cursor)
      const flat = list(rows)
      for (let i = 0; i < flat.length; i += 2)
        progress.rows.push({ key: String(flat[i]), sortKey: number(flat[i + 1]) })
    },
    /** The values of the keys that were found. @param {Progress} progress @param {Reply} value */
    documents: (progress, value) => {
      const { matches, sortKey } = asked()
      for (const [i, text] of list(value).entries()) {
        if (text === null) continue
        const document = JSON.parse(String(text))
        if (matches(progress.n, document))
          progress.rows.push({ key: progress.found[i], sortKey: sortKey(document) })
      }
    },
    /** Entries of an index as JSON: the key, and what it is sorted by. @param {Progress} progress @param {Reply} value */
    members: (progress, value) => {
      const { sortKey } = asked()
      for (const text of list(value)) {
        const entry = JSON.parse(String(text))
        progress.rows.push({ key: entry.key, sortKey: sortKey(entry) })
      }
    },
    /** @param {Progress} progress @param {Reply} value */
    keys: (progress, value) => {
      progress.answer = list(value)
    },
    /** In a transaction: the one reply that is a list. @param {Progress} progress @param {Reply} value */
    'executed-keys': (progress, value) => {
      progress.answer = list(list(value).find(Array.isArray) ?? [])
    },
    /** [how many match, key, ...] @param {Progress} progress @param {Reply} value */
    'search-keys': (progress, value) => {
      progress.answer = list(value).slice(1)
    },
    /** Names and values: whether an index has all that there is. @param {Progress} progress @param {Reply} value */
    indexed: (progress, value) => {
      const facts = list(value)
      const fact = (/** @type {string} */ name) => Number(facts[facts.indexOf(name) + 1])
      progress.answer = fact('indexing') === 0 && fact('percent_indexed') === 1 ? ['ready'] : []
    },
    /** A document; one that is gone has no fields. @param {Progress} progress @param {Reply} value */
    text: (progress, value) => {
      progress.text = value === null ? noDocument : String(value)
      progress.answer = [progress.text]
    },
    /** Names and values of a hash, as such a text. @param {Progress} progress @param {Reply} value */
    fields: (progress, value) => {
      const flat = list(value)
      const pairs = flat.flatMap((name, i) => (i % 2 === 0 ? [[String(name), flat[i + 1]]] : []))
      progress.answer = [JSON.stringify(Object.fromEntries(pairs))]
    },
    /** In a transaction under WATCH. @param {Progress} progress @param {Reply} value */
    executed: (progress, value) => {
      progress.isExecuted = value !== null
      if (value === null) progress.conflicts++
    },
    /** @param {Progress} progress */
    answer: ({ answer, rows }) => answer ?? (question ? pageOf(rows, question) : []),
  }
}
