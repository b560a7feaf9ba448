// Each value under its own key; the ids in a list that is cut to the newest.
import { gather, once } from './declare.js'
import { expire, members, storeItem } from './parts.js'

/** @param {import('./context.js').Context} context */
export const list = (context) => {
  const { keys, maxMembers, quantity, lingerS } = context
  return [
    storeItem(context),
    gather(maxMembers, () => keys.list, members('RPUSH', keys.item), { repeatable: false }),
    once([keys.list], (key) => ['LTRIM', key, -quantity, -1]),
    expire([keys.list], lingerS, { everyMs: 10_000 }),
  ]
}
