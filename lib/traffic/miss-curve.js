// The share of hits over memory, of requests that are known by their seed. A sample has as many keys as there is room for, by a hash
// (SHARDS, FAST '15), and its requests are weighed by how many there are of each class of popularity. From it follow the distances of
// exact LRU. What a policy keeps is played on a smaller sample, whose error is known from LRU, which is there for both.

import { mix } from '../base/random.js'
import { exactly } from '../base/typed.js'
import { addDistinct } from './batches.js'
import { classCount, drop, expiryOf, simulated } from './cache-models.js'
import { drawsOf, ranksOf } from './items.js'
import { eachInUse } from './keys-in-use.js'
import { lifetimeOf } from './lifetimes.js'
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
 * @property {number} writes part of the requests that invalidate, by weights
 * @property {number} reads
 * @property {number} batch keys of a request
 * @property {number} clients of a box
 * @property {readonly number[]} [seeds] of boxes that take turns, each by draws of its own; else one, by that of the items
 * @property {(i: number) => number} dueMs when request i is due
 * @property {number} count requests
 * @property {number} from the first that counts
 * @property {((n: number) => number) | null} [poolOf] the master of a key; null: there is one
 * @property {string | null} filled the policy by which a cache has been in use for long; null: it is empty at the start
 *
 * @typedef {object} OfAll what a sample is of
 * @property {number} rate part of the keys
 * @property {Float64Array} asked keys that all requests that count asked for, by class
 * @property {Float64Array} hashes of each key
 * @property {Uint8Array} [pools] the master of each key; none: there is one
 * @typedef {Sample & OfAll} Sampled
 *
 * @typedef {(bytes: number) => readonly number[]} Rooms bytes of the keys of each master, of so many of all
 */

const salt = 0x51a2d5
const words = 2 ** 32
const mostRequests = 400_000
const mostKeys = 32_768
// Of the smaller sample.
const playedRequests = 150_000
const playedKeys = 12_288

/** Sampled requests, in arrays that double. */
const recordOf = () => {
  const record = {
    ids: new Uint32Array(65_536),
    atMs: new Uint32Array(65_536),
    classes: new Uint8Array(65_536),
    count: 0,
    from: 0,
  }
  const grow = () => {
    const size = 2 * record.ids.length
    for (const name of exactly(['ids', 'atMs'])) {
      const larger = new Uint32Array(size)
      larger.set(record[name])
      record[name] = larger
    }
    const larger = new Uint8Array(size)
    larger.set(record.classes)
    record.classes = larger
  }
  return {
    record,
    /** @param {number} id @param {number} atMs @param {number} of its class */
    add(id, atMs, of) {
      if (record.count === record.ids.length) grow()
      record.ids[record.count] = id
      record.atMs[record.count] = atMs
      record.classes[record.count++] = of
    },
    /** Keeps the requests of some keys, by their new ids; -1: it leaves. @param {Int32Array} idOf */
    keep(idOf) {
      let to = 0
      let from = 0
      for (let i = 0; i < record.count; i++) {
        if (i === record.from) from = to
        const id = idOf[record.ids[i]]
        if (id < 0) continue
        record.ids[to] = id
        record.atMs[to] = record.atMs[i]
        record.classes[to++] = record.classes[i]
      }
      record.from = record.from >= record.count ? to : from
      record.count = to
    },
  }
}

