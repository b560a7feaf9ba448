// How many items a plan's keys hold that gather items: asked of the servers, a command a key.
import { ownerOf } from './topology.js'

/** @typedef {ReturnType<typeof import('../workloads/of-plan.js').strategyOf>} Strategy */

// Answers that are waited for at once.
const askedAtOnce = 1000

/**
 * @param {Pick<import('./open.js').Target, 'topology' | 'control'>} target
 * @param {Pick<Strategy, 'holders'>} strategy
 * @param {number} nowMs epoch
 * @returns {Promise<number[]>} of each family of such keys
 */
export const gatheredIn = async ({ topology, control }, strategy, nowMs) => {
  const counts = /** @type {number[]} */ ([])
  for (const { command, keys } of strategy.holders().counts(Math.floor(nowMs / 60_000))) {
    let sum = 0
    for (let from = 0; from < keys.length; from += askedAtOnce) {
      const some = keys.slice(from, from + askedAtOnce)
      const asked = some.map((key) => control(ownerOf(topology, key)).call(command, key))
      for (const n of await Promise.all(asked)) sum += Number(n)
    }
    counts.push(sum)
  }
  return counts
}
