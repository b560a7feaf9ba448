// When each consumer begins a fetch: at absolute deadlines, one in each period, or a period after its last fetch.
import { deferred, longestTimerMs, settledWithin } from '../../base/timers.js'
import { evenTimeOf } from '../../traffic/rates.js'

/**
 * @import { Part } from '../parts.js'
 * @import { ReadPlan } from './plan.js'
 * @import { Fetched } from './fetch.js'
 *
 * @typedef {object} ConsumerEvents
 * @property {(consumer: number, fetched: Fetched) => void} onFetched
 * @property {(consumer: number, deadlines: number) => void} onOverrun so often a fetch could not start on time
 */

// A fetch at a fixed moment of each period would always find the items equally old, so the moment moves through the period
// by this step, forward and back, and never repeats.
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

/** The consumers of this process or thread, counted over all. @param {{ agents: readonly number[], consumers: number, part?: Part }} plan */
export const consumersIn = ({ agents, consumers, part = { number: 0, of: 1 } }) =>
  agents
    .flatMap((agent) => Array.from({ length: consumers }, (_, k) => (agent - 1) * consumers + k))
    .filter((_, place) => place % part.of === part.number)

/** Time and fetches under way of a load of consumers. @param {() => number} clock @param {() => void} stop */
export const fetchesUnderWay = (clock, stop) => {
  // `over` resolves at the end of the time or when stopped; fetches may still be under way then.
  const { over, finish } = deferred()
  let startMs = 0
  let busy = 0
  /** @type {unknown} */
  let fault = null
  return {
    over,
    finish,
    elapsed: () => (startMs === 0 ? 0 : clock() - startMs),
    begin: () => {
      startMs = clock()
      return startMs
    },
    /** An internal error ends the load. @param {() => Promise<void>} fetching */
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
    busy: () => busy,
    /** Waits at most so long for the fetches under way. @param {number} limitMs @param {AbortSignal} atOnce */
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
    const scheduleNext = (/** @type {number} */ index) => {
      const now = elapsed()
      if (plan.pacing === 'closed') return at(now + periodMs, () => fetchDue(index + 1))
      // A deadline that passed while the previous fetch was running is counted, not made up for.
      const due = Math.max(index + 1, firstFrom(now))
      const last = durationMs === null ? due : Math.min(due, firstFrom(durationMs))
      if (last > index + 1) events.onOverrun(consumer, last - index - 1)
      at(dueMs(due), () => fetchDue(due))
    }
    const fetchDue = async (/** @type {number} */ index) => {
      if (isOver(plan.pacing === 'closed' ? elapsed() : dueMs(index))) return
      await underWay(async () => events.onFetched(consumer, await fetch()))
      if (!stopped) scheduleNext(index)
    }
    at(dueMs(0), () => fetchDue(0))
  }

  return {
    over,
    elapsed,
    stop,
    busy,
    settle,
    start() {
      begin()
      for (const consumer of consumersIn(plan)) loop(consumer)
      if (durationMs !== null) at(durationMs, finish)
    },
  }
}
