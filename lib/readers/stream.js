// The newest entries of a stream, newest first; ids and values come together. A stream is cut to about its length,
// so the oldest may be there twice.
import { ids, number } from './declare.js'

/** @param {import('./context.js').ReadContext} context @returns {import('./declare.js').Declaration} */
export const stream = ({ keys, limit, floor }) => ({
  asks: ({ nowMs }) => [
    number('cardinality', ['XLEN', keys.stream]),
    ids(
      ['XREVRANGE', keys.stream, '+', floor(nowMs), ...(limit > 0 ? ['COUNT', String(limit)] : [])],
      'entries',
    ),
  ],
  value: null,
  dated: true,
  unique: true,
})
