// Each value under its own key; the ids in a list that is cut to the newest.
import { byId, every, family, gather, get, ids, inList, many, strategy, sum } from '../declare.js'
import { itemKeys, keep, play, storeItem, workload } from './parts.js'

/**
 * @import { LatestFields as PlanFields } from './fields.js'
 *
 * @typedef {ReturnType<typeof listKeys>} ListKeys
 */

const listEntryBytes = 14

/** @param {PlanFields} t */
export const listKeys = (t) => ({
  item: itemKeys(t),
  list: family('latest-ids-list', 'list', {
    lifetimeS: t.lingerS,
    holds: t.live.kept,
    bytesAnItem: listEntryBytes + t.longer,
  }),
})

/** @param {PlanFields} t @param {ListKeys} k */
export const storeInList = (t, k) => [
  keep(k.list, t.renewalMs, ['RPUSH', many(k.item)]),
  storeItem(t, k),
  gather('RPUSH', [k.list, many(k.item)], { max: t.maxMembers, repeat: 'never' }),
  every(0, 'LTRIM', [k.list, -t.kept, -1]),
]

/** The newest of it; two writers may have pushed an id twice before it was cut. @param {PlanFields} t @param {ListKeys} k */
export const asksOfList = (t, k) => [
  sum('cardinality', 'LLEN', [k.list]),
  ids('LRANGE', [k.list, t.limit > 0 ? -t.limit : 0, -1], 'members'),
]

/** @param {ListKeys} k */
export const countersOfList = (k) => [
  { structure: 'LLEN', nature: 'length of the list, fresh', name: 'LLEN', args: [k.list] },
]

/** What a list and one with a HyperLogLog share. */
export const asList = Object.freeze({
  workload,
  play,
  check: {
    items: (/** @type {PlanFields} */ t, /** @type {ListKeys} */ k) => [byId, inList(k.list, t.kept)],
  },
  /** @type {'safe'} */
  repeat: 'safe',
})

export const list = strategy({
  ...asList,
  name: 'list',
  title: 'ids in a list that is cut to the newest, each value under its own key',
  choice: {
    label: 'list',
    meets: ['newest-n', 'expiry-by-length'],
    expiry: 'length',
    use: 'the newest n are enough, and an id may appear twice',
  },
  flags: [{ name: 'sl', help: 'a list instead of the sorted set' }],
  keys: listKeys,
  operations: (t, k) => ({ store: storeInList(t, k) }),
  read: {
    fetch: (t, k) => ({ asks: asksOfList(t, k), value: get, dated: false, unique: true }),
    ids: (k) => k.item,
    counters: (_, k) => countersOfList(k),
  },
})