/** @param {Requests} requests @param {{ overhead: number, keys?: number, requests?: number }} known overhead: bytes of a key beside its value @returns {Sampled} */
export const sampled = (requests, { overhead, ...most }) => {
  const { items, expires, writes, reads, batch, clients, dueMs, count, from, filled } = requests
  const { seeds = [items.seed], poolOf = null } = requests
  const keysLimit = most.keys ?? mostKeys
  const requestsLimit = most.requests ?? mostRequests
  const boxes = seeds.map((seed) => ({
    draw: drawsOf({ ...items, seed, clients: seeds.length * clients }),
    pick: picksOf([reads, writes], seed),
  }))
  const own = mix(mix(items.seed) ^ salt)
  const hashOf = (/** @type {number} */ n) => mix(mix(n) ^ mix(Math.floor(n / words)) ^ own)
  /** @type {Map<number, number>} */
  const known = new Map()
  /** @type {number[]} */
  const numbers = []
  let below = words
  const asked = new Float64Array(classCount)
  const rankOf = ranksOf({ ...items, count: items.quantity })
  const isSampled = (/** @type {number} */ n) => hashOf(n) < below
  const { record, add, keep } = recordOf()
  // Keys that are there at the start, the last to be evicted first.
  let fillers = 0
  record.from = from === 0 ? 0 : Number.POSITIVE_INFINITY

  const thin = () => {
    below = Math.floor(below / 2)
    const idOf = new Int32Array(numbers.length)
    let left = 0
    for (const [id, n] of numbers.entries()) {
      idOf[id] = isSampled(n) ? left : -1
      if (idOf[id] < 0) known.delete(n)
      else {
        known.set(n, left)
        numbers[left++] = n
      }
    }
    numbers.length = left
    keep(idOf)
    fillers = idOf.subarray(0, fillers).reduce((n, id) => n + (id < 0 ? 0 : 1), 0)
  }
  const idOf = (/** @type {number} */ n) => {
    const there = known.get(n)
    if (there !== undefined) return there
    const id = numbers.push(n) - 1
    known.set(n, id)
    return id
  }
  if (filled !== null)
    eachInUse({ ...items, count: items.quantity }, filled, (n) => {
      if (isSampled(n)) idOf(n)
      if (numbers.length > keysLimit) thin()
      return true
    })
  fillers = numbers.length
  /** @type {number[]} */
  const one = []
  for (let i = 0; i < count; i++) {
    if (i === from) record.from = record.count
    const atMs = dueMs(i)
    const box = i % boxes.length
    const { draw, pick } = boxes[box]
    const client = box * clients + (Math.floor(i / boxes.length) % clients)
    one.length = 0
    const first = draw(atMs, client)
    const isDrop = pick() === 1
    if (batch > 1 && !isDrop) addDistinct(one, first, batch, () => draw(atMs, client))
    else one.push(first)
    for (let k = 0; k < one.length; k++) {
      // Twice as many ranks in each: of few, a sample may have none.
      const of = isDrop ? drop : rankOf === null ? 0 : 31 - Math.clz32(rankOf(one[k], atMs) + 1)
      if (i >= from && !isDrop) asked[of]++
      if (!isSampled(one[k])) continue
      add(idOf(one[k]), atMs, of)
      if (record.count > requestsLimit || numbers.length > keysLimit) thin()
    }
  }
  const lifetime = lifetimeOf(items)
  const size = sizeOf(items)
  const bytes = Float64Array.from(numbers, (n) => allocated(size(n) + 6) + overhead)
  return {
    ...record,
    from: Math.min(record.from, record.count),
    keys: numbers.length,
    bytes,
    ttlMs: Float64Array.from(numbers, (n) => (expires ? lifetime(n) * 1000 : 0)),
    filled: Array.from({ length: fillers }, (_, i) => fillers - 1 - i),
    rate: below / words,
    asked,
    hashes: Float64Array.from(numbers, hashOf),
    ...(poolOf && { pools: Uint8Array.from(numbers, poolOf) }),
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

/** The requests of some keys, by their old ids. @param {Sampled} sample @param {(id: number) => boolean} has @param {number} [rate] @returns {Sampled} */
const partOf = (sample, has, rate = sample.rate) => {
  const { ids, atMs, classes, count, from, keys } = sample
  const idOf = new Int32Array(keys).fill(-1)
  /** @type {number[]} */
  const left = []
  for (let id = 0; id < keys; id++) if (has(id)) idOf[id] = left.push(id) - 1
  const { record, add } = recordOf()
  for (let i = 0; i < count; i++) {
    if (i === from) record.from = record.count
    if (idOf[ids[i]] >= 0) add(idOf[ids[i]], atMs[i], classes[i])
  }
  const of = (/** @type {ArrayLike<number>} */ all) => Float64Array.from(left, (id) => all[id])
  return {
    ...sample,
    ...record,
    // Where none is measured.
    from: from >= count ? record.count : record.from,
    keys: left.length,
    bytes: of(sample.bytes),
    ttlMs: of(sample.ttlMs),
    hashes: of(sample.hashes),
    pools: sample.pools && Uint8Array.from(of(sample.pools)),
    filled: sample.filled.flatMap((id) => (idOf[id] < 0 ? [] : [idOf[id]])),
    rate,
  }
}

/** A smaller sample by the hash alone, of at most so many keys and requests. @param {Sampled} sample @returns {Sampled} */
const smallerOf = (sample) => {
  const { ids, count, hashes } = sample
  const requestsBelow = (/** @type {number} */ below) => {
    let n = 0
    for (let i = 0; i < count; i++) if (hashes[ids[i]] < below) n++
    return n
  }
  let below = sample.rate * words
  const keysBelow = () => hashes.reduce((n, hash) => n + (hash < below ? 1 : 0), 0)
  while (keysBelow() > playedKeys || requestsBelow(below) > playedRequests) below *= 0.8
  return partOf(sample, (id) => hashes[id] < below, below / words)
}

/** The requests of each master. @param {Sampled} sample @returns {Sampled[]} */
const mastersOf = (sample) => {
  const { pools } = sample
  if (!pools) return [sample]
  const most = pools.reduce((n, pool) => Math.max(n, pool), 0)
  return Array.from({ length: most + 1 }, (_, pool) => partOf(sample, (id) => pools[id] === pool))
}

/**
 * The bytes of the sample's keys that exact LRU needs for each request that counts to be a hit, in their order, by class; Infinity:
 * none are enough.
 * @param {Sample} sample
 */
export const distancesOf = (sample) => {
  const { ids, atMs, classes, count, from, keys, bytes, ttlMs, filled } = sample
  const sums = sumsOf(count + filled.length)
  const placeOf = new Int32Array(keys).fill(-1)
  const diesMs = new Float64Array(keys)
  const expiry = expiryOf()
  const counts = new Uint32Array(classCount)
  for (let i = from; i < count; i++) if (classes[i] !== drop) counts[classes[i]]++
  const found = Array.from(counts, (n) => new Float64Array(n))
  counts.fill(0)
  let whole = 0
  const remove = (/** @type {number} */ id) => {
    sums.add(placeOf[id], -bytes[id])
    whole -= bytes[id]
    placeOf[id] = -1
  }
  const put = (/** @type {number} */ id, /** @type {number} */ place) => {
    sums.add(place, bytes[id])
    whole += bytes[id]
    placeOf[id] = place
  }
  const lives = (/** @type {number} */ id, /** @type {number} */ nowMs, /** @type {number} */ lifeMs) => {
    diesMs[id] = lifeMs > 0 ? nowMs + lifeMs : Number.POSITIVE_INFINITY
    if (lifeMs > 0) expiry.add(id, diesMs[id])
  }
  for (const [i, id] of filled.entries()) {
    put(id, i)
    lives(id, 0, ttlMs[id])
  }
  for (let i = 0; i < count; i++) {
    const id = ids[i]
    const nowMs = atMs[i]
    expiry.until(nowMs, (one) => {
      if (placeOf[one] >= 0 && diesMs[one] <= nowMs) remove(one)
    })
    const place = placeOf[id]
    const isThere = place >= 0 && diesMs[id] > nowMs
    // What was used since, and itself.
    const distance = isThere ? whole - sums.before(place) : Number.POSITIVE_INFINITY
    if (place >= 0) remove(id)
    if (classes[i] === drop) continue
    if (i >= from) found[classes[i]][counts[classes[i]]++] = distance
    put(id, filled.length + i)
    if (!isThere) lives(id, nowMs, ttlMs[id])
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
 * The share of hits of all requests, by those of the sample. Classes of which it has none are the most popular: they are taken for the
 * next ones, which are hits nearly always.
 * @param {Float64Array} asked
 * @param {(of: number) => number} hits
 * @param {(of: number) => number} count
 */
const shareOf = (asked, hits, count) => {
  let all = 0
  let found = 0
  let share = 0
  for (let of = classCount - 1; of >= 0; of--) {
    if (count(of) > 0) share = hits(of) / count(of)
    all += asked[of]
    found += asked[of] * share
  }
  return all === 0 ? 0 : found / all
}

/** @type {Rooms} */
const oneRoom = (bytes) => [bytes]

/** The share of hits of exact LRU, by bytes of all keys. @param {Sampled} sample @param {Rooms} [rooms] @returns {(bytes: number) => number} */
export const lruOf = (sample, rooms = oneRoom) => {
  const { rate, asked } = sample
  const masters = mastersOf(sample).map(distancesOf)
  return (bytes) => {
    const each = rooms(bytes)
    return shareOf(
      asked,
      (of) => masters.reduce((sum, distances, i) => sum + countUpTo(distances[of], each[i] * rate), 0),
      (of) => masters.reduce((sum, distances) => sum + distances[of].length, 0),
    )
  }
}

/** @param {Float64Array} sum @param {Float64Array} more */
const addTo = (sum, more) => {
  for (let i = 0; i < sum.length; i++) sum[i] += more[i]
}

/** What a policy keeps, by bytes of all keys. @param {Sampled} sample @param {Eviction} eviction @param {Rooms} rooms */
const playedOf = (sample, eviction, rooms) => {
  const masters = mastersOf(sample)
  return (/** @type {number} */ bytes) => {
    const each = rooms(bytes)
    const [first, ...others] = masters.map((one, i) => simulated(one, each[i] * sample.rate, eviction))
    for (const one of others) {
      addTo(first.hits, one.hits)
      addTo(first.asked, one.asked)
    }
    const { hits, asked } = first
    return {
      share: shareOf(
        sample.asked,
        (of) => hits[of],
        (of) => asked[of],
      ),
      all: [first, ...others],
    }
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
  const { all } = playedOf(smallerOf(sample), eviction, rooms)(there.bytes)
  const [bytes, keys] = ['bytes', 'keys'].map((name) => all.reduce((sum, { held }) => sum + held[name], 0))
  const more = there.bytes / there.keys - bytes / Math.max(1, keys)
  return { ...sample, bytes: sample.bytes.map((one) => Math.max(leastKeyBytes, one + more)) }
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
  const { bytes, rate } = sample
  const lru = lruOf(sample, rooms)
  const smaller = eviction && smallerOf(sample)
  const played = smaller && playedOf(smaller, eviction, rooms)
  const lruPlayed = smaller && lruOf(smaller, rooms)
  const lruAt = (/** @type {number} */ at) => percentOf(lru(at))
  /** @type {(bytes: number) => number | null} */
  const policyAt = (at) => played && lruPlayed && percentOf(played(at).share + lru(at) - lruPlayed(at))
  const footprint = bytes.reduce((sum, n) => sum + n, 0) / rate
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
      const kept = Math.min(sample.filled.length, Math.round(filled * rate))
      const those = sample.filled.slice(sample.filled.length - kept)
      return percentOf(lruOf({ ...sample, filled: those, pools: undefined })(Number.MAX_VALUE))
    },
    ceiling_pct: lruAt(Number.MAX_VALUE),
    footprint_bytes: footprint,
    sampled_keys: sample.keys,
    sampled_part: rate,
  }
}
