// The sorted set holds the values themselves: no keys of their own, no lifetime but the purge.
import { identityWidth } from '../../traffic/payload.js'
import { sizeLimits } from '../../traffic/sizes.js'
import { byScore, many, strategy } from '../declare.js'
import {
  asksOfSets,
  countersOfSets,
  extraSetKeys,
  ofSortedSets,
  play,
  rankItems,
  setKeys,
  value,
  workload,
} from './parts.js'

/** @import { Settings } from '../../../settings.js' */

const valueRankBytes = 105

/** How many values differ in their first bytes, at 6 bits a character. @param {Settings} s */
const distinctValues = (s) => 64 ** identityWidth(s.payload, sizeLimits(s).least)

export const actualValue = strategy({
  workload,
  name: 'actual-value',
  title: 'values in a sorted set by time',
  choice: {
    label: 'sorted set of values',
    meets: ['newest-n', 'exact-expiry', 'unique-ids', 'values-included', 'safe-to-retry'],
    expiry: 'score',
    use: 'a value never changes: a changed value is a new member',
    givesUp: 'a changed value is a new member',
  },
  flags: [
    {
      name: 'actual-value',
      env: 'SORTED_SET_CONTAINS_ACTUAL_VALUE',
      help: 'a sorted set of the values themselves',
    },
  ],
  options: ofSortedSets,
  rules: [
    (s, named) => s.stamp && `${named('stamp')} with ${named('strategy')}: every tick would make new members`,
    (s, named) =>
      s.payload === 'zero' && `${named('payload')} with ${named('strategy')}: all members would be equal`,
    (s, named) =>
      distinctValues(s) < s.quantity &&
      `${named('valueBytes')}: values of ${sizeLimits(s).least} bytes (${named('payload')}) tell only ` +
        `${distinctValues(s)} of ${s.quantity} members of ${named('strategy')} apart`,
  ],
  keys: (t) => ({
    set: setKeys(t, valueRankBytes + t.valueBytesStored),
    extra: extraSetKeys(t, valueRankBytes + t.valueBytesStored),
  }),
  operations: (t, k) => ({ store: rankItems(t, k, value(t)) }),
  play,
  read: {
    // No GETs. The newest values of several sets are known only when all sets have answered, so they are kept until then.
    fetch: (t, k) => ({
      asks: asksOfSets(t, k, {
        members: 'values',
        scored: t.limit > 0 && t.sets > 1 ? 'scored' : 'scored-values',
      }),
      value: null,
      dated: true,
      unique: false,
    }),
    counters: (_, k) => countersOfSets(k),
  },
  check: {
    items: (t, k) => [
      byScore('present', [k.set, many(value(t))]),
      ...k.extra.map((set) => byScore('members', [set, many(value(t))])),
    ],
  },
  repeat: 'safe',
})
