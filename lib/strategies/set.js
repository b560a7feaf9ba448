// Each value under its own key; the ids in one set a minute.
import { gather } from './declare.js'
import { keep, members, storeItem } from './parts.js'

/** @param {import('./context.js').Context} context */
export const set = (context) => {
  const { keys, maxMembers, minuteKeyS } = context
  return [
    keep([keys.minuteSet], minuteKeyS, (n) => ['SADD', keys.item(n)]),
    storeItem(context),
    gather(maxMembers, () => keys.minuteSet, members('SADD', keys.item)),
  ]
}
