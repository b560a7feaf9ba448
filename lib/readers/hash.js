// Sorted sets of ids, each value a field of a hash of its own.
import { asksOfSets } from './parts.js'

/** @param {import('./context.js').ReadContext} context @returns {import('./declare.js').Declaration} */
export const hash = (context) => ({
  asks: asksOfSets(context, { members: 'members', scored: 'scored' }),
  value: { name: 'HGET', after: ['value'], many: false },
  dated: true,
  unique: false,
})
