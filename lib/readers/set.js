// The members of this minute's set and of the one before. A set knows no order, so with a limit any members will do.
import { get, ids, number } from './declare.js'

/** @param {import('./context.js').ReadContext} context @returns {import('./declare.js').Declaration} */
export const set = ({ limit, minuteSet }) => ({
  asks: ({ nowMs }) => {
    const now = minuteSet(nowMs, 0)
    const before = minuteSet(nowMs, 1)
    const members = (/** @type {string} */ key) =>
      ids(limit > 0 ? ['SRANDMEMBER', key, String(limit)] : ['SMEMBERS', key], 'members')
    return [
      number('cardinality', ['SCARD', now]),
      number('scard_minute_before', ['SCARD', before]),
      members(now),
      members(before),
    ]
  },
  value: get,
  dated: false,
  unique: true,
})
