// Each value under its own key; the ids in a list that is cut to the newest.
import { gather, once } from './declare.js'
import { keep, members, storeItem } from './parts.js'

/** @param {import('./context.js').Context} context */
export const list = (context) => {
  const { keys, maxMembers, kept, lingerS, renewal } = context
  return [
    keep([keys.list], lingerS, (n) => ['RPUSH', keys.item(n)], renewal),
    storeItem(context),
    gather(maxMembers, () => keys.list, members('RPUSH', keys.item), { repeatable: false }),
    once([keys.list], (key) => ['LTRIM', key, -kept, -1]),
  ]
}
