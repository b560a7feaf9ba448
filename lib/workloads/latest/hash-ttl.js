// Fields with their own lifetime, about a hundred in a hash.
import {
  byCommand,
  count,
  family,
  gather,
  ids,
  label,
  many,
  modulo,
  script,
  strategy,
  sum,
} from '../declare.js'
import { play, value, workload } from './parts.js'

/** @import { LatestFields as PlanFields } from './fields.js' */

const fieldBytes = 160
// Separate HSET and HEXPIRE would leave fields for ever if a writer is killed between them.
const storeFields = script('store-fields', { calls: ['HSET', 'HEXPIRE', 'EXPIRE'] })
const field = label('item:{n}')

/** Buckets that a fetch reads: whole ones, as many as its limit needs. @param {PlanFields} t */
const bucketsRead = ({ limit, buckets, quantity }) => {
  if (limit === 0) return buckets
  const perBucket = Math.max(1, Math.floor(quantity / buckets))
  return Math.min(buckets, Math.ceil(limit / perBucket) + 1)
}

export const hashTtl = strategy({
  workload,
  name: 'hash-ttl',
  title: 'hash fields with a ttl each, about a hundred per hash',
  choice: {
    label: 'fields with a ttl',
    meets: ['exact-expiry', 'unique-ids', 'values-included', 'safe-to-retry'],
    expiry: 'its own ttl',
    order: 'all live items',
    use: 'the server has HSETEX or HEXPIRE and order does not matter',
  },
  variants: {
    HSETEX: [{ command: 'HSETEX', since: 'Redis 8.0, Valkey 9.0' }],
    HEXPIRE: [{ command: 'HEXPIRE', since: 'Redis 7.4' }],
  },
  keys: (t) => ({
    bucket: family('latest-fields:{b}', 'hash', {
      of: { b: modulo('b', t.buckets) },
      holds: t.live.items,
      bytesAnItem: fieldBytes + t.longer + t.valueBytesStored,
    }),
  }),
  operations: (t, k) => ({
    store:
      t.variant === 'HEXPIRE'
        ? [
            gather('EVALSHA', [storeFields, 1, k.bucket, t.ttlS, t.lingerS, many(field, value(t))], {
              max: t.maxMembers,
            }),
          ]
        : [
            gather('HSETEX', [k.bucket, 'EX', t.ttlS, 'FIELDS', count, many(field, value(t))], {
              max: t.maxMembers,
            }),
          ],
  }),
  play,
  read: {
    fetch: (t, k) => ({
      asks: [
        sum('cardinality', 'HLEN', [k.bucket], { keys: bucketsRead(t) }),
        ids('HGETALL', [k.bucket], 'pairs', { keys: bucketsRead(t) }),
      ],
      value: null,
      dated: false,
      unique: false,
    }),
    ids: () => field,
  },
  check: {
    items: (_, k) => [byCommand('values', 'HMGET', [k.bucket, many(field)])],
  },
  repeat: 'safe',
})
