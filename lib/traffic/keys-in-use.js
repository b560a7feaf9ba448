// The keys that a cache has after long use, as if requests had come before the first one. Pure.
import { mix } from '../base/random.js'
import { drawsOf } from './items.js'

/** @import { ItemFields } from './items.js' */

const salt = 0x3c6ef3
const drawsOfKey = 20
const mostDraws = 10e6
// What a server takes without keys, and what each takes beside its value: of keys written in one second none is older, so that evicting
// would take any.
const emptyBytes = 1.5e6
const besideValue = 80

/**
 * How many keys a fill writes: those that there is room for.
 * @param {object} about
 * @param {number} about.items keys that there are
 * @param {number} about.stored bytes of a value
 * @param {number} about.limit maxmemory of all masters
 * @param {number} about.masters
 */
export const filledCount = ({ items, stored, limit, masters }) =>
  Math.min(items, Math.max(1, Math.floor((limit - masters * emptyBytes) / (stored + besideValue))))

/**
 * Calls for keys, the last to be evicted first and some more than once, until it returns false.
 * @param {ItemFields} items
 * @param {string | null} policy by LFU popular keys stay, by others those that were used last
 * @param {(n: number) => boolean} take
 */
export const eachInUse = (items, policy, take) => {
  const { order, count, seed, first = 1 } = items
  const isByUse = order !== 'sequential' && order !== 'split' && !policy?.endsWith('-lfu')
  const draw = drawsOf({ ...items, seed: mix(seed ^ salt) })
  const draws = isByUse ? Math.min(mostDraws, drawsOfKey * count) : 0
  for (let i = 0; i < draws; i++) if (!take(draw(0))) return
  for (let n = first; n < first + count; n++) if (!take(n)) return
}

/** So many different ones, in the order in which they are written: the last to be evicted last. @param {ItemFields} items @param {string | null} policy @param {number} most */
export const keysInUse = (items, policy, most) => {
  const { count, first = 1 } = items
  const seen = new Uint8Array(Math.ceil(count / 8))
  const keys = new Float64Array(most)
  let left = most
  eachInUse(items, policy, (n) => {
    const at = n - first
    const bit = 1 << (at & 7)
    if (seen[at >> 3] & bit) return true
    seen[at >> 3] |= bit
    keys[--left] = n
    return left > 0
  })
  return keys
}
