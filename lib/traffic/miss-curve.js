// The share of hits over memory, of requests that are known by their seed. A sample has as many keys as there is room for, by a hash
// (SHARDS, FAST '15), and its requests are weighed by how many there are of each class of popularity. From it follow the distances of
// exact LRU, and what a policy keeps is played on it. Each master has the requests of its keys.

import { mix } from '../base/random.js'
import { addDistinct } from './batches.js'
import { classCount, drop, early, expiryOf, simulated } from './cache-models.js'
import { drawsOf, ranksOf } from './items.js'
import { eachInUse } from './keys-in-use.js'
import { leftOf, lifetimeOf } from './lifetimes.js'
import { picksOf } from './operations.js'
import { allocated, sizeOf } from './sizes.js'

/**
 * @import { Eviction, Sample } from './cache-models.js'
 * @import { ItemFields } from './items.js'
 * @import { LifetimeFields } from './lifetimes.js'
 * @import { SizeFields } from './sizes.js'
 *
 * @typedef {object} Requests of clients
 * @property {ItemFields & SizeFields & LifetimeFields & { quantity: number }} items
 * @property {boolean} expires
 * @property {readonly number[]} ratio writes that invalidate to reads
 * @property {number} batch keys of a request
 * @property {number} clients of a box
 * @property {readonly number[]} [seeds] of boxes that take turns, each by draws of its own; else one, by that of the items
 * @property {(i: number) => number} dueMs when request i is due
 * @property {number} count requests
 * @property {number} from the first that counts
 * @property {{ count: number, of: (n: number) => number } | null} [masters] and the one of a key; null: there is one
 * @property {string | null} filled the policy by which a cache has been in use for long; null: it is empty at the start
 *
 * @typedef {object} Sampled
 * @property {readonly Sample[]} masters
 * @property {number} rate part of the keys
 * @property {Float64Array} asked keys that all requests that count asked for, by class
 *
 * @typedef {(bytes: number) => readonly number[]} Rooms bytes of the keys of each master, of so many of all
 */

const salt = 0x51a2d5
const words = 2 ** 32
const mostRequests = 400_000
const mostKeys = 32_768
const firstSize = 4096

/** @template {Uint8Array | Uint32Array} A @param {A} all @param {A} larger */
const moved = (all, larger) => {
  larger.set(all)
  return larger
}

/** Sampled keys of a master, and their requests in arrays that double. @param {{ keys: number, requests: number }} size of all masters' */
const recordOf = (size) => {
  /** @type {Map<number, number>} */
  const known = new Map()
  const record = {
    ids: new Uint32Array(firstSize),
    atMs: new Uint32Array(firstSize),
    classes: new Uint8Array(firstSize),
    count: 0,
    /** Their numbers, by id. @type {number[]} */
    numbers: [],
    filled: 0,
    /** @param {number} n */
    idOf(n) {
      const there = known.get(n)
      if (there !== undefined) return there
      known.set(n, record.numbers.length)
      size.keys++
      return record.numbers.push(n) - 1
    },
    /** @param {number} n @param {number} atMs @param {number} of its class */
    add(n, atMs, of) {
      const { count } = record
      if (count === record.ids.length) {
        record.ids = moved(record.ids, new Uint32Array(2 * count))
        record.atMs = moved(record.atMs, new Uint32Array(2 * count))
        record.classes = moved(record.classes, new Uint8Array(2 * count))
      }
      record.ids[count] = record.idOf(n)
      record.atMs[count] = atMs
      record.classes[count] = of
      record.count++
      size.requests++
    },
    /** Without the other keys. @param {(n: number) => boolean} has */
    keep(has) {
      const { ids, atMs, classes, numbers } = record
      const idOf = Int32Array.from(numbers, (n) => (has(n) ? 0 : -1))
      known.clear()
      let [keys, filled, to] = [0, 0, 0]
      for (const [id, n] of numbers.entries()) {
        if (idOf[id] < 0) continue
        if (id < record.filled) filled++
        known.set(n, keys)
        idOf[id] = keys
        numbers[keys++] = n
      }
      size.keys -= numbers.length - keys
      numbers.length = keys
      for (let i = 0; i < record.count; i++) {
        if (idOf[ids[i]] < 0) continue
        ids[to] = idOf[ids[i]]
        atMs[to] = atMs[i]
        classes[to++] = classes[i]
      }
      size.requests -= record.count - to
      record.count = to
      record.filled = filled
    },
  }
  return record
}

