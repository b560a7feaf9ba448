// Each value under its own key; the ids in a sorted set (or several) by time.
import { exactly } from '../../base/typed.js'
import { byId, byScore, get, many, strategy } from '../declare.js'
import {
  asksOfScript,
  asksOfSets,
  countersOfSets,
  extraSetKeys,
  itemKeys,
  ofSortedSets,
  play,
  rankItems,
  setKeys,
  storeItem,
  workload,
} from './parts.js'

/**
 * @import { Family, Fetch } from '../declare.js'
 * @import { LatestFields as PlanFields } from './fields.js'
 *
 * @typedef {{ item: Family, set: Family, extra?: readonly Family[] }} RankedKeys
 */

/** How the ids in sorted sets are fetched, and their values with GET or by one script. @param {PlanFields} t @param {RankedKeys} k @returns {Fetch} */
const fetchOfSets = (t, k) =>
  t.mode === 'script'
    ? { asks: asksOfScript(t, k), value: null, again: get, dated: true, unique: false }
    : {
        asks: asksOfSets(t, k, { members: 'members', scored: 'scored' }),
        value: get,
        dated: true,
        unique: false,
      }

/** Each item by its id, and its id in its sorted set and in all extra ones. @param {Omit<RankedKeys, 'item'>} k @param {Family} member */
export const checkRanked = (k, member) => [
  byId,
  ...[k.set, ...(k.extra ?? [])].map((set) => byScore('members', [set, many(member)])),
]

/** How strategies are read, checked and repeated that keep each value under its own key and the ids in sorted sets. */
export const ofRankedItems = exactly({
  play,
  read: {
    modes: ['manual', 'script'],
    fetch: fetchOfSets,
    /** @param {RankedKeys} k */
    ids: (k) => k.item,
    /** @param {PlanFields} _ @param {RankedKeys} k */
    counters: (_, k) => countersOfSets(k),
  },
  check: {
    /** @param {PlanFields} _ @param {RankedKeys} k */
    items: (_, k) => checkRanked(k, k.item),
  },
  repeat: 'safe',
})

export const sortedSet = strategy({
  workload,
  name: 'sorted-set',
  title: 'ids in a sorted set by time, each value under its own key',
  choice: {
    label: 'sorted set',
    meets: ['newest-n', 'exact-expiry', 'unique-ids', 'safe-to-retry'],
    expiry: 'score',
    use: 'you need ranges by time and exact expiry',
  },
  options: ofSortedSets,
  keys: (t) => ({ item: itemKeys(t), set: setKeys(t), extra: extraSetKeys(t) }),
  operations: (t, k) => ({ store: rankItems(t, k, k.item, [storeItem(t, k)]) }),
  ...ofRankedItems,
})
