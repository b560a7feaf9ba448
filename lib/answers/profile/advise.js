// Cheaper forms of a pattern, by measurement: it is played in both forms on a local server in paired rounds. Advised is what
// surely costs less.
import { pairedOf } from '../../result/paired.js'
import { fixedRounds } from '../../result/rounds-plan.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { Difference } from '../../result/verdict.js'
 * @import { Profile, ProfilePattern } from './profile.js'
 *
 * @typedef {string[]} Line of a command
 * @typedef {{ memory: number, cpu: number }} Played of an item: bytes and microseconds
 * @typedef {object} Form
 * @property {Record<string, number>} [settings] of the server, beside its defaults
 * @property {(n: number) => Line[]} fill makes item n
 * @property {(n: number) => Line | null} use reads it; null: it is on another shard
 *
 * @typedef {object} Rule
 * @property {string} title
 * @property {string} when its condition, which no counter shows
 * @property {(pattern: ProfilePattern) => boolean} fits
 * @property {(pattern: ProfilePattern) => { now: Form, other: Form, items: number }} forms items: so many are played
 *
 * @typedef {{ value: number, low: number, high: number }} Change as a share; below 0: cheaper
 * @typedef {{ now: number, other: number, change: Change, is_cheaper: boolean }} Effect
 * @typedef {{ pattern: string, title: string, when: string, rounds: number, memory_bytes: Effect, cpu_us: Effect }} Advice
 */

const rounds = 6
const mostItems = 10_000
const mostBytes = 16e6
const mostPlays = 12
const bucket = 100
// Keys with more elements are not played, as a play needs several keys.
const mostElements = 1000
const shards = 3
// Settings of a test server, so that each play begins alike. All versions know these older names.
const defaults = {
  'hash-max-ziplist-entries': 128,
  'hash-max-ziplist-value': 64,
  'zset-max-ziplist-entries': 128,
  'zset-max-ziplist-value': 64,
}

/** @param {ProfilePattern} pattern */
const meanSize = ({ size }) => Math.max(1, Math.round(size?.value ?? 1))
/** Names as long as those of the pattern. @param {ProfilePattern} pattern */
const namesOf = ({ name_bytes: bytes }) => {
  const prefix = 'k'.repeat(Math.max(1, Math.round(bytes) - 6))
  return (/** @type {number} */ n) => `${prefix}${String(n).padStart(5, '0')}`
}
/** Elements differ, since equal ones may be stored once. @param {number} bytes */
const valuesOf = (bytes) => (/** @type {number} */ n) =>
  String(n).padStart(5, '0').slice(0, bytes).padEnd(bytes, 'x')
/** @param {number} bytes of an item */
const itemsOf = (bytes) => Math.max(200, Math.min(mostItems, Math.floor(mostBytes / bytes)))
/** Whether a pattern has enough strings for a hash. @param {ProfilePattern} pattern */
const areStrings = ({ type, keys }) => type === 'string' && keys.value >= bucket
/** @param {ProfilePattern} pattern */
const stays = ({ expiring }) => expiring <= 0.5

/** Strings of a pattern, and the same in hashes. @param {ProfilePattern} pattern */
const inHashes = (pattern) => {
  const name = namesOf(pattern)
  const value = valuesOf(meanSize(pattern))
  const lifetime = stays(pattern) ? null : String(Math.max(600, Math.ceil(pattern.left_s.most ?? 600)))
  const hash = (/** @type {number} */ n) => name(Math.floor(n / bucket))
  const field = (/** @type {number} */ n) => String(n % bucket)
  return {
    items: itemsOf(meanSize(pattern) + 100),
    now: {
      fill: (/** @type {number} */ n) => [
        lifetime === null ? ['SET', name(n), value(n)] : ['SETEX', name(n), lifetime, value(n)],
      ],
      use: (/** @type {number} */ n) => ['GET', name(n)],
    },
    other: {
      fill: (/** @type {number} */ n) => [
        ['HSET', hash(n), field(n), value(n)],
        ...(lifetime !== null && n % bucket === 0 ? [['EXPIRE', hash(n), lifetime]] : []),
      ],
      use: (/** @type {number} */ n) => ['HGET', hash(n), field(n)],
    },
  }
}

