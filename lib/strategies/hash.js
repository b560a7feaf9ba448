// Each value in a hash of its own that expires; the ids in a sorted set by time.
import { each } from './declare.js'
import { rankItems } from './parts.js'

/** @param {import('./context.js').Context} context */
export const hash = (context) => {
  const { plan, keys, value, ttlS } = context
  // HSET and EXPIRE apart would leave hashes for ever where a writer is killed between them.
  const store = each((n) => ['EVALSHA', plan.scripts.storeHash, 1, keys.hash(n), ttlS, value(n)], {
    keyAt: 3,
    loaded: true,
    runs: ['hset', 'expire'],
  })
  return rankItems(context, keys.hash, [store])
}
