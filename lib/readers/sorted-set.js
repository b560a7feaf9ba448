// Sorted sets of ids, each value under its own key: what sorted-set and both scripts write.
import { get } from './declare.js'
import { asksOfSets } from './parts.js'

/** @param {import('./context.js').ReadContext} context @returns {import('./declare.js').Declaration} */
export const sortedSet = (context) => ({
  asks: asksOfSets(context, { members: 'members', scored: 'scored' }),
  value: get,
  dated: true,
  unique: false,
})
