// The newest of a list; two writers may have pushed an id twice before it was cut.
import { get, ids, number } from './declare.js'

/** @param {import('./context.js').ReadContext} context @returns {import('./declare.js').Declaration} */
export const list = ({ keys, limit }) => ({
  asks: () => [
    number('cardinality', ['LLEN', keys.list]),
    ids(['LRANGE', keys.list, limit > 0 ? String(-limit) : '0', '-1'], 'members'),
  ],
  value: get,
  dated: false,
  unique: true,
})
