// Sorted sets that hold the values themselves: no GETs.
import { asksOfSets } from './parts.js'

/** @param {import('./context.js').ReadContext} context @returns {import('./declare.js').Declaration} */
export const actualValue = (context) => ({
  asks: asksOfSets(context, { members: 'values', scored: 'scored-values' }),
  value: null,
  dated: true,
  unique: false,
})