/** The bytes of an element, estimated from memory. @param {ProfilePattern} pattern */
const elementBytes = (pattern) =>
  Math.max(4, Math.min(200, Math.round((pattern.memory_of_key?.value ?? 0) / meanSize(pattern) - 60)))

/** A set whose members are words, and numbers. @param {ProfilePattern} pattern */
const asNumbers = (pattern) => {
  const name = namesOf(pattern)
  const each = meanSize(pattern)
  const member = valuesOf(Math.max(6, elementBytes(pattern)))
  const key = (/** @type {number} */ n) => name(Math.floor(n / each))
  return {
    items: itemsOf(100),
    now: {
      fill: (/** @type {number} */ n) => [['SADD', key(n), `m${member(n)}`]],
      use: (/** @type {number} */ n) => ['SISMEMBER', key(n), `m${member(n)}`],
    },
    other: {
      fill: (/** @type {number} */ n) => [['SADD', key(n), String(100_000 + n)]],
      use: (/** @type {number} */ n) => ['SISMEMBER', key(n), String(100_000 + n)],
    },
  }
}

/** Hashes and sorted sets, in tables and in listpacks. @param {ProfilePattern} pattern */
const inListpacks = (pattern) => {
  const name = namesOf(pattern)
  const each = meanSize(pattern)
  const isHash = pattern.type === 'hash'
  const text = valuesOf(Math.max(6, elementBytes(pattern)))
  const key = (/** @type {number} */ n) => name(Math.floor(n / each))
  const form = {
    fill: (/** @type {number} */ n) => [
      isHash ? ['HSET', key(n), `f${n}`, text(n)] : ['ZADD', key(n), String(n), `f${text(n)}`],
    ],
    use: (/** @type {number} */ n) =>
      isHash ? ['HGET', key(n), `f${n}`] : ['ZSCORE', key(n), `f${text(n)}`],
  }
  const kind = isHash ? 'hash' : 'zset'
  const settings = { [`${kind}-max-ziplist-entries`]: 2 * each, [`${kind}-max-ziplist-value`]: 256 }
  return { items: itemsOf(150), now: form, other: { ...form, settings } }
}

/** A large sorted set, and the part of the busiest shard if it is divided over shards. @param {ProfilePattern} pattern */
const onShards = (pattern) => {
  const key = namesOf(pattern)(0)
  const member = valuesOf(Math.max(6, elementBytes(pattern)))
  const isHere = (/** @type {number} */ n) => n % shards === 0
  const fill = (/** @type {number} */ n) => [['ZADD', key, String(n), member(n)]]
  const use = (/** @type {number} */ n) => ['ZSCORE', key, member(n)]
  return {
    items: itemsOf(150),
    now: { fill, use },
    other: {
      fill: (/** @type {number} */ n) => (isHere(n) ? fill(n) : []),
      use: (/** @type {number} */ n) => (isHere(n) ? use(n) : null),
    },
  }
}

/** @type {readonly Rule[]} */
const rules = [
  {
    title: `in hashes of ${bucket} each`,
    when: 'readers know the number of a key',
    fits: (pattern) => areStrings(pattern) && stays(pattern),
    forms: inHashes,
  },
  {
    title: `in hashes of ${bucket} each, which expire as one`,
    when: 'keys that are written together may expire together',
    fits: (pattern) => areStrings(pattern) && !stays(pattern),
    forms: inHashes,
  },
  {
    title: 'members as numbers',
    when: 'members can be numbered',
    fits: (pattern) =>
      pattern.type === 'set' && !('intset' in pattern.encodings) && meanSize(pattern) <= mostElements,
    forms: asNumbers,
  },
  {
    title: 'listpacks, by higher thresholds of the server',
    when: 'no key of the type grows much larger than these',
    fits: (pattern) =>
      (pattern.type === 'hash' ? 'hashtable' : pattern.type === 'zset' ? 'skiplist' : '') in
        pattern.encodings && meanSize(pattern) <= mostElements,
    forms: inListpacks,
  },
  {
    title: `${shards} sorted sets, one on each of ${shards} shards: of the busiest shard`,
    when: 'a range may be read from each and merged',
    fits: ({ type, keys, size }) =>
      type === 'zset' && keys.value < shards && (size?.value ?? 0) > mostElements,
    forms: onShards,
  },
]

