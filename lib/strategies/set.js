// Each value under its own key; the ids in one set a minute.
import { gather } from './declare.js'
import { expire, members, storeItem } from './parts.js'

/** @param {import('./context.js').Context} context */
export const set = (context) => {
  const { keys, maxMembers } = context
  return [
    storeItem(context),
    gather(maxMembers, () => keys.minuteSet, members('SADD', keys.item)),
    expire([keys.minuteSet], 180),
  ]
}