/** @param {Requests} requests @param {{ overhead: number, keys?: number, requests?: number }} known overhead: bytes of a key beside its value @returns {Sampled} */
export const sampled = (requests, { overhead, keys = mostKeys, requests: most = mostRequests }) => {
  const { items, expires, batch, clients, dueMs, count, from, filled, masters } = requests
  const { seeds = [items.seed], ratio } = requests
  const boxes = seeds.map((seed) => ({
    draw: drawsOf({ ...items, seed, clients: seeds.length * clients }),
    pick: picksOf([ratio[1], ratio[0]], seed),
  }))
  const own = mix(mix(items.seed) ^ salt)
  let below = words
  const isSampled = (/** @type {number} */ n) => mix(mix(n) ^ mix(Math.floor(n / words)) ^ own) < below
  const rankOf = ranksOf({ ...items, count: items.quantity })
  const asked = new Float64Array(classCount)
  const size = { keys: 0, requests: 0 }
  const records = Array.from({ length: masters?.count ?? 1 }, () => recordOf(size))
  const recordFor = (/** @type {number} */ n) => records[masters ? masters.of(n) : 0]
  const thin = () => {
    if (size.requests <= most && size.keys <= keys) return
    below = Math.floor(below / 2)
    for (const { keep } of records) keep(isSampled)
  }
  if (filled !== null)
    eachInUse({ ...items, count: items.quantity }, filled, (n) => {
      if (isSampled(n)) recordFor(n).idOf(n)
      thin()
      return true
    })
  for (const record of records) record.filled = record.numbers.length
  let atMs = 0
  let client = 0
  let [box] = boxes
  const draw = () => box.draw(atMs, client)
  /** @type {number[]} */
  const one = []
  for (let i = 0; i < count; i++) {
    atMs = dueMs(i)
    box = boxes[i % boxes.length]
    client = (i % boxes.length) * clients + (Math.floor(i / boxes.length) % clients)
    one.length = 0
    const first = draw()
    const isDrop = box.pick() === 1
    addDistinct(one, first, isDrop ? 1 : batch, draw)
    for (const n of one) {
      // Twice as many ranks in each: of few, a sample may have none.
      const of = isDrop ? drop : rankOf === null ? 0 : 31 - Math.clz32(rankOf(n, atMs) + 1)
      if (i >= from && !isDrop) asked[of]++
      if (!isSampled(n)) continue
      recordFor(n).add(n, atMs, i < from && !isDrop ? early : of)
      thin()
    }
  }
  const [lifetime, left] = [lifetimeOf(items), leftOf(items)]
  const bytesOf = sizeOf(items)
  const rate = below / words
  return {
    rate,
    asked,
    masters: records.map(({ numbers, ids, atMs, classes, count, filled }) => ({
      ids,
      atMs,
      classes,
      count,
      filled,
      rate,
      keys: numbers.length,
      bytes: Float64Array.from(numbers, (n) => allocated(bytesOf(n) + 6) + overhead),
      ttlMs: Float64Array.from(numbers, (n) => (expires ? lifetime(n) * 1000 : 0)),
      leftMs: Float64Array.from(numbers, (n) => (expires ? left(n) * 1000 : 0)),
    })),
  }
}

/** Sums of bytes by place. @param {number} places */
const sumsOf = (places) => {
  const tree = new Float64Array(places + 1)
  return {
    /** @param {number} place from 0 @param {number} more */
    add(place, more) {
      for (let i = place + 1; i <= places; i += i & -i) tree[i] += more
    },
    /** Of the places before it. @param {number} place */
    before(place) {
      let sum = 0
      for (let i = place; i > 0; i -= i & -i) sum += tree[i]
      return sum
    },
  }
}

