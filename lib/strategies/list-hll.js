// A list, and a HyperLogLog a minute that counts what is unique in it.
import { gather } from './declare.js'
import { list } from './list.js'
import { expire, members } from './parts.js'

/** @param {import('./context.js').Context} context */
export const listHll = (context) => {
  const { keys, maxMembers } = context
  return [
    ...list(context),
    gather(maxMembers, () => keys.minuteCount, members('PFADD', keys.item)),
    expire([keys.minuteCount], 180),
  ]
}
