// A list, and a HyperLogLog a minute that counts what is unique in it.
import { earlier, gather, get, many, strategy, sum } from '../declare.js'
import { asksOfList, asList, countersOfList, listKeys, storeInList } from './list.js'
import { keep, minuteKeys } from './parts.js'

const hyperLogLogBytes = 12_304

export const listHll = strategy({
  ...asList,
  name: 'list-hll',
  title: 'ids in a list, and a HyperLogLog per minute that counts the unique ones',
  flags: [{ name: 'slh', implies: 'list', help: 'a list, and a HyperLogLog per minute' }],
  keys: (t) => ({
    ...listKeys(t),
    count: minuteKeys('latest-ids-count', 'string', { keys: 4, bytes: hyperLogLogBytes }),
  }),
  operations: (t, k) => ({
    store: [
      keep(k.count, 0, ['PFADD']),
      ...storeInList(t, k),
      gather('PFADD', [k.count, many(k.item)], { max: t.maxMembers }),
    ],
  }),
  read: {
    ids: (k) => k.item,
    fetch: (t, k) => ({
      asks: [...asksOfList(t, k), sum('pfcount', 'PFCOUNT', [earlier(k.count)])],
      value: get,
      dated: false,
      unique: true,
    }),
    counters: (_, k) => [
      {
        structure: 'PFCOUNT',
        nature: 'approximate, of the minute before',
        name: 'PFCOUNT',
        args: [earlier(k.count)],
      },
      ...countersOfList(k),
    ],
  },
  check: {
    ...asList.check,
    unchecked: () => ['the HyperLogLogs, which count ids and name none'],
  },
})
