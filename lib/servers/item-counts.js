// How many items a plan's keys hold that gather items: asked of the servers, a command a key.
import { ownerOf } from './topology.js'

/**
 * @import { strategyOf } from '../workloads/bound-strategy.js'
 * @import { Target } from './open.js'
 */
/** @typedef {ReturnType<typeof strategyOf>} Strategy */

// How many answers are waited for at once.
const askedAtOnce = 1000
const samples = 1000

/**
 * @param {Pick<Target, 'topology' | 'control'>} target
 * @param {Pick<Strategy, 'holders'>} strategy
 * @param {number} nowMs epoch
 * @returns {Promise<number[]>} of each family of such keys
 */
export const gatheredIn = (target, strategy, nowMs) =>
  ofHolders(target, strategy, nowMs, ({ command }) => [command])

/**
 * Bytes of the same keys, by enough of their elements.
 * @param {Pick<Target, 'topology' | 'control'>} target
 * @param {Pick<Strategy, 'holders'>} strategy
 * @param {number} nowMs epoch
 */
export const holderBytesIn = (target, strategy, nowMs) =>
  ofHolders(target, strategy, nowMs, () => ['MEMORY', 'USAGE'], ['SAMPLES', String(samples)])

/**
 * @param {Pick<Target, 'topology' | 'control'>} target
 * @param {Pick<Strategy, 'holders'>} strategy
 * @param {number} nowMs epoch
 * @param {(holder: { command: string }) => string[]} ask words before the key
 * @param {string[]} [after] words behind it
 * @returns {Promise<number[]>} the sum of each family
 */
const ofHolders = async ({ topology, control }, strategy, nowMs, ask, after = []) => {
  /** @type {number[]} */
  const counts = []
  for (const { keys, ...holder } of strategy.holders().counts(Math.floor(nowMs / 60_000))) {
    let sum = 0
    for (let from = 0; from < keys.length; from += askedAtOnce) {
      const some = keys.slice(from, from + askedAtOnce)
      const [name, ...before] = ask(holder)
      const asked = some.map((key) => control(ownerOf(topology, key)).call(name, ...before, key, ...after))
      for (const n of await Promise.all(asked)) sum += Number(n)
    }
    counts.push(sum)
  }
  return counts
}
