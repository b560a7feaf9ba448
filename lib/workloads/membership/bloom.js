// A Bloom filter by SETBIT: k hashes of an id in one script. False positives are counted with ids that were never added,
// when the filter is full.
import { exactly } from '../../base/typed.js'
import { count } from '../../base/units.js'
import { each, script, strategy } from '../declare.js'
import { wholeId } from './ids.js'
import { added, exact, structures } from './parts.js'

/**
 * @import { Declaration, Script } from '../declare.js'
 * @import { PlanFields } from './parts.js'
 */

/** Bits of one filter. @param {PlanFields} t */
export const filterBits = ({ falsePositives, quantity, partitions }) =>
  Math.ceil((-Math.log(falsePositives) * quantity) / Math.LN2 ** 2 / partitions)

/** @param {PlanFields} t */
const hashesOf = ({ falsePositives }) => Math.max(1, Math.round(-Math.log2(falsePositives)))

const add = script('bloom-add', { calls: ['SETBIT'] })
const test = script('bloom-test', { calls: ['GETBIT'] })
// At a rate of 1 % and 10,000 ids, 3 standard deviations are a third of it.
const tolerance = 2

/** What every filter has: a pass over ids that were never added, and a share of false positives that is judged. */
export const filter = Object.freeze({
  ...exact,
  options: [...exact.options, 'falsePositives'],
  play: { flow: exactly('passes'), operations: ['add', 'test'] },
  passes: { order: [...exact.passes.order, { name: 'others', play: 'test', beyond: true }] },
  /** @type {Declaration['reasons']} */
  reasons: (_counts, plan, [misses, hits, others]) => {
    if (!misses) return []
    const falsePositives = Number(plan.own?.falsePositives)
    const rate = others ? others.counts.known / others.operations : 0
    return [
      ...(misses.counts.known > misses.operations * falsePositives
        ? [
            `${count(misses.counts.known)} of ${count(misses.operations)} new ids were known: the filter was not empty`,
          ]
        : []),
      ...(hits?.counts.new > 0 ? [`the filter lost ${count(hits.counts.new)} ids that were added`] : []),
      ...(rate > tolerance * falsePositives
        ? [
            `false positives are ${(rate * 100).toPrecision(3)} %, over twice the stated ${falsePositives * 100} %`,
          ]
        : []),
    ]
  },
})

export const membershipBloom = strategy({
  ...filter,
  name: 'membership-bloom',
  title: 'a Bloom filter by SETBIT in a script',
  keys: (t) => ({
    key: structures(t, { name: 'blom', type: 'string', bytes: 100 + filterBits(t) / 8, bytesAnId: 0 }),
  }),
  operations: (t, k) => {
    const args = (/** @type {Script} */ name) => [
      name,
      '1',
      k.key,
      wholeId(t.ids),
      filterBits(t),
      hashesOf(t),
    ]
    return { add: [each('EVALSHA', args(add), added)], test: [each('EVALSHA', args(test), added)] }
  },
})
