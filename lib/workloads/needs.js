// What a user may need of a data model of latest items. A model declares in `choice` which needs it meets.
import { keysOf } from '../base/typed.js'

/**
 * @typedef {'newest-n' | 'exact-expiry' | 'expiry-by-length' | 'unique-ids' | 'values-included' | 'safe-to-retry'} NeedName
 *
 * @typedef {object} Choice what a model is chosen by
 * @property {string} label
 * @property {readonly NeedName[]} meets
 * @property {string} expiry what old items expire by
 * @property {string} [order] of what is read, where it is not by time
 * @property {string} use when to use it
 * @property {string} [givesUp] beside the needs that it does not meet
 */

/** Each with what a model without it gives up. @type {Readonly<Record<NeedName, { words: string, without: string }>>} */
export const needs = Object.freeze({
  'newest-n': {
    words: 'the newest n can be read, in order of time',
    without: 'has no order: the newest n cannot be read',
  },
  'exact-expiry': {
    words: 'an item is read until its lifetime ends, and no longer',
    without: 'expires by {expiry}, not by the lifetime of each item',
  },
  'expiry-by-length': {
    words: 'the structure is cut to its newest items, of whatever age',
    without: 'has no limit of its length: it holds what is alive',
  },
  'unique-ids': { words: 'an id is read once', without: 'an id may be read twice' },
  'values-included': {
    words: 'values come with the ids',
    without: 'reads ids first, then each value by its id',
  },
  'safe-to-retry': {
    words: 'a write whose reply was lost can be repeated',
    without: 'a repeated write stores the item twice',
  },
})

export const needNames = Object.freeze(keysOf(needs))

/**
 * The needs that a model does not meet; without `choice` it meets none.
 * @param {{ choice: Choice | null }} declared
 * @param {readonly NeedName[]} asked
 */
export const unmetBy = ({ choice }, asked) => asked.filter((need) => !choice?.meets.includes(need))

/** What a user of the model loses, in words. @param {{ choice: Choice | null }} declared @returns {string[]} */
export const givenUpBy = ({ choice }) => {
  if (choice === null) return []
  const { meets, expiry, givesUp } = choice
  const byLength = meets.includes('expiry-by-length')
  return [
    ...needNames
      // No limit of the structure is no loss if each item expires by itself.
      .filter((need) => !meets.includes(need) && need !== 'expiry-by-length')
      .map((need) =>
        need === 'exact-expiry' && byLength
          ? 'keeps the newest n, not the last t seconds'
          : needs[need].without.replace('{expiry}', expiry),
      ),
    ...(givesUp ? [givesUp] : []),
  ]
}
