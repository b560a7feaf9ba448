// What servers keep when they are full, played on a sample of keys and as much less memory: eviction as Redis and Valkey do it, by
// a few random keys and a pool of the best candidates so far, with their clocks of seconds and minutes. Pure.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/**
 * @typedef {object} Sample requests of sampled keys, in their order
 * @property {Uint32Array} ids of keys, from 0
 * @property {Uint32Array} atMs
 * @property {Uint8Array} classes of requests, by the popularity of their keys; `early`: it does not count; `drop`: a write that invalidates
 * @property {number} count of requests
 * @property {number} keys
 * @property {number} rate part of all keys
 * @property {Float64Array} bytes of each key
 * @property {Float64Array} ttlMs of each key; 0: none
 * @property {Float64Array} leftMs of it, of each key that is there at the start
 * @property {number} filled so many of the keys are there at the start, the first the last to be evicted
 * @property {Float64Array} [agoMs] since when each of them was used; else all at the start
 *
 * @typedef {object} Eviction
 * @property {string} policy
 * @property {number} samples maxmemory-samples
 * @property {number} lfuLogFactor
 * @property {number} lfuDecayMin
 *
 * @typedef {{ hits: Float64Array, asked: Float64Array, held: { bytes: number, keys: number } }} Simulated of the requests that count, by
 *   class; held: while they are played, of keys that are there
 */

/** As servers are configured unless told otherwise. */
export const usualEviction = Object.freeze({ samples: 5, lfuLogFactor: 10, lfuDecayMin: 1 })

export const early = 254
export const drop = 255
export const classCount = 32

const poolSize = 16
// Servers look for expired keys so often, at so many at least, and until less than this part of them have expired.
const cycleMs = 100
const cycleKeys = 20
const acceptedStale = 0.1
const firstCount = 5
const noTime = Number.POSITIVE_INFINITY

/** Keys by the second in which they expire. */
export const expiryOf = () => {
  /** @type {Map<number, number[]>} */
  const bySecond = new Map()
  let second = -1
  return {
    /** @param {number} id @param {number} atMs */
    add(id, atMs) {
      const at = Math.ceil(atMs / 1000)
      const there = bySecond.get(at)
      if (there) there.push(id)
      else bySecond.set(at, [id])
    },
    /** Calls for those whose time has come. @param {number} nowMs @param {(id: number) => void} then */
    until(nowMs, then) {
      for (const to = Math.floor(nowMs / 1000); second < to; ) {
        second++
        const there = bySecond.get(second)
        if (!there) continue
        bySecond.delete(second)
        for (const id of there) then(id)
      }
    },
  }
}

/** What makes a key the better candidate, by its policy; the highest is evicted. @param {Float64Array} expires of each key @param {Eviction} eviction @param {() => number} random */
const ranking = (expires, { policy, lfuLogFactor, lfuDecayMin }, random) => {
  const usedMs = new Float64Array(expires.length)
  const counter = new Uint8Array(expires.length)
  const [isLfu, isTtl] = [policy.endsWith('-lfu'), policy.endsWith('-ttl')]
  const since = (/** @type {number} */ id, /** @type {number} */ nowMs, /** @type {number} */ unitMs) =>
    Math.floor(nowMs / unitMs) - Math.floor(usedMs[id] / unitMs)
  const decayed = (/** @type {number} */ id, /** @type {number} */ nowMs) =>
    lfuDecayMin === 0
      ? counter[id]
      : Math.max(0, counter[id] - Math.floor(since(id, nowMs, 60_000) / lfuDecayMin))
  return {
    made(/** @type {number} */ id, /** @type {number} */ nowMs) {
      counter[id] = firstCount
      usedMs[id] = nowMs
    },
    touched(/** @type {number} */ id, /** @type {number} */ nowMs) {
      if (isLfu) {
        const now = decayed(id, nowMs)
        const p = 1 / (Math.max(0, now - firstCount) * lfuLogFactor + 1)
        counter[id] = now < 255 && random() < p ? now + 1 : now
      }
      usedMs[id] = nowMs
    },
    score: (/** @type {number} */ id, /** @type {number} */ nowMs) =>
      isLfu ? 255 - decayed(id, nowMs) : isTtl ? -expires[id] : since(id, nowMs, 1000),
  }
}

