// When each consumer fetches: at absolute deadlines, or a period after its last fetch.
import { longestTimerMs } from './settlement.js'

/**
 * @typedef {import('./fetch.js').Fetched} Fetched
 *
 * @typedef {object} ConsumerEvents
 * @property {(consumer: number, fetched: Fetched) => void} onFetched
 * @property {(consumer: number, deadlines: number) => void} onOverrun so many fetches could not start on time
 */

/**
 * The fetches of all consumers of the run begin at even distances over the period; these are ours.
 * @param {{ agents: readonly number[], totalAgents: number, consumers: number, periodMs: number }} plan
 */
export const consumerPhases = ({ agents, totalAgents, consumers, periodMs }) =>
  agents.flatMap((agent) =>
    Array.from({ length: consumers }, (_, k) => {
      const place = (agent - 1) * consumers + k
      return { consumer: place, phaseMs: (periodMs * place) / (totalAgents * consumers) }
    }),
  )

/**
 * @param {object} needs
 * @param {import('../plan/read-plan.js').ReadPlan} needs.plan
 * @param {(consumer: number) => () => Promise<Fetched>} needs.fetcher
 * @param {() => number} needs.clock
 * @param {ConsumerEvents} needs.events
 */
export const consumersOf = ({ plan, fetcher, clock, events }) => {
  const { periodMs, durationMs } = plan
  let startMs = 0
  let stopped = false
  let busy = 0
  /** @type {Set<NodeJS.Timeout>} */
  const timers = new Set()
  /** @type {() => void} */
  let finish = () => {}
  /** The time is over, or somebody stopped it; fetches may still be under way. */
  const over = new Promise((resolve) => {
    finish = () => resolve(undefined)
  })
  /** @type {unknown} */
  let fault = null

  const elapsed = () => (startMs === 0 ? 0 : clock() - startMs)
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

  /** @param {{ consumer: number, phaseMs: number }} one */
  const loop = ({ consumer, phaseMs }) => {
    const fetch = fetcher(consumer)
    const next = (/** @type {number} */ index) => {
      const now = elapsed()
      if (plan.pacing === 'closed') return at(now + periodMs, () => turn(index + 1))
      // A deadline that passed while the fetch before was under way is not made up for: it is counted.
      const due = Math.max(index + 1, Math.ceil((now - phaseMs) / periodMs))
      const last = durationMs === null ? due : Math.min(due, Math.ceil((durationMs - phaseMs) / periodMs))
      if (last > index + 1) events.onOverrun(consumer, last - index - 1)
      at(phaseMs + due * periodMs, () => turn(due))
    }
    const turn = async (/** @type {number} */ index) => {
      if (isOver(plan.pacing === 'closed' ? elapsed() : phaseMs + index * periodMs)) return
      busy++
      try {
        events.onFetched(consumer, await fetch())
      } catch (error) {
        fault ??= error
        stop()
      } finally {
        busy--
      }
      if (!stopped) next(index)
    }
    at(phaseMs, () => turn(0))
  }

  const stop = () => {
    stopped = true
    for (const timer of timers) clearTimeout(timer)
    finish()
  }

  return {
    over,
    elapsed,
    start() {
      startMs = clock()
      for (const one of consumerPhases(plan)) loop(one)
      if (durationMs !== null) at(durationMs, finish)
    },
    stop,
    /** Fetches under way. */
    busy: () => busy,
    /**
     * Waits for fetches under way, but not for ever.
     * @param {number} limitMs
     * @param {AbortSignal} atOnce
     */
    async settle(limitMs, atOnce) {
      const deadline = clock() + limitMs
      while (busy > 0 && clock() < deadline && !atOnce.aborted) {
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      if (fault) throw fault
      return busy === 0
    },
  }
}
