// Writing through a script: one call an item, or one call a set and chunk.
import { each, gather, score } from './declare.js'
import { keepSets } from './parts.js'

/**
 * @typedef {import('./declare.js').Argument} Argument
 * @typedef {import('./context.js').Context} Context
 */

const called = { keyAt: 3, loaded: true, runs: ['setex', 'zadd'] }

/** @param {Context} context */
export const scriptItem = (context) => {
  const { plan, keys, value, ttlS } = context
  const store = each(
    plan.taggedItems
      ? (n) => ['EVALSHA', plan.scripts.storeItem, 2, keys.set(n), keys.item(n), ttlS, score, value(n)]
      : (n) => ['EVALSHA', plan.scripts.storeItem, 1, keys.set(n), ttlS, score, value(n), keys.item(n)],
    called,
  )
  return keepSets(context, [store], keys.item)
}

/** A chunk in one call: cut only when --max-members was asked for.
 * @param {Context} context */
export const scriptBatch = (context) => {
  const { plan, keys, value, ttlS } = context
  const store = gather(
    plan.scriptMembers,
    keys.set,
    (set, ns) => {
      const args = /** @type {Argument[]} */ (['EVALSHA', plan.scripts.storeItems])
      if (plan.taggedItems) {
        args.push(ns.length + 1, set)
        for (const n of ns) args.push(keys.item(n))
        args.push(ttlS, score)
        for (const n of ns) args.push(value(n))
      } else {
        args.push(1, set, ttlS, score)
        for (const n of ns) args.push(keys.item(n), value(n))
      }
      return args
    },
    called,
  )
  return keepSets(context, [store], keys.item)
}
