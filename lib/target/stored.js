// How many items a plan's keys hold, as far as they gather any: asked of the servers, a few commands a key.

import { keysOf } from '../plan/keys.js'
import { slotOf } from '../wire/slot.js'

/** @typedef {import('../plan/plan.js').Plan} Plan */

// Answers that are waited for at once: as many buckets as a large plan has.
const askedAtOnce = 1000

/** The command that counts what a key gathers, and those keys. @param {Plan} plan @param {number} nowMs @returns {[string, readonly string[]]} */
const gatherers = (plan, nowMs) => {
  const { strategy, sets, extraSets, buckets } = plan
  const keys = keysOf(plan)
  if (strategy === 'stream') return ['XLEN', [keys.stream]]
  if (strategy.startsWith('list')) return ['LLEN', [keys.list]]
  if (strategy === 'hash-ttl') return ['HLEN', Array.from({ length: buckets }, (_, b) => keys.bucket(b))]
  if (strategy !== 'set') return ['ZCARD', [...sets, ...extraSets]]
  const minute = Math.floor(nowMs / 60_000)
  const [base] = keys.minuteSet
  return ['SCARD', Array.from({ length: 5 }, (_, before) => `${base}${minute - before}`)]
}

/**
 * @param {Pick<import('./open.js').Target, 'topology' | 'control'>} target
 * @param {Plan} plan
 * @param {number} nowMs epoch
 * @returns {Promise<number[]>} of each key: of sorted sets first those that share the items, then the further ones
 */
export const gatheredIn = async ({ topology: { masters, owners }, control }, plan, nowMs) => {
  const [command, keys] = gatherers(plan, nowMs)
  const counts = /** @type {number[]} */ ([])
  for (let from = 0; from < keys.length; from += askedAtOnce) {
    const some = keys.slice(from, from + askedAtOnce)
    const asked = some.map((key) => control(masters[owners ? owners[slotOf(key)] : 0]).call(command, key))
    counts.push(...(await Promise.all(asked)).map(Number))
  }
  return counts
}
