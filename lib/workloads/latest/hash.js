// Each value in its own hash, which expires; the ids in a sorted set by time.
import { each, family, script, strategy } from '../declare.js'
import {
  asksOfSets,
  countersOfSets,
  extraSetKeys,
  ofSortedSets,
  play,
  rankItems,
  setKeys,
  ttl,
  value,
  workload,
} from './parts.js'
import { checkRanked } from './sorted-set.js'

const hashKeyBytes = 290
// Separate HSET and EXPIRE would leave hashes for ever if a writer is killed between them.
const storeHash = script('store-hash', { calls: ['HSET', 'EXPIRE'], counts: 'HSET' })

export const hash = strategy({
  workload,
  name: 'hash',
  title: 'ids in a sorted set by time, each value in its own hash',
  choice: {
    label: 'hash per item',
    meets: ['newest-n', 'exact-expiry', 'unique-ids', 'safe-to-retry'],
    expiry: 'score',
    use: 'an item has fields that are read one by one',
  },
  options: ofSortedSets,
  keys: (t) => ({
    hash: family('latest-hash:{n}', 'hash', {
      lifetimeS: t.ttlS,
      keys: t.live.items,
      bytes: hashKeyBytes + t.longer + t.valueBytesStored,
    }),
    set: setKeys(t),
    extra: extraSetKeys(t),
  }),
  operations: (t, k) => ({
    store: rankItems(t, k, k.hash, [each('EVALSHA', [storeHash, 1, k.hash, ttl(t), value(t)])]),
  }),
  play,
  read: {
    fetch: (t, k) => ({
      asks: asksOfSets(t, k, { members: 'members', scored: 'scored' }),
      value: { name: 'HGET', after: ['value'], many: false },
      dated: true,
      unique: false,
    }),
    ids: (k) => k.hash,
    counters: (_, k) => countersOfSets(k),
  },
  check: {
    items: (_, k) => checkRanked(k, k.hash),
  },
  repeat: 'safe',
})
