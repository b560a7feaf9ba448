// Which items of which ticks a part of a plan has. Threads that take turns have whole ticks where they can: a tick of few items
// costs much the same as one of many, and each thread would wake for all of them. Pure.
import { chunkRange } from '../base/ranges.js'

/**
 * @import { Range } from '../base/ranges.js'
 *
 * @typedef {object} Shared
 * @property {readonly { first: number, count: number }[]} agents
 * @property {number} chunks
 * @property {{ number: number, of: number, turns?: true } | null} [part] turns: of the batches of all writers in the order in which
 *   they are due, one share of `of` equal ones, which begins and ends in a batch where it must
 */

/** @param {Shared} plan */
export const turnsOf = ({ agents, chunks, part = null }) => {
  const turn = part?.turns ? part : null

  /** The items of writer `a` (its place in the plan) in chunk k; null: all are another thread's. @param {number} a @param {number} k @returns {Range | null} */
  const rangeOf = (a, k) => {
    const whole = chunkRange(agents[a], chunks, k)
    if (turn === null) return whole
    const { number, of } = turn
    const batches = agents.length * chunks
    const place = (k * agents.length + a) * of
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