/** @param {Redis} client @param {readonly Line[]} lines in pipelines */
const send = async (client, lines) => {
  for (let from = 0; from < lines.length; from += 200) {
    const line = client.pipeline()
    for (const [name, ...args] of lines.slice(from, from + 200)) line.call(name, ...args)
    for (const [error] of (await line.exec()) ?? []) if (error) throw error
  }
}

/** @param {Redis} client @param {string} section @param {readonly string[]} fields */
const levels = async (client, section, fields) => {
  const text = await client.info(section)
  return fields.reduce((sum, name) => sum + Number(new RegExp(`^${name}:(.*)`, 'm').exec(text)?.[1]), 0)
}

/** Bytes of an item, and the server's CPU of making and reading it. @param {Redis} client @param {Form} form @param {number} items */
const played = async (client, { settings, fill, use }, items) => {
  await client.flushall('SYNC')
  for (const [name, value] of Object.entries({ ...defaults, ...settings }))
    await client.config('SET', name, value)
  const numbers = Array.from({ length: items }, (_, n) => n)
  const cpu = () => levels(client, 'cpu', ['used_cpu_user', 'used_cpu_sys'])
  const memory = () => levels(client, 'memory', ['used_memory'])
  const [memoryBefore, cpuBefore] = [await memory(), await cpu()]
  await send(client, numbers.flatMap(fill))
  await send(
    client,
    numbers.map(use).filter((line) => line !== null),
  )
  const [memoryAfter, cpuAfter] = [await memory(), await cpu()]
  return { memory: (memoryAfter - memoryBefore) / items, cpu: ((cpuAfter - cpuBefore) * 1e6) / (2 * items) }
}

/** @param {Difference} difference @returns {Effect} */
const effectOf = ({ centreA, centreB, change, low, high, verdict }) => ({
  now: centreA,
  other: centreB,
  change: { value: change, low: low ?? change, high: high ?? change },
  is_cheaper: verdict === 'better',
})

/**
 * Advice for the patterns with the most memory. `silent`: those for which no form is surely cheaper.
 * @param {Pick<Profile, 'patterns'>} profile
 * @param {object} needs
 * @param {Redis} needs.client of a local server that is empty
 * @param {AbortSignal} needs.stop
 * @param {(line: string) => void} [needs.say]
 */
export const advised = async ({ patterns }, { client, stop, say }) => {
  const plays = [...patterns]
    .sort((a, b) => (b.memory_bytes?.value ?? 0) - (a.memory_bytes?.value ?? 0))
    .flatMap((pattern) => rules.filter((rule) => rule.fits(pattern)).map((rule) => ({ pattern, rule })))
    .slice(0, mostPlays)
  /** @type {Advice[]} */
  const advice = []
  /** @type {{ pattern: string, title: string }[]} */
  const silent = []
  const plan = fixedRounds(rounds, Math.max(2, plays.length))
  for (const [at, { pattern, rule }] of plays.entries()) {
    if (stop.aborted) break
    say?.(`advice ${at + 1} of ${plays.length}: ${pattern.pattern.slice(0, 60)} ${rule.title}`)
    const { now, other, items } = rule.forms(pattern)
    /** @type {{ a: Played, b: Played, first: 'a' | 'b' }[]} */
    const both = []
    // A first play is not counted: a new server still allocates memory and gets faster.
    await played(client, now, items)
    for (let round = 0; round < rounds && !stop.aborted; round++) {
      const isFirst = round % 2 === 0
      const one = await played(client, isFirst ? now : other, items)
      const two = await played(client, isFirst ? other : now, items)
      const [a, b] = isFirst ? [one, two] : [two, one]
      both.push({ a, b, first: isFirst ? 'a' : 'b' })
    }
    if (both.length < rounds) break
    const effect = (/** @type {'memory' | 'cpu'} */ what) =>
      effectOf(
        pairedOf(
          both.map(({ a, b, first }) => ({ a: a[what], b: b[what], first })),
          { criticals: plan.criticals(rounds) },
        ),
      )
    const found = { memory_bytes: effect('memory'), cpu_us: effect('cpu') }
    const { title, when } = rule
    if (found.memory_bytes.is_cheaper || found.cpu_us.is_cheaper)
      advice.push({ pattern: pattern.pattern, title, when, rounds, ...found })
    else silent.push({ pattern: pattern.pattern, title })
  }
  return { advice, silent, plays: plays.length }
}
