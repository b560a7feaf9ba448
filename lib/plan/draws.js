// What the next operation of a client is about, and when it is due: pure functions of a seed.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { orderOf, popularityOf } from './popularity.js'
import { agentRange } from './ranges.js'

const words = 2 ** 32

/**
 * Each client goes in order through its own part of the numbers, round and round.
 * @param {number} count
 * @param {number} clients
 * @returns {(client?: number) => number}
 */
const splitOf = (count, clients) => {
  const parts = Math.min(clients, count)
  const ranges = Array.from({ length: parts }, (_, part) => agentRange(count, parts, part + 1))
  const at = new Uint32Array(parts)
  return (client = 0) => {
    const part = client % parts
    const { first, count: size } = ranges[part]
    const n = first + at[part]
    at[part] = at[part] + 1 === size ? 0 : at[part] + 1
    return n
  }
}

/**
 * The numbers 1..count as they are drawn for a client.
 * @param {{ order: string, count: number, seed: number, clients?: number }} terms order: as --order has it
 * @returns {(client?: number) => number}
 */
export const drawsOf = ({ order, count, seed, clients = 1 }) => {
  const asked = orderOf(order)
  if (!asked) throw new TypeError(`no order ${order}`)
  if (asked.kind === 'split') return splitOf(count, clients)
  if (asked.kind === 'sequential') {
    let n = 0
    return () => {
      n = n === count ? 1 : n + 1
      return n
    }
  }
  const random = xoroshiro128plus(seed)
  return popularityOf(asked, count, () => random.next())
}

/** Each of so many numbers once, then -1. @param {number} count @param {number} [after] the number before the first */
export const eachOnce = (count, after = 0) => {
  let n = after
  return () => (n < after + count ? ++n : -1)
}

/**
 * Which of the operations is next, by their weights.
 * @param {readonly number[]} weights
 * @param {number} seed
 * @returns {() => number}
 */
export const picksOf = (weights, seed) => {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const kinds = weights.flatMap((weight, kind) => (weight > 0 ? [kind] : []))
  if (kinds.length === 1) return () => kinds[0]
  const random = xoroshiro128plus(~seed)
  return () => {
    let left = ((random.next() >>> 0) * total) / words
    for (const [kind, weight] of weights.entries()) {
      left -= weight
      if (left < 0) return kind
    }
    return weights.length - 1
  }
}

/**
 * When operation i is due, in milliseconds after the start. Poisson arrivals are asked for in order.
 * @param {{ rateHz: number, arrivals: 'constant' | 'poisson', seed: number, durationMs: number | null }} terms
 */
export const scheduleOf = ({ rateHz, arrivals, seed, durationMs }) => {
  const limit = durationMs === null ? Number.POSITIVE_INFINITY : Math.ceil((rateHz * durationMs) / 1000)
  if (arrivals === 'constant') return { due: (/** @type {number} */ i) => (i * 1000) / rateHz, limit }
  const random = xoroshiro128plus(seed ^ 0x5bd1e995)
  let last = -1
  let atMs = 0
  return {
    due: (/** @type {number} */ i) => {
      for (; last < i; last++) {
        const share = ((random.next() >>> 0) + 1) / (words + 1)
        atMs += (-Math.log(share) * 1000) / rateHz
      }
      return atMs
    },
    limit,
  }
}
