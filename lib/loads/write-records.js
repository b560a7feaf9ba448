// Counts and latencies of a writing run.

import { turnsOf } from '../plan/turns.js'
import { binned } from '../probes/bunching.js'
import { latencyOf, series } from '../probes/latency.js'
import { noCounts } from '../probes/ledger.js'
import { isRandom } from '../traffic/even.js'
import { writingOf } from './index.js'

/**
 * @import { Sums } from '../fleet/interval.js'
 * @import { Plan } from './plan.js'
 * @import { Keep } from '../probes/shared-counts.js'
 * @import { Bins } from '../probes/bunching.js'
 * @import { Tick } from '../transport/send-queue.js'
 */

// A first byte later than this makes its tick late.
const lateMs = 10

/** Counts ticks. Every agent reports each one at about the same time, so only the last few are remembered. */
const tickCounter = () => {
  /** @type {Set<number>} */
  const recent = new Set()
  let count = 0
  return {
    /** @param {number} index */
    add(index) {
      if (recent.has(index)) return
      recent.add(index)
      count++
      for (const oldest of recent) {
        if (recent.size <= 10_000) break
        recent.delete(oldest)
      }
    },
    count: () => count,
  }
}

/** Of a thread, whose seconds are added to those of others. @param {ReturnType<typeof latencyOf>} own */
const ofPart = ({ intended, service, ...own }) => ({
  ...own,
  intended: { ...intended, endSecond: intended.endPart },
  service: { ...service, endSecond: service.endPart },
})

/**
 * @param {Plan} plan
 * @param {() => boolean} [isMeasured] whether the warm-up is over
 * @param {{ answered: (dueMs: number, sentMs: number, nowMs: number, items: number) => void }} [tap] is given all latencies as well
 * @param {Keep} [keep] the counts, where other threads see them
 */
export const recordsOf = (plan, isMeasured = () => true, tap = undefined, keep = undefined) => {
  const all = latencyOf({ isFolded: true })
  const own = plan.part ? ofPart(all) : all
  const latency = tap
    ? {
        ...own,
        /** @type {typeof own.record} */
        record: (...times) => {
          own.record(...times)
          tap.answered(...times)
        },
      }
    : own
  const lateness = series({ isFolded: true })
  const late = tickCounter()
  const { isLed } = turnsOf(plan)
  // Threads share what comes at once, so none of them sees how much it is.
  const seen = isRandom(plan) && !plan.part ? { due: binned(), sent: binned() } : null
  /** @type {number | null} */
  let firstBehindMs = null
  const ledger = writingOf(plan).ledger(plan, isMeasured, keep)
  return {
    ledger,
    latency,
    /** Call when the first byte of a tick was sent. @param {Tick} tick */
    begun({ index, account, firstMs, dueMs }) {
      if (firstMs !== null) {
        firstBehindMs ??= firstMs - dueMs
        seen?.due.add(dueMs, account.count)
        seen?.sent.add(firstMs, account.count)
      }
      if (!account.measured || firstMs === null) return
      const behindMs = firstMs - dueMs
      lateness.record(behindMs * 1000)
      if (behindMs > lateMs && isLed(index)) late.add(index)
    },
    /** Call when an operation of a schedule was sent. @param {number} behindMs @param {number} nowMs */
    sent(behindMs, nowMs) {
      lateness.record(behindMs * 1000)
      seen?.due.add(nowMs - behindMs, 1)
      seen?.sent.add(nowMs, 1)
    },
    firstBehindMs: () => firstBehindMs,
    lateOfSecond: plan.part ? lateness.endPart : lateness.endSecond,
    /** Of random arrivals. @returns {Record<string, Bins>} */
    arrivalsOfSecond: () =>
      seen ? { 'arrivals.due': seen.due.take(), 'arrivals.sent': seen.sent.take() } : {},
    lateTicks: late.count,
    /** Begins the measured window anew; call while nothing is under way. */
    restart() {
      Object.assign(ledger.measured, noCounts())
      for (const one of [latency.intended, latency.service, lateness]) one.restart()
    },
    close() {
      latency.close()
      lateness.close()
    },
  }
}

/** @typedef {ReturnType<typeof recordsOf>} Records */

/**
 * The counts so far that are in no memory which threads share.
 * @param {Records} records
 * @param {{ measuredTicks: () => number, nextTick?: () => number }} writing
 */
export const namedSumsOf = ({ ledger, lateTicks }, writing) => ({
  failed_by: { ...ledger.failedBy },
  errors_by: { ...ledger.errorsBy },
  repeated_by: { ...ledger.repeatedBy },
  ticks: { count: writing.measuredTicks(), late: lateTicks(), next: writing.nextTick?.() ?? 0 },
})

/**
 * The counts so far, which a fleet adds up.
 * @param {Records} records
 * @param {{ acked: () => number }} window
 * @param {{ measuredTicks: () => number, nextTick?: () => number }} writing
 * @returns {Sums}
 */
export const sumsOf = (records, window, writing) => {
  const { whole, measured, byAgent, commands } = records.ledger
  return {
    whole: { ...whole },
    measured: { ...measured },
    agents: [...byAgent].map(([agent, counts]) => ({ agent, ...counts })),
    commands: { sent: commands.sent, repeated: commands.repeated, acked: window.acked() },
    ...namedSumsOf(records, writing),
  }
}
