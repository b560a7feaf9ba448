// The memory of a plan's items once all of them are stored, by its commands: the allocator's size classes, the encodings'
// thresholds and the sizes of hash tables. The layouts are those of Redis 7; calibration finds the difference of other
// versions.
import { keptItems } from '../../traffic/live-items.js'
import { strategyOf } from '../../workloads/bound-strategy.js'

/**
 * @import { Plan } from '../../loads/plan.js'
 * @import { Argument } from '../../wire/encode.js'
 *
 * @typedef {'jemalloc-8' | 'jemalloc-16' | 'libc'} Allocator jemalloc with classes 8 or 16 bytes apart below 64 and 128 bytes
 * @typedef {(bytes: number) => number} Class what an allocation takes
 *
 * @typedef {object} Memory bytes an item
 * @property {number} spread keys for each item or few of them
 * @property {number} fixed keys that hold all items
 * @property {number} keys of its own, an item
 * @property {readonly string[]} unknown commands whose storage is not known: they count as sent
 */

/** @param {Allocator} allocator @returns {Class} */
export const classesOf = (allocator) => {
  if (allocator === 'libc') return (bytes) => Math.max(24, Math.ceil((bytes + 8) / 16) * 16 - 8)
  const quantum = allocator === 'jemalloc-8' ? 8 : 16
  return (bytes) => {
    if (bytes <= 8) return 8
    const spacing = Math.max(quantum, 2 ** (Math.floor(Math.log2(bytes - 1)) - 2))
    return Math.ceil(bytes / spacing) * spacing
  }
}

const entry = 24
const object = 16
const shortString = 44
/** Slots of a hash table, 8 bytes each, for so many entries. @param {number} n */
const table = (n) => 8 * 2 ** Math.max(2, Math.ceil(Math.log2(Math.max(1, n))))
/** A text with its header and its end. @param {number} length */
const text = (length) => length + 1 + (length < 32 ? 1 : length < 256 ? 3 : length < 65_536 ? 5 : 9)
/** A value as an object of its own. @param {Class} size @param {number} length */
const value = (size, length) =>
  length <= shortString ? size(object + 4 + length) : size(object) + size(text(Math.max(32, length)))
/** An element of a listpack. @param {number} length */
const packed = (length) => {
  const own = length + (length < 64 ? 1 : length < 4096 ? 2 : 5)
  return own + (own < 128 ? 1 : own < 16_384 ? 2 : 3)
}
const packHead = 7
// A score of epoch milliseconds as an integer of 8 bytes.
const packedScore = 10

/** A node of a skip list: each further level has a probability of a quarter. @param {Class} size */
const skipNode = (size) => {
  let sum = 0
  for (let level = 1, p = 0.75; level <= 32; level++, p /= 4) sum += p * size(24 + 16 * level)
  return sum
}

const thresholds = {
  entries: 128,
  bytes: 64,
  integers: 512,
  listBytes: 8192,
  streamBytes: 4096,
  streamEntries: 100,
}

/** Members of one sorted set. @param {Class} size @param {readonly number[]} lengths a sample @param {number} n */
const sortedSet = (size, lengths, n) => {
  if (n <= thresholds.entries && Math.max(...lengths) <= thresholds.bytes)
    return size(packHead + n * (mean(lengths, packed) + packedScore))
  return n * (skipNode(size) + mean(lengths, (length) => size(text(length))) + size(entry)) + table(n)
}

/** @param {Class} size @param {readonly number[]} lengths @param {number} n */
const list = (size, lengths, n) => {
  const each = mean(lengths, packed)
  // A node ends before an element of 8 bytes more than itself would not fit.
  const inNode = Math.max(1, Math.floor((thresholds.listBytes - packHead - 8) / each))
  const node = size(Math.ceil(packHead + Math.min(n, inNode) * each)) + size(32)
  return Math.max(1, n / inNode) * node
}

// A node begins with its header and the names of its fields; its key is in a radix tree.
const streamHead = 26
const streamKey = 24
// Flags, differences of milliseconds and number, and the count of elements. In a node of many entries the milliseconds
// change, and the differences of numbers are negative and longer.
const streamEntry = 8
const longerEntry = 9.5
const manyEntries = 32

