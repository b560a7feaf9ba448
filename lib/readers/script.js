// The same in one call: lua/fetch-latest-items.lua reads the sorted sets and the values.

import { get } from './declare.js'

/** @param {import('./context.js').ReadContext} context @returns {import('./declare.js').Declaration} */
export const script = ({ plan, sets, limit, floor }) => ({
  asks: ({ nowMs }) => [
    {
      kind: 'ids',
      key: sets[0],
      args: ['EVALSHA', plan.scripts.fetch, String(sets.length), ...sets, floor(nowMs), String(limit)],
      shape: 'script',
    },
  ],
  value: null,
  again: get,
  dated: true,
  unique: false,
})
