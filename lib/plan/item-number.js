// From an id back to its item: the opposite of the key names.
import { keysOf } from './keys.js'

/**
 * @param {{ prefix: string, quantity: number, sets: readonly string[], extraSets: readonly string[], taggedItems: boolean, buckets: number, strategy: string }} plan
 * @returns {(bytes: Buffer, from: number, to: number) => number} -1 where the plan would not name an item so
 */
export const itemNumberOf = (plan) => {
  const keys = keysOf(plan)
  const name = plan.strategy === 'hash' ? keys.hash : keys.item
  const base = Buffer.from(name(0).slice(0, name(0).indexOf(':', plan.prefix.length) + 1))
  const tags = plan.taggedItems ? plan.sets.map((set) => Buffer.from(set.slice(set.indexOf('{')))) : null
  return (bytes, from, to) => {
    let at = from + base.length
    if (at >= to || bytes[at] < 49) return -1
    for (let i = 0; i < base.length; i++) if (bytes[from + i] !== base[i]) return -1
    let n = 0
    for (; at < to && bytes[at] >= 48 && bytes[at] <= 57; at++) n = n * 10 + bytes[at] - 48
    if (!Number.isSafeInteger(n)) return -1
    if (!tags) return at === to ? n : -1
    const tag = tags[n % tags.length]
    return tag.compare(bytes, at, to) === 0 ? n : -1
  }
}