/** @param {Class} size @param {readonly number[][]} fields lengths of names and values of each sampled entry @param {number} n */
const stream = (size, fields, n) => {
  const values = mean(fields, (all) => all.reduce((sum, length, i) => sum + (i % 2 ? packed(length) : 0), 0))
  const asked = mean(fields, (all) => all.reduce((sum, length) => sum + length, 0))
  const fitting = (/** @type {number} */ each) =>
    Math.max(
      1,
      Math.min(thresholds.streamEntries, Math.ceil((thresholds.streamBytes - streamHead - asked) / each)),
    )
  const each = values + (fitting(values + streamEntry) > manyEntries ? longerEntry : streamEntry)
  // With many entries, the last node is not full; a few entries are larger than a node should be.
  const whole = Math.ceil(streamHead + fitting(each) * each)
  const node = fitting(each) > manyEntries ? Math.min(whole, thresholds.streamBytes) : whole
  return (n / fitting(each)) * (size(node) + streamKey)
}

/** Fields of one hash, or members of one set. @param {Class} size @param {readonly number[][]} fields @param {number} n @param {boolean} isSet */
const hashed = (size, fields, n, isSet) => {
  const longest = Math.max(...fields.flat())
  if (!isSet && n <= thresholds.entries && longest <= thresholds.bytes)
    return size(
      Math.ceil(packHead + n * mean(fields, (all) => all.reduce((sum, one) => sum + packed(one), 0))),
    )
  const each = mean(fields, (all) => size(entry) + all.reduce((sum, one) => sum + size(text(one)), 0))
  return size(56) + n * each + table(n)
}

/** @template T @param {readonly T[]} all @param {(one: T) => number} pick */
const mean = (all, pick) => all.reduce((sum, one) => sum + pick(one), 0) / all.length

/** @param {Argument} argument @returns {number} */
const lengthOf = (argument) => {
  if (Array.isArray(argument))
    return argument.reduce((/** @type {number} */ sum, part) => sum + lengthOf(part), 0)
  if (typeof argument === 'object') return 'hole' in argument ? argument.width : argument.length
  return Buffer.byteLength(String(argument))
}

const sampled = 2000
// Keys are counted exactly up to this number of items.
const counted = 200_000

/** @typedef {(size: Class, args: readonly number[][], n: number) => number} Store */

/** @param {number} at the place of the value among the arguments @returns {Store} */
const string = (at) => (size, args) => mean(args, (all) => value(size, all[at]))
const lasts = (/** @type {readonly number[][]} */ args) => args.map((all) => Number(all.at(-1)))
/** @type {Store} */
const pushed = (size, args, n) => size(object) + list(size, lasts(args), n)
/** Their last arguments, so many. @param {readonly number[][]} args @param {number} many */
const ends = (args, many) => args.map((all) => all.slice(-many))

/**
 * Bytes that commands store under one key, by the lengths of their arguments for sampled items and the number of items of
 * the key.
 * @type {Record<string, Store>}
 */
const stores = {
  SET: string(2),
  SETEX: string(3),
  PSETEX: string(3),
  ZADD: (size, args, n) => size(object) + sortedSet(size, lasts(args), n),
  RPUSH: pushed,
  LPUSH: pushed,
  XADD: (size, args, n) => stream(size, ends(args, 4), n),
  HSET: (size, args, n) => size(object) + hashed(size, ends(args, 2), n, false),
  SADD: (size, args, n) => size(object) + hashed(size, ends(args, 1), n, true),
}

/** Unknown commands are taken to store what was sent. @type {Store} */
const asSent = (_, args, n) => n * mean(args, (all) => all.slice(2).reduce((sum, length) => sum + length, 0))