/**
 * The bytes of the sample's keys that exact LRU needs for each request that counts to be a hit, in their order, by class; Infinity:
 * none are enough.
 * @param {Sample} sample
 */
export const distancesOf = ({ ids, atMs, classes, count, keys, bytes, ttlMs, leftMs, filled }) => {
  const sums = sumsOf(count + filled)
  const placeOf = new Int32Array(keys).fill(-1)
  const diesMs = new Float64Array(keys)
  const expiry = expiryOf()
  const counts = new Uint32Array(classCount)
  for (let i = 0; i < count; i++) if (classes[i] < classCount) counts[classes[i]]++
  const found = Array.from(counts, (n) => new Float64Array(n))
  counts.fill(0)
  let whole = 0
  let nowMs = 0
  /** @param {number} id @param {number} place -1: it leaves */
  const put = (id, place) => {
    const before = placeOf[id]
    placeOf[id] = place
    if (before >= 0) {
      sums.add(before, -bytes[id])
      whole -= bytes[id]
    }
    if (place < 0) return
    sums.add(place, bytes[id])
    whole += bytes[id]
  }
  const lives = (/** @type {number} */ id, /** @type {number} */ ms) => {
    diesMs[id] = ms > 0 ? nowMs + ms : Number.POSITIVE_INFINITY
    if (ms > 0) expiry.add(id, diesMs[id])
  }
  const expired = (/** @type {number} */ id) => {
    if (diesMs[id] <= nowMs) put(id, -1)
  }
  for (let id = filled - 1; id >= 0; id--) {
    put(id, filled - 1 - id)
    lives(id, leftMs[id])
  }
  for (let i = 0; i < count; i++) {
    const [id, of] = [ids[i], classes[i]]
    nowMs = atMs[i]
    expiry.until(nowMs, expired)
    const place = placeOf[id]
    const isThere = place >= 0 && diesMs[id] > nowMs
    // What was used since, and itself.
    if (of < classCount)
      found[of][counts[of]++] = isThere ? whole - sums.before(place) : Number.POSITIVE_INFINITY
    put(id, of === drop ? -1 : filled + i)
    if (!isThere && of !== drop) lives(id, ttlMs[id])
  }
  for (const all of found) all.sort()
  return found
}

/** How many are at most so much. @param {Float64Array} sorted @param {number} most */
const countUpTo = (sorted, most) => {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle] <= most) low = middle + 1
    else high = middle
  }
  return low
}

/** @param {number} share */
const percentOf = (share) => Math.min(100, Math.max(0, share * 100))

/**
 * The share of hits of all requests, by those of the sample. Classes of which it has none are the most popular: each has as many more
 * hits for a miss than the next as it is more popular. That is so where keys expire or are evicted at random; by LRU they miss less.
 * @param {Float64Array} asked
 * @param {(of: number) => number} hits
 * @param {(of: number) => number} count
 */
const shareOf = (asked, hits, count) => {
  let all = 0
  let found = 0
  let share = 0
  // Requests of one key of the class that the share is of: twice as many keys are in the next.
  let each = 0
  for (let of = classCount - 1; of >= 0; of--) {
    if (count(of) > 0) {
      share = hits(of) / count(of)
      each = asked[of] / 2 ** of
    } else if (asked[of] > 0 && each > 0) {
      const own = Math.max(each, asked[of] / 2 ** of)
      share = (share * own) / (share * own + (1 - share) * each)
      each = own
    }
    all += asked[of]
    found += asked[of] * share
  }
  return all === 0 ? 0 : found / all
}

/** @template T @param {readonly T[]} all @param {(one: T) => number} of */
const sumOf = (all, of) => all.reduce((sum, one) => sum + of(one), 0)

