// Written through lua/store-items.lua: one call a set and batch. Cut only when --max-members was asked for.
import { countAndOne, gather, many, script, strategy, time } from '../declare.js'
import { itemKeys, keepSets, play, setKeys, value, workload } from './parts.js'
import { ofRankedItems } from './sorted-set.js'

/** @param {string} name */
const storeItems = (name) => script(name, { calls: ['SETEX', 'ZADD'], counts: 'SETEX' })

export const scriptBatch = strategy({
  workload,
  name: 'script-batch',
  title: 'ids in a sorted set by time, each value under its own key; a script call per batch',
  choice: {
    label: 'script per batch',
    meets: ['newest-n', 'exact-expiry', 'unique-ids', 'safe-to-retry'],
    expiry: 'score',
    use: 'network bytes cost more than server CPU',
  },
  flags: [{ name: 'ws', help: 'write with lua/store-items.lua, one call per chunk' }],
  options: ['sortedSets', 'placement', 'script'],
  keys: (t) => ({ item: itemKeys(t), set: setKeys(t) }),
  operations: (t, k) => ({
    store: keepSets(
      t,
      k,
      [
        gather(
          'EVALSHA',
          t.taggedItems
            ? [storeItems(t.script), countAndOne, k.set, many(k.item), t.ttlS, time, many(value(t))]
            : [storeItems(t.script), 1, k.set, t.ttlS, time, many(k.item, value(t))],
          { max: t.scriptMembers },
        ),
      ],
      k.item,
    ),
  }),
  ...ofRankedItems,
  play: { ...play, oneSlot: true },
})