/** What a script stores under a key of this type; of a hash one field, whose name is short. @type {Record<string, [command: string, field: number]>} */
const scripts = {
  string: ['SET', 0],
  hash: ['HSET', 5],
  zset: ['ZADD', 0],
  set: ['SADD', 0],
  list: ['RPUSH', 0],
}
const isScript = (/** @type {string} */ name) => /^(EVAL|EVALSHA|FCALL)$/.test(name)

/** @param {readonly Argument[]} args */
const expires = ([name, ...rest]) =>
  /^(P?SETEX|EVALSHA)$/.test(String(name)) || rest.some((arg) => arg === 'EX' || arg === 'PX')

/** A key of many with a string. @param {Allocator} allocator @param {{ key: number, value: number, keys: number, expires: boolean }} lengths */
export const stringBytes = (allocator, { key, value: length, keys, expires }) => {
  const size = classesOf(allocator)
  const dicts = expires ? 2 : 1
  return value(size, length) + size(text(key)) + dicts * (size(entry) + table(keys) / keys)
}

/** @param {Plan} plan @param {Allocator} allocator @returns {Memory} */
export const memoryOf = (plan, allocator) => {
  const size = classesOf(allocator)
  const n = plan.items
  const cut = Math.min(n, keptItems(plan))
  const at = Array.from(
    { length: Math.min(sampled, n) },
    (_, i, count = Math.min(sampled, n)) => 1 + Math.floor(((i + 0.5) * n) / count),
  )
  const found = { spread: 0, fixed: 0, keys: 0 }
  /** @type {string[]} */
  const unknown = []
  const keyNames = new Set()
  const strategy = strategyOf(plan)
  const typeOf = strategy.types({ isItem: () => true, isMinute: () => true })
  for (const step of strategy.steps()) {
    if (step.kind === 'once') continue
    const [name, field] = isScript(step.name ?? '')
      ? (scripts[typeOf(String(step.key(1))) ?? ''] ?? [step.name, 0])
      : [step.name ?? '', 0]
    const store = stores[name]
    if (!store) unknown.push(name)
    const items = at.map((i) => (step.kind === 'each' ? step.args(i) : step.args(step.key(i), [i])))
    const lengths = items.map((args, i) => {
      const all = args.map(lengthOf)
      // A script's arguments end with the value.
      return name === step.name
        ? all
        : [0, lengthOf(step.key(at[i])), field, /** @type {number} */ (all.at(-1))]
    })
    const sampled = Math.min(n, counted)
    const keys = new Set(Array.from({ length: sampled }, (_, i) => String(step.key(i + 1)))).size
    // As many as items where they were counted; otherwise these are all.
    const all = keys === sampled ? n : keys
    const inKey = (name.endsWith('PUSH') || name === 'XADD' ? cut : n) / all
    const into = all === n && n > 1 ? 'spread' : 'fixed'
    found[into] += ((store ?? asSent)(size, lengths, inKey) * all) / n
    const family = String(step.key(1)).replace(/\d+/g, '#')
    if (keyNames.has(family)) continue
    keyNames.add(family)
    if (into === 'spread') found.keys += all / n
    const dicts = expires(items[0]) ? 2 : 1
    found[into] +=
      (all / n) * (mean(lengths, ([, key]) => size(text(key))) + dicts * size(entry)) +
      (dicts * table(all)) / n
  }
  return { ...found, unknown }
}

/**
 * The allocator of a server, by the memory of values of two lengths.
 * @param {(command: string, ...args: (string | number)[]) => Promise<unknown>} call of a server
 * @param {string} prefix of keys
 * @returns {Promise<Allocator | null>} null: unknown
 */
export const allocatorIn = async (call, prefix) => {
  const key = `${prefix}millrace:memory`
  const usage = async (/** @type {number} */ length) => {
    await call('SET', key, 'x'.repeat(length), 'EX', 60)
    return Number(await call('MEMORY', 'USAGE', key))
  }
  try {
    const apart = (await usage(60)) - (await usage(46))
    return /** @type {const} */ ({ 0: 'jemalloc-16', 8: 'jemalloc-8', 16: 'libc' })[apart] ?? null
  } catch {
    return null
  } finally {
    await call('DEL', key).catch(() => {})
  }
}