/** @type {Rooms} */
const oneRoom = (bytes) => [bytes]

/** The share of hits of exact LRU, by bytes of all keys. @param {Sampled} sample @param {Rooms} rooms @returns {(bytes: number) => number} */
const lruOf = ({ masters, rate, asked }, rooms) => {
  const distances = masters.map(distancesOf)
  return (bytes) => {
    const each = rooms(bytes).map((room) => room * rate)
    const hitsOf = (/** @type {number} */ of) =>
      distances.reduce((sum, found, i) => sum + countUpTo(found[of], each[i]), 0)
    return shareOf(asked, hitsOf, (of) => sumOf(distances, (found) => found[of].length))
  }
}

/** What a policy keeps, by bytes of all keys. @param {Sampled} sample @param {Eviction} eviction @param {Rooms} rooms */
const playedOf =
  ({ masters, rate, asked }, eviction, rooms) =>
  (/** @type {number} */ bytes) => {
    const each = rooms(bytes)
    const all = masters.map((one, i) => simulated(one, each[i] * rate, eviction))
    const hitsOf = (/** @type {number} */ of) => sumOf(all, ({ hits }) => hits[of])
    return {
      share: shareOf(asked, hitsOf, (of) => sumOf(all, (one) => one.asked[of])),
      keyBytes:
        sumOf(all, ({ held }) => held.bytes) /
        Math.max(
          1,
          sumOf(all, ({ held }) => held.keys),
        ),
    }
  }

const leastKeyBytes = 32

/**
 * Of few keys the average size is not that of all: keys take so much that with this memory as many are there as the server has.
 * @param {Sampled} sample
 * @param {Eviction} eviction
 * @param {{ bytes: number, keys: number }} there on the servers, full
 * @param {Rooms} [rooms]
 * @returns {Sampled}
 */
export const anchored = (sample, eviction, there, rooms = oneRoom) => {
  const more = there.bytes / there.keys - playedOf(sample, eviction, rooms)(there.bytes).keyBytes
  const masters = sample.masters.map((one) => ({
    ...one,
    bytes: one.bytes.map((each) => Math.max(leastKeyBytes, each + more)),
  }))
  return { ...sample, masters }
}

const gridPoints = 16
const leastShare = 0.01

/**
 * The curve, in percent of the keys that were asked for.
 * @param {Sampled} sample
 * @param {Eviction | null} eviction null: exact LRU alone
 * @param {Rooms} [rooms]
 */
export const missCurve = (sample, eviction, rooms = oneRoom) => {
  const { masters, rate } = sample
  const lru = lruOf(sample, rooms)
  const played = eviction && playedOf(sample, eviction, rooms)
  const lruAt = (/** @type {number} */ at) => percentOf(lru(at))
  const policyAt = (/** @type {number} */ at) => played && percentOf(played(at).share)
  const footprint = sumOf(masters, ({ bytes }) => bytes.reduce((sum, n) => sum + n, 0)) / rate
  const step = (1 / leastShare) ** (1 / (gridPoints - 1))
  const points = Array.from({ length: gridPoints }, (_, i) => {
    const at = footprint * leastShare * step ** i
    return { data_bytes: at, lru_pct: lruAt(at), policy_pct: policyAt(at) }
  })
  return {
    points,
    lruAt,
    policyAt,
    /** Where nothing is evicted, after a fill of so many keys. @param {number} filled */
    allKept: (filled) => {
      const part = Math.min(
        1,
        (filled * rate) /
          Math.max(
            1,
            sumOf(masters, (one) => one.filled),
          ),
      )
      const kept = masters.map((one) => ({ ...one, filled: Math.round(one.filled * part) }))
      return percentOf(lruOf({ ...sample, masters: kept }, rooms)(Number.MAX_VALUE))
    },
    ceiling_pct: lruAt(Number.MAX_VALUE),
    footprint_bytes: footprint,
    sampled_keys: sumOf(masters, ({ keys }) => keys),
    sampled_part: rate,
  }
}
