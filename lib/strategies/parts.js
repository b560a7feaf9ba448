// Steps that several strategies share.
import { each, floor, gather, once, score, since } from './declare.js'

/**
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./declare.js').Argument} Argument
 * @typedef {import('./declare.js').Key} Key
 * @typedef {import('./declare.js').Step} Step
 */

const everyTenSeconds = { everyMs: 10_000 }

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
 * Sorted sets of ids: filled at each tick, and what is dead taken out every ten seconds.
 * @param {Context} context
 * @param {(n: number) => Argument} member
 * @returns {Step[]}
 */
export const rankItems = ({ keys, sets, extraSets, maxMembers, lingerS }, member) => [
  gather(maxMembers, keys.set, ranked(member)),
  ...extraSets.map((set) => gather(maxMembers, () => set, ranked(member))),
  ...keepSets([...sets, ...extraSets], lingerS),
]

/**
 * @param {string[]} sets
 * @param {number} lingerS
 * @returns {Step[]}
 */
export const keepSets = (sets, lingerS) => [
  once(sets, (set) => ['ZREMRANGEBYSCORE', set, since, ['(', floor]], { ...everyTenSeconds, windows: true }),
  expire(sets, lingerS, everyTenSeconds),
]

/**
 * @param {Key[]} keys
 * @param {number} seconds
 * @param {{ everyMs?: number }} [options]
 */
export const expire = (keys, seconds, options) => once(keys, (key) => ['EXPIRE', key, seconds], options)
