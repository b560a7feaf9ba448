// How many items a plan's keys hold that gather items: asked of the servers, a command a key.
import { slotOf } from '../wire/slot.js'

/** @typedef {ReturnType<typeof import('../workloads/of-plan.js').strategyOf>} Strategy */

// Answers that are waited for at once.
const askedAtOnce = 1000

/**
 * @param {Pick<import('./open.js').Target, 'topology' | 'control'>} target
 * @param {Pick<Strategy, 'holders'>} strategy
 * @param {number} nowMs epoch
 * @returns {Promise<number[]>} of each family of such keys
 */
export const gatheredIn = async ({ topology: { masters, owners }, control }, strategy, nowMs) => {
  const counts = /** @type {number[]} */ ([])
  for (const { command, keys } of strategy.holders().counts(Math.floor(nowMs / 60_000))) {
    let sum = 0
    for (let from = 0; from < keys.length; from += askedAtOnce) {
      const some = keys.slice(from, from + askedAtOnce)
      const asked = some.map((key) => control(masters[owners ? owners[slotOf(key)] : 0]).call(command, key))
      for (const n of await Promise.all(asked)) sum += Number(n)
    }
    counts.push(sum)
  }
  return counts
}
