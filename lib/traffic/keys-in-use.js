// The keys that a cache has after long use, as if requests had come before the first one. Pure.
import { mix } from '../base/random.js'
import { drawsOf } from './items.js'

/** @import { ItemFields } from './items.js' */

const salt = 0x3c6ef3
const drawsOfKey = 20
const mostDraws = 10e6
// What each key takes beside its value, at least and at most.
const [leastBeside, mostBeside] = [50, 300]
// Of keys written in one second none is older, so that evicting would take any: this part of the room is filled first, since masters may
// have more keys than others, and tables double. Then each master gets so much of what it has left.
const filledPart = 0.94
const toppedPart = 0.95
const triedPart = 1 / 2

/**
 * How many keys a fill writes: those that there is room for, by what some of them take.
 * @param {object} about
 * @param {number} about.items keys that there are
 * @param {number} about.stored bytes of a value
 * @param {number} about.room bytes that the masters have left; Infinity: they have no limit
 */
export const fillingOf = ({ items, stored, room }) => {
  const fit = (/** @type {number} */ each, part = filledPart) =>
    Math.max(1, Math.min(items, Math.floor((room * part) / each)))
  const [least, most] = [fit(stored + mostBeside), fit(stored + leastBeside, 1)]
  return {
    least,
    most,
    /** How many of them show what they take. */
    tried: least < most ? Math.ceil(least * triedPart) : 0,
    /** How many fit. @param {number} each bytes that a key takes */
    count: (each) => Math.max(least, Math.min(most, fit(each))),
  }
}

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

/**
 * Keys for the room that the masters have left, the last that was not written first; marked as written by -1.
 * @param {Float64Array} keys
 * @param {number} before how many of them come before those that were written at first
 * @param {readonly number[]} rooms bytes that each master has left
 * @param {number} each bytes that a key takes
 * @param {(n: number) => number} ownerOf the place of a key's master
 */
export const toppingOf = (keys, before, rooms, each, ownerOf) => {
  const left = rooms.map((room) => Math.floor((room * toppedPart) / each))
  let wanted = left.reduce((sum, n) => sum + n, 0)
  /** @type {number[]} */
  const found = []
  for (let i = before - 1; i >= 0 && wanted > 0; i--) {
    if (keys[i] < 0 || !(left[ownerOf(keys[i])]-- > 0)) continue
    found.push(keys[i])
    keys[i] = -1
    wanted--
  }
  return Float64Array.from(found.reverse())
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
