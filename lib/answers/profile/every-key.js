// Patterns of all keys of a snapshot: what each of them has is added up, and of a part of its keys numbers are kept for medians. Pure.
import { mix as hashed } from '../../base/random.js'
import { anonymousWords, otherKeys, patternsOf } from './fold.js'

/**
 * @typedef {object} SnapshotKey
 * @property {string} type
 * @property {string} encoding
 * @property {number} leftMs -1: it stays
 * @property {number} memory bytes
 * @property {number} size bytes of a string, else elements; -1: not known
 *
 * @typedef {object} Sums of a pattern
 * @property {number} keys
 * @property {number} memory
 * @property {number} squares of memory
 * @property {number} expiring
 * @property {number} sizes
 * @property {Record<string, number>} types
 * @property {Record<string, number>} encodings
 * @property {number} largest memory of one key
 * @property {{ sizes: number[], left: number[] }} some
 */

const mostKept = 1000
const mostLargest = 20
const z = 1.96

/** @returns {Sums} */
const none = () => ({
  ...{ keys: 0, memory: 0, squares: 0, expiring: 0, sizes: 0, largest: 0 },
  ...{ types: {}, encodings: {}, some: { sizes: [], left: [] } },
})

/** @param {Record<string, number>} into @param {Record<string, number>} from */
const addCounts = (into, from) => {
  for (const [name, n] of Object.entries(from)) into[name] = (into[name] ?? 0) + n
}

/** @param {Sums} into @param {Sums} from */
const merge = (into, from) => {
  for (const name of /** @type {const} */ (['keys', 'memory', 'squares', 'expiring', 'sizes']))
    into[name] += from[name]
  into.largest = Math.max(into.largest, from.largest)
  addCounts(into.types, from.types)
  addCounts(into.encodings, from.encodings)
  for (const name of /** @type {const} */ (['sizes', 'left']))
    into.some[name] = [...into.some[name], ...from.some[name]].slice(0, mostKept)
}

/** Keeps each with the same chance. @param {number[]} kept @param {number} value @param {number} n that came before @param {number} seed */
const keep = (kept, value, n, seed) => {
  if (kept.length < mostKept) return void kept.push(value)
  const at = hashed(hashed(n) ^ seed) % (n + 1)
  if (at < mostKept) kept[at] = value
}

/** @param {number[]} numbers @param {number} rank */
const rankedIn = (numbers, rank) =>
  numbers.length === 0
    ? null
    : numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * rank))]

/** @param {Record<string, number>} counts */
const mostOf = (counts) => Object.entries(counts).sort((a, b) => b[1] - a[1])[0]?.[0] ?? ''

/** A total of all keys, by those that were looked at. @param {number} part of all keys */
export const totalOf = (part) => (/** @type {number} */ seen, /** @type {number} */ squares) => {
  const half = z * Math.sqrt((1 - part) * squares)
  const of = (/** @type {number} */ n) => Math.max(0, n / part)
  return { value: of(seen), low: of(seen - half), high: of(seen + half) }
}

/** @param {{ part: number, seed: number, isAnonymous: boolean }} needs part: of all keys that are looked at */
export const everyKey = ({ part, seed, isAnonymous }) => {
  const patterns = patternsOf(none, merge)
  const words = anonymousWords()
  const shape = (/** @type {string[]} */ pieces) =>
    isAnonymous && pieces[0] !== otherKeys ? words(pieces) : pieces
  /** @type {{ name: Buffer, key: SnapshotKey }[]} the largest first */
  let largest = []

  const total = totalOf(part)

  return {
    /** @param {Buffer} name a view @param {SnapshotKey} key */
    add(name, { type, encoding, leftMs, memory, size }) {
      const sums = patterns.dataOf(name)
      if (size >= 0) {
        sums.sizes += size
        keep(sums.some.sizes, size, sums.keys, seed)
      }
      if (leftMs >= 0) keep(sums.some.left, leftMs / 1000, sums.expiring++, seed)
      sums.keys++
      sums.memory += memory
      sums.squares += memory * memory
      sums.types[type] = (sums.types[type] ?? 0) + 1
      sums.encodings[encoding] = (sums.encodings[encoding] ?? 0) + 1
      if (memory > sums.largest) sums.largest = memory
      if (largest.length === mostLargest && memory <= largest[mostLargest - 1].key.memory) return
      largest.push({ name: Buffer.from(name), key: { type, encoding, leftMs, memory, size } })
      largest = largest.sort((a, b) => b.key.memory - a.key.memory).slice(0, mostLargest)
    },
    patterns: () =>
      patterns
        .all()
        .filter(({ data }) => data.keys > 0)
        .map(({ pieces, data }) => {
          const shown = shape(pieces)
          return {
            pattern: shown.join(''),
            pieces: shown,
            type: mostOf(data.types),
            types: data.types,
            encodings: data.encodings,
            keys: total(data.keys, data.keys),
            memory_bytes: total(data.memory, data.squares),
            largest_bytes: data.largest,
            size_mean: data.sizes / data.keys,
            size_p50: rankedIn(data.some.sizes, 0.5),
            size_p99: rankedIn(data.some.sizes, 0.99),
            expiring: data.expiring / data.keys,
            left_s_p50: rankedIn(data.some.left, 0.5),
          }
        })
        .sort((a, b) => b.memory_bytes.value - a.memory_bytes.value),
    largest: () =>
      largest.map(({ name, key }) => ({
        name: isAnonymous ? null : name.toString('latin1', 0, 200),
        type: key.type,
        encoding: key.encoding,
        memory_bytes: key.memory,
        size: key.size < 0 ? null : key.size,
        left_s: key.leftMs < 0 ? null : key.leftMs / 1000,
      })),
  }
}

/** @typedef {ReturnType<ReturnType<typeof everyKey>['patterns']>[number]} SnapshotPattern */

const newline = 10
const blank = 32

/**
 * The keys of a page as lua/keys.lua returns it.
 * @param {Buffer} page
 * @param {(name: Buffer, key: SnapshotKey) => void} onKey
 */
export const readPage = (page, onKey) => {
  const key = { type: '', encoding: '', leftMs: 0, memory: 0, size: 0 }
  let at = 0
  const word = () => {
    const from = at
    while (page[at] !== blank && page[at] !== newline) at++
    return page.toString('latin1', from, at++)
  }
  const number = () => {
    const isBelow = page[at] === 45
    if (isBelow) at++
    let n = 0
    for (; page[at] >= 48; at++) n = n * 10 + page[at] - 48
    at++
    return isBelow ? -n : n
  }
  while (at < page.length) {
    key.type = word()
    key.encoding = word()
    key.leftMs = number()
    key.memory = number()
    key.size = number()
    const length = number()
    onKey(page.subarray(at, at + length), key)
    at += length
  }
}
