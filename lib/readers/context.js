// What a reader may ask about its plan.
import { keysOf } from '../plan/keys.js'

/**
 * @typedef {import('../plan/read-plan.js').ReadPlan} ReadPlan
 * @typedef {ReturnType<typeof readContextOf>} ReadContext
 */

/** @param {ReadPlan} plan */
export const readContextOf = (plan) => {
  const { prefix } = plan
  return {
    plan,
    keys: keysOf(plan),
    sets: [...plan.sets],
    limit: plan.limit,
    buckets: plan.buckets,
    /**
     * Older scores than this are dead. What an earlier plan left behind may live on, but cannot be verified.
     * @param {number} nowMs
     */
    floor: (nowMs) => {
      const oldest = nowMs - plan.ttlS * 1000
      return String(Math.ceil(plan.verify ? Math.max(oldest, plan.startedMs) : oldest))
    },
    /** The minute of a moment, and how many before it. @param {number} nowMs @param {number} before */
    minuteSet: (nowMs, before) => `${prefix}latest-ids:${Math.floor(nowMs / 60_000) - before}`,
    /** @param {number} nowMs @param {number} before */
    minuteCount: (nowMs, before) => `${prefix}latest-ids-count:${Math.floor(nowMs / 60_000) - before}`,
  }
}
