// A list, and a HyperLogLog a minute that counts what is unique in it.
import { gather } from './declare.js'
import { list } from './list.js'
import { keep, members } from './parts.js'

/** @param {import('./context.js').Context} context */
export const listHll = (context) => {
  const { keys, maxMembers, minuteKeyS } = context
  return [
    keep([keys.minuteCount], minuteKeyS, () => ['PFADD']),
    ...list(context),
    gather(maxMembers, () => keys.minuteCount, members('PFADD', keys.item)),
  ]
}
