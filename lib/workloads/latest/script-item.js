// Written through lua/store-item.lua: one call an item.
import { each, script, strategy, time } from '../declare.js'
import { itemKeys, keepSets, play, setKeys, ttl, value, workload } from './parts.js'
import { ofRankedItems } from './sorted-set.js'

const storeItem = script('store-item', { calls: ['SETEX', 'ZADD'] })

export const scriptItem = strategy({
  workload,
  name: 'script-item',
  title: 'ids in a sorted set by time, each value under its own key; a script call per item',
  choice: {
    label: 'script per item',
    meets: ['newest-n', 'exact-expiry', 'unique-ids', 'safe-to-retry'],
    expiry: 'score',
    use: 'each item must be stored atomically with its id',
  },
  flags: [{ name: 'sk', help: 'write with lua/store-item.lua, one call per item' }],
  options: ['sortedSets', 'placement'],
  keys: (t) => ({ item: itemKeys(t), set: setKeys(t) }),
  operations: (t, k) => ({
    store: keepSets(
      t,
      k,
      [
        each(
          'EVALSHA',
          t.taggedItems
            ? [storeItem, 2, k.set, k.item, ttl(t), time, value(t)]
            : [storeItem, 1, k.set, ttl(t), time, value(t), k.item],
        ),
      ],
      k.item,
    ),
  }),
  ...ofRankedItems,
  play: { ...play, oneSlot: true },
})
