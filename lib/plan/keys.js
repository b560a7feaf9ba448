// Key names, as the published experiments have them.
import { slotCount, tagsOf } from '../wire/slot.js'

/** @typedef {import('../wire/encode.js').Part} Part */

/**
 * Tags that lay n sets into the middles of n equal parts of the slots.
 * @param {number} n
 */
const spreadTags = (n) => tagsOf(Array.from({ length: n }, (_, j) => Math.floor(((j + 0.5) * slotCount) / n)))

/**
 * @param {string} prefix
 * @param {number} count
 * @param {'plain' | 'same-slot' | 'spread'} placement
 */
export const sortedSetKeys = (prefix, count, placement) => {
  if (count === 1 && placement === 'plain') return [`${prefix}latest-ids`]
  const tags = placement === 'spread' ? spreadTags(count) : []
  return Array.from({ length: count }, (_, j) => {
    const base = `${prefix}latest-ids:${j}`
    if (placement === 'same-slot') return `${base}{forced-slot}`
    return placement === 'spread' ? `${base}{${tags[j]}}` : base
  })
}

/** @type {Part} */
const minute = Object.freeze({ hole: /** @type {const} */ ('minute'), width: 8 })

/**
 * Every key that a plan can touch.
 * @param {{ prefix: string, quantity: number, sets: readonly string[], extraSets: readonly string[], taggedItems: boolean, buckets: number }} plan
 */
export const keysOf = ({ prefix, sets, taggedItems, buckets }) => {
  const tags = taggedItems ? sets.map((set) => set.slice(set.indexOf('{'))) : []
  const itemBase = `${prefix}item:`
  const hashBase = `${prefix}latest-hash:`
  const bucketBase = `${prefix}latest-fields:`
  return {
    item: taggedItems
      ? (/** @type {number} */ n) => itemBase + n + tags[n % tags.length]
      : (/** @type {number} */ n) => itemBase + n,
    hash: (/** @type {number} */ n) => hashBase + n,
    set: (/** @type {number} */ n) => sets[n % sets.length],
    bucket: (/** @type {number} */ n) => bucketBase + (n % buckets),
    list: `${prefix}latest-ids-list`,
    stream: `${prefix}latest-stream`,
    /** @type {Part[]} */
    minuteSet: [`${prefix}latest-ids:`, minute],
    /** @type {Part[]} */
    minuteCount: [`${prefix}latest-ids-count:`, minute],
  }
}

/** @param {string} prefix @param {number} count */
export const extraSetKeys = (prefix, count) =>
  Array.from({ length: count }, (_, j) => `${prefix}latest-ids-extra:${j + 1}`)
