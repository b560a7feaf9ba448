// The number of items that are alive at once, and the sizes of structures that follow from it. Pure.

import { isDrawn } from './items.js'
import { paceOf } from './pace.js'

/** @typedef {{ quantity: number, periodMs?: number, chunks?: number, ttlS: number, once: boolean, rate?: 'max' | null, order?: string, churn?: string | null }} Lives */

/** Lifetime of the keys of a minute, from their last item on. */
export const minuteKeyS = 180

/** Items a second that are new. @param {Pick<Lives, 'quantity' | 'churn'>} plan */
export const newHz = ({ quantity, churn }) => (churn ? quantity * Number(paceOf(churn)) * 1000 : 0)

// Without a schedule the server is the limit; this is above every measured rate.
const fastestHz = 700_000

/** Items that all writers of a plan write in a second, at most. @param {Pick<Lives, 'quantity' | 'periodMs' | 'rate'>} plan */
export const writtenHz = ({ quantity, periodMs = 1000, rate }) =>
  rate === 'max' ? fastestHz : (quantity * 1000) / periodMs

/**
 * Whether structures may keep items beyond their ttl: each is written once, or possibly not again before it expires.
 * @param {Pick<Lives, 'once' | 'ttlS' | 'periodMs' | 'order' | 'churn'>} plan
 */
export const hasDead = ({ once, ttlS, periodMs = 1000, ...items }) =>
  once || isDrawn(items) || ttlS * 1000 < periodMs

/** Length to which a list or a stream is trimmed, so that items have expired before they are removed. @param {Lives} plan */
export const keptItems = (plan) => {
  const { quantity, chunks = 1, ttlS, once } = plan
  if (!once && !isDrawn(plan)) return quantity
  // The items of a tick expire one after the other, while the next tick is written.
  return Math.max(quantity, Math.ceil(writtenHz(plan) * ttlS) + Math.ceil(quantity / chunks))
}

/**
 * The least number of items of a plan alive at any moment, once it has been written for a ttl and an interval.
 * @param {Pick<Lives, 'quantity' | 'periodMs' | 'chunks' | 'ttlS' | 'once' | 'order' | 'churn'>} plan
 */
export const leastAlive = (plan) => {
  const { quantity, periodMs = 1000, chunks = 1, ttlS, once } = plan
  if (!hasDead(plan)) return quantity
  // Which items are drawn is not known.
  if (isDrawn(plan)) return 0
  const alive = (Math.floor((ttlS * 1000 * chunks) / periodMs) * quantity) / chunks
  return once ? alive : Math.min(quantity, alive)
}
