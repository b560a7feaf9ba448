// Reading of a course: each fetch is begun when it is due by a consumer that has none under way; what is left when a
// stretch ends and has no consumer is dropped. Times are in milliseconds.
import { operationsOf } from '../../probes/operations.js'
import { coursePacing } from '../course-pacing.js'
import { consumersIn, fetchesUnderWay } from './consumers.js'

/**
 * @import { ReadPlan } from './plan.js'
 * @import { Course } from '../../plan/course.js'
 * @import { recordsOf } from '../write-records.js'
 * @import { ConsumerEvents } from './consumers.js'
 * @import { Fetched } from './fetch.js'
 */

// The limit of clients; a stretch of a search rarely lasts that long.
const maxBehindMs = 5000
const begun = { next: () => true, giveUp: () => {} }

/**
 * @typedef {object} FetchingNeeds
 * @property {ReadPlan} plan
 * @property {{ course: Course, tap: NonNullable<Parameters<typeof recordsOf>[2]> }} conductor
 * @property {(consumer: number) => () => Promise<Fetched>} fetcher
 * @property {() => number} clock
 * @property {ConsumerEvents} events
 */

/** @param {FetchingNeeds} needs */
export const courseFetching = ({ plan, conductor: { course, tap }, fetcher, clock, events }) => {
  const ledger = operationsOf({ isMeasured: () => true })
  const free = consumersIn(plan).map((consumer) => ({ consumer, fetch: fetcher(consumer) }))
  const stop = () => {
    pacing.stop()
    finish()
  }
  const { over, finish, elapsed, begin, fetch: underWay, busy, settle } = fetchesUnderWay(clock, stop)
  let startMs = 0

  /** @param {typeof free[number]} one @param {number} dueMs */
  const fetchOnce = async (one, dueMs) => {
    const sentMs = clock()
    await underWay(async () => {
      const fetched = await one.fetch().catch((error) => {
        ledger.lost('failed', 'FAULT', true)
        throw error
      })
      const [cause] = Object.keys(fetched.failedBy)
      if (cause) ledger.lost('failed', cause, true)
      else {
        ledger.acked(1, 1)
        tap.answered(startMs + dueMs, sentMs, clock(), 1)
      }
      events.onFetched(one.consumer, fetched)
    })
    free.push(one)
    pacing.more()
  }
  const pacing = coursePacing({
    plan: { course, tickItems: 1, maxBehindMs },
    elapsed,
    hasRoom: () => free.length > 0,
    ticks: {
      begin: (_, dueMs) => {
        ledger.offered(1, true)
        fetchOnce(/** @type {typeof free[number]} */ (free.shift()), dueMs)
        return begun
      },
      skip: () => {
        ledger.offered(1, true)
        ledger.lost('dropped', 'MISSED', true)
        events.onOverrun(0, 1)
      },
    },
    timers: { setTimeout, clearTimeout },
  })

  return {
    over,
    elapsed,
    stop,
    ledger,
    busy,
    settle,
    start() {
      startMs = begin()
      pacing.start()
    },
  }
}
