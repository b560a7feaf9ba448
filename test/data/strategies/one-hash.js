// A strategy of somebody's own: all values in one hash, a field an item, and a sorted set of fields beside it.
import { byCommand, family, gather, ids, label, many, strategy, sum } from '../../../lib/workloads/declare.js'
import { register } from '../../../lib/workloads/index.js'
import { keep, play, value, workload } from '../../../lib/workloads/latest/parts.js'

const field = label('item:{n}')

register(
  strategy({
    workload,
    name: 'one-hash',
    title: 'all values in one hash',
    flags: [{ name: 'oh', help: 'one hash for everything' }],
    keys: (t) => ({
      values: family('latest-values', 'hash', {
        lifetimeS: t.lingerS,
        holds: t.live.items,
        bytesAnItem: 90 + t.longer + t.valueBytesStored,
      }),
    }),
    operations: (t, k) => ({
      store: [
        keep(k.values, 10_000, ['HSET', many(field, value(t))]),
        gather('HSET', [k.values, many(field, value(t))], { max: t.maxMembers }),
      ],
    }),
    play,
    read: {
      fetch: (_, k) => ({
        asks: [sum('cardinality', 'HLEN', [k.values]), ids('HGETALL', [k.values], 'pairs')],
        value: null,
        dated: false,
        unique: false,
      }),
      ids: () => field,
      counters: (_, k) => [{ structure: 'HLEN', nature: 'exact, fresh', name: 'HLEN', args: [k.values] }],
    },
    check: { items: (_, k) => [byCommand('values', 'HMGET', [k.values, many(field)])] },
    repeat: 'safe',
  }),
)
