// Each value in a hash of its own that expires; the ids in a sorted set by time.
import { each } from './declare.js'
import { rankItems } from './parts.js'

/** @param {import('./context.js').Context} context */
export const hash = (context) => {
  const { keys, value, ttlS } = context
  return [
    each((n) => ['HSET', keys.hash(n), 'value', value(n)]),
    each((n) => ['EXPIRE', keys.hash(n), ttlS]),
    ...rankItems(context, keys.hash),
  ]
}
