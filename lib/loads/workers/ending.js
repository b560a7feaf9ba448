// When a run of workers is over, and events without repeats.
import { alarm, deferred } from '../../base/timers.js'
import { onesIn } from '../../probes/bits.js'
import { signs } from '../../servers/queue-accounts.js'
import { contentsOf } from './contents.js'

/**
 * @import { Redis } from 'ioredis'
 * @import { Sets } from '../../probes/jobs.js'
 * @import { strategyOf } from '../../workloads/bound-strategy.js'
 * @import { WorkPlan } from './plan.js'
 */

// A server that is away is waited for this long.
export const goneMs = 60_000
const repeatedMs = 10_000

/**
 * An event repeated within ten seconds is counted, and the count is reported with the next one.
 * @param {(kind: string, text: string) => void} event
 * @param {() => number} elapsed
 */
export const withoutRepeats = (event, elapsed) => {
  /** @type {Map<string, { shownMs: number, times: number }>} */
  const known = new Map()
  return (/** @type {string} */ kind, /** @type {string} */ text) => {
    const key = `${kind} ${text}`
    const last = known.get(key)
    if (last && elapsed() - last.shownMs < repeatedMs) {
      last.times++
      return
    }
    known.set(key, { shownMs: elapsed(), times: 0 })
    event(kind, last && last.times > 0 ? `${text} (${last.times} more times)` : text)
  }
}

/** @param {readonly Uint8Array[]} sets */
export const onesOf = (sets) => sets.reduce((sum, set) => sum + onesIn(set), 0)
/** @param {Sets} sets */
const jobsOf = (sets) => onesOf(Object.values(sets))

/** Ends the run: at its time, with `drain` when nothing is left, or when its server is gone. */
export const endingOf = (
  /** @type {{ plan: WorkPlan, client: () => Redis, strategy: ReturnType<typeof strategyOf>, elapsed: () => number, onGone: () => void }} */ needs,
) => {
  const { plan, client, strategy, elapsed, onGone } = needs
  /** @type {number | null} */
  let silentSinceMs = null
  let cancelEnd = () => {}
  const { over, finish: end } = deferred()
  const finish = () => {
    cancelEnd()
    end()
  }
  return {
    over,
    start: () => {
      if (plan.durationMs !== null) cancelEnd = alarm(plan.durationMs, elapsed, finish)
    },
    stop: () => finish(),
    /** @param {number | null} waiting null: the server did not answer */
    async check(waiting) {
      if (waiting === null) {
        silentSinceMs ??= elapsed()
        if (plan.durationMs !== null || elapsed() - silentSinceMs < goneMs) return
        onGone()
        finish()
        return
      }
      silentSinceMs = null
      if (!plan.work.drain || waiting > 0) return
      const { makers } = await signs(client(), strategy.accounts())
      if (makers.length === 0 || makers.some(({ atWork }) => atWork)) return
      const { queued, taken, passed } = await contentsOf(client(), strategy)
      // Jobs in a second queue that these workers do not drain do not count.
      const others = plan.work.outputs === null ? jobsOf(passed) : 0
      if (jobsOf(queued) + jobsOf(taken) === others) finish()
    },
  }
}
