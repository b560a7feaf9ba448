// Sorted sets that hold the values themselves: no GETs. The newest of several sets are known when all have answered,
// so then the values are kept until they are merged.
import { asksOfSets } from './parts.js'

/** @param {import('./context.js').ReadContext} context @returns {import('./declare.js').Declaration} */
export const actualValue = (context) => ({
  asks: asksOfSets(context, {
    members: 'values',
    scored: context.limit > 0 && context.sets.length > 1 ? 'scored' : 'scored-values',
  }),
  value: null,
  dated: true,
  unique: false,
})
