// Each value under its own key; the ids in one set a minute.
import { byCommand, byId, earlier, gather, get, ids, many, strategy, sum } from '../declare.js'
import { itemKeys, keep, minuteKeys, play, storeItem, workload } from './parts.js'

/**
 * @import { Family } from '../declare.js'
 * @import { LatestFields as PlanFields } from './fields.js'
 */

const setMemberBytes = 68

/** A set has no order, so with a limit any members will do. @param {PlanFields} t @param {Family} key */
const members = (t, key) =>
  t.limit > 0 ? ids('SRANDMEMBER', [key, t.limit], 'members') : ids('SMEMBERS', [key], 'members')

export const set = strategy({
  workload,
  name: 'set',
  title: 'ids in a set per minute, each value under its own key',
  choice: {
    label: 'set per minute',
    meets: ['safe-to-retry'],
    expiry: 'minute',
    order: 'unordered',
    use: 'you ask which ids were active, not in which order',
  },
  flags: [{ name: 'ss', help: 'one set per minute' }],
  keys: (t) => ({
    item: itemKeys(t),
    minute: minuteKeys('latest-ids', 'set', {
      holds: t.live.inMinutes,
      bytesAnItem: setMemberBytes + t.longer,
    }),
  }),
  operations: (t, k) => ({
    store: [
      keep(k.minute, 0, ['SADD', many(k.item)]),
      storeItem(t, k),
      gather('SADD', [k.minute, many(k.item)], { max: t.maxMembers }),
    ],
  }),
  play,
  read: {
    // The members of this minute's set and of the one before.
    fetch: (t, k) => ({
      asks: [
        sum('cardinality', 'SCARD', [k.minute]),
        sum('scard_minute_before', 'SCARD', [earlier(k.minute)]),
        members(t, k.minute),
        members(t, earlier(k.minute)),
      ],
      value: get,
      dated: false,
      unique: true,
    }),
    ids: (k) => k.item,
    counters: (_, k) => [
      { structure: 'SCARD', nature: 'exact, of the minute before', name: 'SCARD', args: [earlier(k.minute)] },
    ],
  },
  check: {
    items: (_, k) => [byId, byCommand('members', 'SMISMEMBER', [k.minute, many(k.item)])],
  },
  repeat: 'safe',
})