/** The best candidates so far, the best last; as in the servers, one stays though it was used since. */
const poolOf = () => {
  const ids = new Int32Array(poolSize).fill(-1)
  const scores = new Float64Array(poolSize)
  let length = 0
  return {
    /** @param {number} id @param {number} score */
    offer(id, score) {
      for (let i = 0; i < length; i++) if (ids[i] === id) return
      let at = 0
      while (at < length && scores[at] < score) at++
      if (length === poolSize) {
        if (at === 0) return
        // The worst leaves.
        at--
        ids.copyWithin(0, 1, at + 1)
        scores.copyWithin(0, 1, at + 1)
      } else {
        ids.copyWithin(at + 1, at, length)
        scores.copyWithin(at + 1, at, length)
        length++
      }
      ids[at] = id
      scores[at] = score
    },
    /** @param {(id: number) => boolean} isThere @returns {number} -1: none */
    best(isThere) {
      while (length > 0) {
        const id = ids[--length]
        if (isThere(id)) return id
      }
      return -1
    },
  }
}

/** Keys of which any one may be asked for. @param {number} keys @param {() => number} random */
const bagOf = (keys, random) => {
  const ids = new Int32Array(keys)
  const places = new Int32Array(keys).fill(-1)
  let size = 0
  return {
    size: () => size,
    has: (/** @type {number} */ id) => places[id] >= 0,
    any: () => ids[Math.floor(random() * size)],
    /** @param {number} id */
    add(id) {
      if (places[id] >= 0) return
      places[id] = size
      ids[size++] = id
    },
    /** @param {number} id */
    remove(id) {
      const place = places[id]
      if (place < 0) return
      const last = ids[--size]
      ids[place] = last
      places[last] = place
      places[id] = -1
    },
  }
}

/**
 * @param {Sample} sample
 * @param {number} mostBytes of the sampled keys
 * @param {Eviction} eviction
 * @param {number} [seed]
 * @returns {Simulated}
 */
export const simulated = (sample, mostBytes, eviction, seed = 1) => {
  const { ids, atMs, classes, count, keys, rate, bytes, ttlMs, leftMs, filled, agoMs } = sample
  const { policy, samples } = eviction
  const bits = xoroshiro128plus(seed)
  const random = () => (bits.next() >>> 0) / 2 ** 32
  const expires = new Float64Array(keys).fill(noTime)
  const rank = ranking(expires, eviction, random)
  const pool = poolOf()
  const expiry = expiryOf()
  const isRandom = policy.endsWith('-random')
  const residents = bagOf(keys, random)
  // Expired keys that are still there.
  const stale = bagOf(keys, random)
  let mortal = 0
  let nowMs = 0
  let cycledMs = 0
  let used = 0
  const held = { bytes: 0, keys: 0 }
  const hits = new Float64Array(classCount)
  const asked = new Float64Array(classCount)

  const remove = (/** @type {number} */ id) => {
    if (!residents.has(id)) return
    residents.remove(id)
    stale.remove(id)
    used -= bytes[id]
    if (expires[id] < noTime) mortal--
  }
  const victim = () => {
    if (isRandom) return residents.any()
    for (;;) {
      for (let i = 0; i < samples; i++) {
        const id = residents.any()
        pool.offer(id, rank.score(id, nowMs))
      }
      const id = pool.best(residents.has)
      if (id >= 0) return id
    }
  }
  const add = (/** @type {number} */ id, /** @type {number} */ ms) => {
    // A server makes room before it writes.
    while (used > mostBytes && residents.size() > 0) remove(victim())
    residents.add(id)
    used += bytes[id]
    rank.made(id, nowMs)
    expires[id] = ms > 0 ? nowMs + ms : noTime
    if (ms <= 0) return
    mortal++
    expiry.add(id, expires[id])
  }
  const expired = (/** @type {number} */ id) => {
    if (residents.has(id) && expires[id] <= nowMs) stale.add(id)
  }
  const collect = () => {
    while (stale.size() > acceptedStale * mortal) remove(stale.any())
    const looked = mortal === 0 ? 0 : Math.floor((cycleKeys * rate * stale.size()) / mortal + random())
    for (let i = 0; i < looked && stale.size() > 0; i++) remove(stale.any())
  }

  // As many as there is room for, the last to be evicted.
  let first = 0
  for (let left = mostBytes; first < filled && left >= bytes[first]; first++) left -= bytes[first]
  for (let id = first - 1; id >= 0; id--) {
    add(id, leftMs[id])
    if (agoMs) rank.made(id, -agoMs[id])
  }
  for (let i = 0; i < count; i++) {
    const id = ids[i]
    const of = classes[i]
    nowMs = atMs[i]
    expiry.until(nowMs, expired)
    for (; cycledMs < nowMs; cycledMs += cycleMs) if (stale.size() > 0) collect()
    const isHit = residents.has(id) && expires[id] > nowMs
    if (of < classCount) {
      held.bytes += used
      held.keys += residents.size()
      asked[of]++
      if (isHit) hits[of]++
    }
    if (isHit && of !== drop) {
      rank.touched(id, nowMs)
      continue
    }
    remove(id)
    if (of !== drop) add(id, ttlMs[id])
  }
  return { hits, asked, held }
}
