// One stream that holds ids and values and is cut to about the newest.
import { each, family, ids, label, oldest, strategy, sum } from '../declare.js'
import { keep, play, value, workload } from './parts.js'

const entryBytes = 40
const entrySlack = 1.25

export const stream = strategy({
  workload,
  name: 'stream',
  title: 'ids and values in one stream that is cut to approximately the newest',
  choice: {
    label: 'stream',
    meets: ['newest-n', 'expiry-by-length', 'values-included'],
    expiry: 'length, approximate',
    use: 'readers consume everything in order, values included',
  },
  keys: (t) => ({
    stream: family('latest-stream', 'stream', {
      lifetimeS: t.lingerS,
      holds: t.live.kept,
      bytesAnItem: entryBytes + t.longer + entrySlack * t.valueBytes,
    }),
  }),
  operations: (t, k) => ({
    store: [
      // An entry that is trimmed at once leaves an empty stream.
      keep(k.stream, t.renewalMs, ['XADD', 'MAXLEN', 0, '*', 'id', '', 'value', '']),
      each('XADD', [k.stream, 'MAXLEN', '~', t.kept, '*', 'id', label('item:{n}'), 'value', value(t)], {
        repeat: 'never',
      }),
    ],
  }),
  play,
  read: {
    // Newest first. A stream is cut to about its length, so the oldest may be there twice.
    fetch: (t, k) => ({
      asks: [
        sum('cardinality', 'XLEN', [k.stream]),
        ids('XREVRANGE', [k.stream, '+', oldest, ...(t.limit > 0 ? ['COUNT', t.limit] : [])], 'entries'),
      ],
      value: null,
      dated: true,
      unique: true,
    }),
    ids: () => label('item:{n}'),
    counters: (_, k) => [
      { structure: 'XLEN', nature: 'about the length asked for, fresh', name: 'XLEN', args: [k.stream] },
    ],
  },
  repeat: 'safe',
})
