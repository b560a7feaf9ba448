// A sample of the requests of a cache that is in use for too long to draw all of them: so many keys, evenly over the ranks (as SHARDS
// samples by a hash), and only their requests, by their popularity. At the start it has what it has after long use. The most popular
// keys are left out where there are many: nearly all of their requests are hits. Pure.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { mix } from '../base/random.js'
import { classCount, early } from './cache-models.js'
import { lifetimeOf } from './lifetimes.js'
import { orderOf, sharesOf } from './popularity.js'
import { allocated, sizeOf } from './sizes.js'

/**
 * @import { Sampled } from './miss-curve.js'
 * @import { ItemFields } from './items.js'
 * @import { LifetimeFields } from './lifetimes.js'
 * @import { SizeFields } from './sizes.js'
 *
 * @typedef {object} Long
 * @property {Omit<ItemFields & SizeFields & LifetimeFields, 'order'>} items without shift and churn
 * @property {number} hz requests a second of all keys
 * @property {number} count of them; the later half counts
 * @property {string} policy
 */

const salt = 0x6b43a9
const mostKeys = 32_768
const headPart = 1 / 4000
// So many milliseconds are counted.
const mostMs = 4e9

/** Whether it can be drawn. @param {{ order: string, shift?: string | null, churn?: string | null }} items */
export const isKnownShare = ({ order, shift, churn }) =>
  !shift && !churn && ['zipf', 'hot', 'uniform'].includes(orderOf(order)?.kind ?? '')

/** Numbers as often as their weights say. @param {Float64Array} weights @param {() => number} random */
const pickOf = (weights, random) => {
  const sums = new Float64Array(weights.length)
  let all = 0
  for (let i = 0; i < weights.length; i++) {
    all += weights[i]
    sums[i] = all
  }
  return () => {
    const at = random() * all
    let [low, high] = [0, sums.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle] > at) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** @param {number} rank from 0 */
const classOf = (rank) => 31 - Math.clz32(rank + 1)

/**
 * @param {Long & { items: { order: string } }} about
 * @param {{ overhead: number, keys?: number }} known overhead: bytes of a key beside its value; keys of the sample
 * @returns {Sampled}
 */
export const longSample = ({ items, hz, count: all, policy }, { overhead, keys: most = mostKeys }) => {
  const { order, count: total, seed, first = 1 } = items
  const shares = sharesOf(order, total)
  const bits = xoroshiro128plus(mix(seed ^ salt))
  const random = () => ((bits.next() >>> 0) + 0.5) / 2 ** 32
  const isRanked = orderOf(order)?.kind !== 'uniform'
  const step = Math.max(1, total / most)
  const head = step > 1 ? Math.floor(total * headPart) : 0
  const keys = Math.floor((total - head) / step)
  const ranks = Float64Array.from({ length: keys }, (_, i) => head + Math.floor((i + random()) * step))
  if (step === 1) for (let i = 0; i < keys; i++) ranks[i] = i
  const lifetime = lifetimeOf(items)
  // What is there, and when each key was used last, as after long use: it came when it was asked for, and lives from then on.
  const rows = Array.from(ranks, (rank) => {
    const n = first + rank
    const perMs = (hz * shares.of(rank + 1)) / 1000
    const ttlMs = lifetime(n) * 1000
    const leftMs = random() * ttlMs
    const isThere = random() < (perMs * ttlMs) / (1 + perMs * ttlMs)
    const usedMs = Math.min(-Math.log(random()) / perMs, ttlMs - leftMs)
    return { n, rank, ttlMs, leftMs, isThere, usedMs }
  })
  const isLfu = policy.endsWith('-lfu')
  rows.sort(
    (a, b) => Number(b.isThere) - Number(a.isThere) || (isLfu ? a.rank - b.rank : a.usedMs - b.usedMs),
  )
  const weights = Float64Array.from(rows, ({ rank }) => shares.of(rank + 1))
  const part = weights.reduce((sum, one) => sum + one, 0)
  const lastMs = Math.min(mostMs, (all * 1000) / hz)
  const count = Math.round(((hz * lastMs) / 1000) * part)
  const pick = pickOf(weights, random)
  const [ids, atMs, classes] = [new Uint32Array(count), new Uint32Array(count), new Uint8Array(count)]
  for (let i = 0; i < count; i++) {
    ids[i] = pick()
    atMs[i] = (i * lastMs) / count
    classes[i] = 2 * i < count ? early : isRanked ? classOf(rows[ids[i]].rank) : 0
  }
  const bytesOf = sizeOf(items)
  const asked = new Float64Array(classCount)
  if (!isRanked) asked[0] = 1
  else
    for (let of = 0; of < classCount && 2 ** of <= total; of++)
      asked[of] = shares.upTo(Math.min(total, 2 ** (of + 1) - 1)) - shares.upTo(2 ** of - 1)
  const rate = keys / total
  const one = {
    ...{ ids, atMs, classes, count, rate, keys },
    filled: rows.filter(({ isThere }) => isThere).length,
    bytes: Float64Array.from(rows, ({ n }) => allocated(bytesOf(n) + 6) + overhead),
    ttlMs: Float64Array.from(rows, ({ ttlMs }) => ttlMs),
    leftMs: Float64Array.from(rows, ({ leftMs }) => leftMs),
    agoMs: Float64Array.from(rows, ({ usedMs }) => usedMs),
  }
  return { rate, asked, masters: [one] }
}
