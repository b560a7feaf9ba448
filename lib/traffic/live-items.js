// How many items are alive at once, and what follows from that. Pure.

import { isDrawn } from './items.js'
import { paceOf } from './pace.js'

/** @typedef {{ quantity: number, periodMs?: number, chunks?: number, ttlS: number, once: boolean, rate?: 'max' | null, order?: string, churn?: string | null }} Lives */

/** Lifetime of the keys of a minute, from their last item on. */
export const minuteKeyS = 180

/** Items a second that are new. @param {Pick<Lives, 'quantity' | 'churn'>} plan */
export const newHz = ({ quantity, churn }) => (churn ? quantity * Number(paceOf(churn)) * 1000 : 0)

// With no schedule the server is the limit; nothing measured was faster.
const fastestHz = 700_000

/** Items that all writers of a plan write in a second, at most. @param {Pick<Lives, 'quantity' | 'periodMs' | 'rate'>} plan */
export const writtenHz = ({ quantity, periodMs = 1000, rate }) =>
  rate === 'max' ? fastestHz : (quantity * 1000) / periodMs

/**
 * Whether items outlive their ttl's end in what gathers them: each is written once, or not surely again before it is dead.
 * @param {Pick<Lives, 'once' | 'ttlS' | 'periodMs' | 'order' | 'churn'>} plan
 */
export const hasDead = ({ once, ttlS, periodMs = 1000, ...items }) =>
  once || isDrawn(items) || ttlS * 1000 < periodMs

/**
 * Items that a list or a stream is cut to: none of them is still alive when it is cut off.
 * @param {Lives} plan
 */
export const keptItems = (plan) => {
  const { quantity, chunks = 1, ttlS, once } = plan
  if (!once && !isDrawn(plan)) return quantity
  // Those of a tick die one after the other, and meanwhile the next is there.
  return Math.max(quantity, Math.ceil(writtenHz(plan) * ttlS) + Math.ceil(quantity / chunks))
}

/**
 * Items of a plan that are alive for its ttl at any moment at least, once it has been written for a ttl and an interval.
 * @param {Pick<Lives, 'quantity' | 'periodMs' | 'chunks' | 'ttlS' | 'once' | 'order' | 'churn'>} plan
 */
export const leastAlive = (plan) => {
  const { quantity, periodMs = 1000, chunks = 1, ttlS, once } = plan
  if (!hasDead(plan)) return quantity
  // Which were drawn is not known.
  if (isDrawn(plan)) return 0
  const alive = (Math.floor((ttlS * 1000 * chunks) / periodMs) * quantity) / chunks
  return once ? alive : Math.min(quantity, alive)
}
