// Which items of a --once run were acknowledged, so that a later check can find out whether they are still there. Nearly
// all are, so it stores how many ticks each agent offered, and the ranges that were not acknowledged.

/**
 * @import { Account } from './ledger.js'
 *
 * @typedef {object} Written as it is in run.json; item n of agent a's tick i is in chunk i mod chunks of its
 *   range, in interval floor(i / chunks), whose items begin `quantity` later each time
 * @property {{ agent: number, ticks: number }[]} agents ticks offered, from the first on
 * @property {[first: number, last: number][]} not_acked items of those ticks without an acknowledgement
 * @property {number | null} [servers_ahead_ms] of our clock, at the start
 * @property {boolean} complete false: there were too many such ranges to keep, and some of the lost items are not in them
 */

// A master that is away for five seconds at 100,000 items/s leaves some 170,000: item by item, as slots lie.
const mostRanges = 500_000

export const ackedRanges = () => {
  /** @type {Map<number, number>} */
  const ticks = new Map()
  /** @type {[first: number, last: number][]} */
  let missing = []
  let complete = true

  /** Adjacent ranges are merged. */
  const merge = () => {
    missing.sort(([a], [b]) => a - b)
    /** @type {typeof missing} */
    const merged = []
    for (const [first, last] of missing) {
      const before = merged.at(-1)
      if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last)
      else merged.push([first, last])
    }
    missing = merged
  }
  const put = (/** @type {number} */ first, /** @type {number} */ last) => {
    if (!complete) return
    const before = missing.at(-1)
    if (before && before[1] + 1 === first) {
      before[1] = last
      return
    }
    if (missing.length >= mostRanges) merge()
    if (missing.length < mostRanges) missing.push([first, last])
    else complete = false
  }

  return {
    /** @param {Pick<Account, 'agent'>} account */
    opened({ agent }) {
      ticks.set(agent, (ticks.get(agent) ?? 0) + 1)
    },
    /** Call when none of its items was sent. @param {Pick<Account, 'first' | 'count'>} account */
    skipped: ({ first, count }) => put(first, first + count - 1),
    /** @param {Pick<Account, 'first' | 'count' | 'worst'>} account */
    closed({ first, count, worst }) {
      if (!worst) return
      for (let i = 0; i < count; i++) {
        if (worst[i] === 0) continue
        const from = i
        while (i + 1 < count && worst[i + 1] !== 0) i++
        put(first + from, first + i)
      }
    },
    /** @returns {Written} */
    written() {
      merge()
      const agents = [...ticks].map(([agent, offered]) => ({ agent, ticks: offered }))
      return { agents: agents.sort((a, b) => a.agent - b.agent), not_acked: missing, complete }
    },
  }
}

/** What several wrote, each its own agents. @param {readonly Written[]} parts @param {boolean} isAll whether these are all parts */
export const joinedWritten = (parts, isAll) =>
  parts.length === 0
    ? null
    : {
        ...parts[0],
        agents: parts.flatMap(({ agents }) => agents),
        not_acked: parts.flatMap(({ not_acked: lost }) => lost),
        complete: isAll && parts.every(({ complete }) => complete),
      }
