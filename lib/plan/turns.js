// Which items of which ticks a part of a plan has. Threads that take turns have whole ticks where they can: a tick of few items
// costs much the same as one of many, and each thread would wake for all of them.
import { chunkRange } from '../base/ranges.js'

/**
 * @import { Range } from '../base/ranges.js'
 *
 * @typedef {object} Shared
 * @property {readonly { first: number, count: number }[]} agents
 * @property {number} chunks
 * @property {number} periodMs in which all of them are due
 * @property {{ number: number, of: number, turns?: true } | null} [part] turns: it has some of the ticks, in turns with the others
 */

// A thread sends the whole rate in its turn, so a long one is a burst: with 2 threads that had half a second each, 13,000 items/s
// behind 4 ms of network had a median of 66 ms instead of 10. Shorter ones wake all threads for every few items.
const turnMs = 20

// One thread sends this much and is half idle, so that shares need not be equal: ten ticks of eight threads woke them sixteen
// times, and a wake-up costs more the rarer a thread has one.
const easyHz = 200_000

/** Of ticks that are not enough for all threads, who has each. @param {number} ticks @param {number} of */
const spread = (ticks, of) => Array.from({ length: ticks }, (_, at) => Math.ceil(((at + 1) * of) / ticks) - 1)

/** Of each tick, which thread has it whole; those that are missing at the end are shared. @param {Shared} plan @param {number} of @returns {number[]} */
const wholeTicks = ({ agents, chunks, periodMs }, of) => {
  const ticks = Math.max(1, Math.floor((turnMs * chunks) / periodMs + 1e-9))
  const rounds = Math.floor(chunks / (of * ticks))
  const batch = Math.max(...agents.map(({ count }) => Math.ceil(count / chunks)))
  /** @type {number[]} */
  const owners = []
  const had = Array.from({ length: of }, () => 0)
  const places = Array.from(had.keys())
  for (let round = 0; round < rounds; round++) {
    const items = places.map((place) => {
      const from = (round * of + place) * ticks
      const until = (/** @type {number} */ k, /** @type {number} */ count) => Math.floor((k * count) / chunks)
      return agents.reduce((sum, { count }) => sum + until(from + ticks, count) - until(from, count), 0)
    })
    const inTurn = [...places]
    // Batches of 1, 2, 1, 2 items would give one of two threads all the larger ones.
    if (Math.max(...had) - Math.min(...had) > batch) {
      const smallest = places.toSorted((p, q) => items[p] - items[q])
      const busiest = places.toSorted((p, q) => had[q] - had[p])
      for (const [i, place] of smallest.entries()) inTurn[place] = busiest[i]
    }
    for (const [place, thread] of inTurn.entries()) {
      had[thread] += items[place]
      for (let tick = 0; tick < ticks; tick++) owners.push(thread)
    }
  }
  const perPeriod = agents.reduce((sum, { count }) => sum + count, 0)
  const isEasy = (perPeriod * 1000) / periodMs <= easyHz
  return isEasy ? [...owners, ...spread(chunks - owners.length, of)] : owners
}

/** @param {Shared} plan */
export const turnsOf = (plan) => {
  const { agents, chunks, part = null } = plan
  const turn = part?.turns ? part : null
  const owners = turn === null ? [] : wholeTicks(plan, turn.of)

  /** The items of writer `a` (its place in the plan) in chunk k; null: all are another thread's. @param {number} a @param {number} k @returns {Range | null} */
  const rangeOf = (a, k) => {
    const whole = chunkRange(agents[a], chunks, k)
    if (turn === null) return whole
    const { number, of } = turn
    if (k < owners.length) return owners[k] === number && whole.count > 0 ? whole : null
    // Of the batches that are left, in the order in which they are due, each thread has an equal share, which begins and ends
    // in a batch where it must.
    const batches = agents.length * (chunks - owners.length)
    const place = ((k - owners.length) * agents.length + a) * of
    const upTo = (/** @type {number} */ n) =>
      Math.floor((Math.min(of, Math.max(0, n * batches - place)) * whole.count) / of)
    const from = upTo(number)
    const count = upTo(number + 1) - from
    return count > 0 ? { first: whole.first + from, count } : null
  }
  /** @param {(k: number) => boolean} is @returns {(i: number) => boolean} of tick i */
  const byChunk = (is) => {
    if (turn === null) return () => true
    const known = Array.from({ length: chunks }, (_, k) => is(k))
    return (i) => known[i % chunks]
  }
  const hasAny = (/** @type {number} */ k) => agents.some((_, a) => rangeOf(a, k) !== null)
  const hasFirst = (/** @type {number} */ k) =>
    rangeOf(0, k)?.first === chunkRange(agents[0], chunks, k).first
  return {
    rangeOf,
    /** Whether the part has items of tick i. */
    isTaken: byChunk(hasAny),
    /** Whether it has the first of them: a tick of two threads is counted once. */
    isLed: byChunk(hasFirst),
    /** Items in an interval. */
    items: () => {
      let items = 0
      for (let k = 0; k < chunks; k++)
        for (let a = 0; a < agents.length; a++) items += rangeOf(a, k)?.count ?? 0
      return items
    },
  }
}
