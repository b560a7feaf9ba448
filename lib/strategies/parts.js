// Steps that several strategies share.
import { inlineScript } from '../target/scripts.js'
import { each, floor, gather, once, score } from './declare.js'

/**
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./declare.js').Argument} Argument
 * @typedef {import('./declare.js').Key} Key
 * @typedef {import('./declare.js').Step} Step
 */

// Sent with their text: a few a second, and no server has to know them before.
const purge = inlineScript('purge')
const keepKey = inlineScript('keep-key')

/** The value under a key of its own, with the item's lifetime.
 * @param {Context} context */
export const storeItem = ({ keys, value, ttlS }) => each((n) => ['SETEX', keys.item(n), ttlS, value(n)])

/**
 * One variadic command over the items: NAME key member...
 * @param {string} name
 * @param {(n: number) => Argument} member
 */
export const members = (name, member) => (/** @type {Key} */ key, /** @type {number[]} */ ns) => {
  const args = /** @type {Argument[]} */ ([name, key])
  for (const n of ns) args.push(member(n))
  return args
}

/** ZADD of the items' members with the tick's time.
 * @param {(n: number) => Argument} member */
export const ranked = (member) => (/** @type {Key} */ key, /** @type {number[]} */ ns) => {
  const args = /** @type {Argument[]} */ (['ZADD', key])
  for (const n of ns) args.push(score, member(n))
  return args
}

/**
 * Renews the lifetime of keys that gather items, and makes those that are not there by `make` (a command without its
 * key): it goes before the items, so that such a key never is without a lifetime.
 * @param {Key[]} keys
 * @param {number} seconds
 * @param {(n: number, key: Key) => Argument[]} make
 * @param {{ everyMs?: number }} [options]
 */
export const keep = (keys, seconds, make, options) =>
  once(keys, (key, n) => ['EVAL', keepKey, 1, key, seconds, ...make(n, key)], {
    ...options,
    keyAt: 3,
    runs: ['expire'],
  })

/**
 * Sorted sets: kept, filled by `fill`, and purged of what is dead.
 * @param {Context} context
 * @param {Step[]} fill
 * @param {(n: number) => Argument} member
 * @returns {Step[]}
 */
export const keepSets = (context, fill, member) => {
  const { sets, extraSets, purgeSets, purgeExtraSets, lingerS, renewal } = context
  // Its score is dead, until the same item is ranked or the next purge comes.
  const make = (/** @type {number} */ n, /** @type {Key} */ set) => {
    const j = Math.max(0, sets.indexOf(/** @type {string} */ (set)))
    return ['ZADD', 0, member(n + ((j - (n % sets.length) + sets.length) % sets.length))]
  }
  return [
    keep([...sets, ...extraSets], lingerS, make, renewal),
    ...fill,
    purged(sets, purgeSets),
    ...(extraSets.length > 0 ? [purged(extraSets, purgeExtraSets)] : []),
  ]
}

/**
 * @param {string[]} sets
 * @param {import('./context.js').PurgePace} pace
 */
const purged = (sets, { most, everyMs }) =>
  once(sets, (set) => ['EVAL', purge, 1, set, ['(', floor], most], {
    everyMs,
    paced: true,
    keyAt: 3,
    runs: ['zcount', 'zremrangebyrank'],
  })

/**
 * Sorted sets of what `store` writes.
 * @param {Context} context
 * @param {(n: number) => Argument} member
 * @param {Step[]} [store]
 * @returns {Step[]}
 */
export const rankItems = (context, member, store = []) => {
  const { keys, extraSets, maxMembers } = context
  const fill = [
    gather(maxMembers, keys.set, ranked(member)),
    ...extraSets.map((set) => gather(maxMembers, () => set, ranked(member))),
  ]
  return keepSets(context, [...store, ...fill], member)
}
