// What a writing run counts and times as it goes.
import { latencyOf, series } from '../measure/latency.js'
import { ledgerOf } from '../measure/ledger.js'

// A first byte later than this is told as a late tick.
const lateMs = 10

/** @param {import('../plan/plan.js').Plan} plan */
export const recordsOf = (plan) => {
  const latency = latencyOf()
  const lateness = series()
  const felt = series()
  let late = 0
  return {
    ledger: ledgerOf(plan),
    latency,
    /** By the bystander. */
    felt,
    /** A tick's first byte was sent. @param {import('../drivers/connection.js').Tick} tick */
    begun({ account, firstMs, dueMs }) {
      if (!account.measured || firstMs === null) return
      const behindMs = firstMs - dueMs
      lateness.record(behindMs * 1000)
      if (behindMs > lateMs) late++
    },
    lateTicks: () => ({ late, lateness_us: lateness.whole() ?? null }),
    close() {
      latency.close()
      lateness.close()
      felt.close()
    },
  }
}

/** @typedef {ReturnType<typeof recordsOf>} Records */
