// What a writing run counts and times as it goes.
import { latencyOf, series } from '../measure/latency.js'
import { ledgerOf } from '../measure/ledger.js'
import { operationsOf } from '../measure/operations.js'

// A first byte later than this is told as a late tick.
const lateMs = 10

/** Counts ticks, each of which every agent tells of: about the same time, so that a few are remembered. */
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

/** @param {import('../plan/plan.js').Plan} plan @param {() => boolean} [isMeasured] whether the warm-up is over */
export const recordsOf = (plan, isMeasured = () => true) => {
  const latency = latencyOf()
  const lateness = series()
  const felt = series()
  const renewals = series()
  const late = tickCounter()
  return {
    ledger: plan.flow === 'clients' ? operationsOf({ isMeasured }) : ledgerOf(plan),
    latency,
    /** How long connections took that were opened anew. */
    renewals,
    /** By the bystander. */
    felt,
    /** A tick's first byte was sent. @param {import('../transport/connection.js').Tick} tick */
    begun({ index, account, firstMs, dueMs }) {
      if (!account.measured || firstMs === null) return
      const behindMs = firstMs - dueMs
      lateness.record(behindMs * 1000)
      if (behindMs > lateMs) late.add(index)
    },
    /** An operation of a schedule was sent. @param {number} behindMs */
    sent(behindMs) {
      lateness.record(behindMs * 1000)
    },
    lateTicks: () => ({ late: late.count(), lateness_us: lateness.whole() ?? null }),
    close() {
      latency.close()
      lateness.close()
      felt.close()
      renewals.close()
    },
  }
}

/** @typedef {ReturnType<typeof recordsOf>} Records */
