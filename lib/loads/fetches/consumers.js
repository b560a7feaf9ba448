// When each consumer begins a fetch: at absolute deadlines, one in each period, or a period after its last fetch.
import { deferred, longestTimerMs, settledWithin } from '../../base/timers.js'
import { evenTimeOf } from '../../traffic/rates.js'

/**
 * @import { ReadPlan } from './plan.js'
 * @import { Fetched } from './fetch.js'
 *
 * @typedef {object} ConsumerEvents
 * @property {(consumer: number, fetched: Fetched) => void} onFetched
 * @property {(consumer: number, deadlines: number) => void} onOverrun so often a fetch could not start on time
 */

// A fetch at the same moment of each period always finds the items of a writer equally old: the moment goes back and
// forth through the period, so far from one fetch to the next, and never comes twice.
const stride = Math.sqrt(5) - 2

/**
 * When each fetch of a consumer is due, after the start; those of all consumers are spread over the period too.
 * @param {{ totalAgents: number, consumers: number, periodMs: number }} plan
 * @param {number} consumer of all consumers of the run, from 0
 * @returns {(index: number) => number} one in each period
 */
export const dueTimes = ({ totalAgents, consumers, periodMs }, consumer) => {
  const first = stride / 2 + (2 * consumer) / (totalAgents * consumers)
  return (index) => {
    const way = (first + index * stride) % 2
    return (index + Math.min(way, 2 - way)) * periodMs
  }
}

/** Those of this process. @param {{ agents: readonly number[], consumers: number }} plan */
export const consumersIn = ({ agents, consumers }) =>
  agents.flatMap((agent) => Array.from({ length: consumers }, (_, k) => (agent - 1) * consumers + k))

/** The time of a load of consumers, and what is under way. @param {() => number} clock @param {() => void} stop */
export const fetchesUnderWay = (clock, stop) => {
  // The time is over, or it was stopped; some may still be under way.
  const { over, finish } = deferred()
  let startMs = 0
  let busy = 0
  /** @type {unknown} */
  let fault = null
  return {
    ...{ over, finish },
    elapsed: () => (startMs === 0 ? 0 : clock() - startMs),
    begin: () => {
      startMs = clock()
      return startMs
    },
    /** A fault of the program ends the load. @param {() => Promise<void>} fetching */
    async fetch(fetching) {
      busy++
      try {
        await fetching()
      } catch (error) {
        fault ??= error
        stop()
      } finally {
        busy--
      }
    },
    /** How many are under way. */
    busy: () => busy,
    /**
     * Waits for those under way, but not for ever.
     * @param {number} limitMs
     * @param {AbortSignal} atOnce
     */
    async settle(limitMs, atOnce) {
      const whole = await settledWithin(limitMs, () => busy > 0, { clock, atOnce })
      if (fault) throw fault
      return whole
    },
  }
}

/**
 * @param {object} needs
 * @param {ReadPlan} needs.plan
 * @param {(consumer: number) => () => Promise<Fetched>} needs.fetcher
 * @param {() => number} needs.clock
 * @param {ConsumerEvents} needs.events
 */
export const consumersOf = ({ plan, fetcher, clock, events }) => {
  const { periodMs, durationMs, rates } = plan
  const even = rates ? evenTimeOf(rates) : null
  let stopped = false
  /** @type {Set<NodeJS.Timeout>} */
  const timers = new Set()
  const stop = () => {
    stopped = true
    for (const timer of timers) clearTimeout(timer)
    finish()
  }
  const { over, finish, elapsed, begin, fetch: underWay, busy, settle } = fetchesUnderWay(clock, stop)

  const isOver = (/** @type {number} */ atMs) => stopped || (durationMs !== null && atMs >= durationMs)
  const at = (/** @type {number} */ ms, /** @type {() => void} */ then) => {
    const waitMs = Math.max(0, ms - elapsed())
    const timer = setTimeout(
      () => {
        timers.delete(timer)
        if (waitMs > longestTimerMs) at(ms, then)
        else then()
      },
      Math.min(waitMs, longestTimerMs),
    )
    timers.add(timer)
  }

  const loop = (/** @type {number} */ consumer) => {
    const fetch = fetcher(consumer)
    const evenly = dueTimes(plan, consumer)
    const dueMs = even ? (/** @type {number} */ index) => even.momentOf(evenly(index)) : evenly
    /** The first fetch that is due then or later. @param {number} ms */
    const firstFrom = (ms) => {
      const index = Math.floor((even?.evenOf(ms) ?? ms) / periodMs)
      return dueMs(index) < ms ? index + 1 : index
    }
    const next = (/** @type {number} */ index) => {
      const now = elapsed()
      if (plan.pacing === 'closed') return at(now + periodMs, () => turn(index + 1))
      // A deadline that passed while the previous fetch was still running is not made up for: it is counted.
      const due = Math.max(index + 1, firstFrom(now))
      const last = durationMs === null ? due : Math.min(due, firstFrom(durationMs))
      if (last > index + 1) events.onOverrun(consumer, last - index - 1)
      at(dueMs(due), () => turn(due))
    }
    const turn = async (/** @type {number} */ index) => {
      if (isOver(plan.pacing === 'closed' ? elapsed() : dueMs(index))) return
      await underWay(async () => events.onFetched(consumer, await fetch()))
      if (!stopped) next(index)
    }
    at(dueMs(0), () => turn(0))
  }

  return {
    ...{ over, elapsed, stop, busy, settle },
    start() {
      begin()
      for (const consumer of consumersIn(plan)) loop(consumer)
      if (durationMs !== null) at(durationMs, finish)
    },
  }
}
