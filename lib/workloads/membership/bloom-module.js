// A Bloom filter by the module RedisBloom. Each filter is reserved for its share of the ids before the first pass.
import { howToGetPeers } from '../../base/optional-packages.js'
import { each, family, number, strategy } from '../declare.js'
import { filter, filterBits } from './bloom.js'
import { wholeId } from './ids.js'
import { added, structureName, structures } from './parts.js'

/** @import { PlanFields } from './parts.js' */

// Ids fall into partitions at random: a filter that takes more than it was made for gets a second layer.
const spreadOf = (/** @type {number} */ mean) => 4 * Math.sqrt(mean)

/** @param {PlanFields} t */
const capacityOf = ({ quantity, partitions }) =>
  Math.ceil(quantity / partitions + (partitions > 1 ? spreadOf(quantity / partitions) : 0))

const there = Object.freeze({ counts: Object.freeze({ one: 'known', zero: 'new' }) })
const name = 'bfad'
const type = 'MBbloom--'

export const membershipBloomModule = strategy({
  ...filter,
  name: 'membership-bloom-module',
  title: 'a Bloom filter by module (BF.ADD)',
  variants: {
    module: [
      {
        command: 'BF.ADD',
        since: `the module RedisBloom: ${howToGetPeers}, and --server-config loadmodule=FILE gives it to a local server`,
      },
    ],
  },
  keys: (t) => ({ key: structures(t, { name, type, bytes: 200 + filterBits(t) / 8, bytesAnId: 0 }) }),
  operations: (t, k) => ({
    reserve: [
      each('BF.RESERVE', [
        family(structureName(name, t.bits), type, { of: { partition: number('partition', (n) => n - 1) } }),
        t.falsePositives,
        capacityOf(t),
      ]),
    ],
    add: [each('BF.ADD', [k.key, wholeId(t.ids)], added)],
    test: [each('BF.EXISTS', [k.key, wholeId(t.ids)], there)],
  }),
  passes: {
    ...filter.passes,
    prepare: { play: 'reserve', count: (/** @type {PlanFields} */ { partitions }) => partitions },
  },
})
