// What is stored, in the fields that the plans of writers, consumers and workers and their announcements have in common.
import { strategyNamed } from '../workloads/index.js'
import { bucketsOf } from '../workloads/latest/fields.js'
import { extraSetNames, setNames } from '../workloads/latest/parts.js'

/**
 * @typedef {object} StoredFields
 * @property {string} strategy
 * @property {number} quantity
 * @property {string} prefix
 * @property {readonly string[]} sets
 * @property {readonly string[]} extraSets
 * @property {'plain' | 'same-slot' | 'spread'} placement
 * @property {boolean} taggedItems
 * @property {number} buckets
 * @property {number} ttlS
 * @property {number | null} ttlLeastS
 * @property {number} valueBytes
 * @property {string | null} valueSizes
 * @property {'random' | 'sparse' | 'zero'} payload
 * @property {number} seed
 * @property {boolean} stamp
 * @property {boolean} once
 */

/**
 * Those of a plan or an announcement.
 * @param {Omit<StoredFields, 'ttlLeastS' | 'valueSizes'> & { ttlLeastS?: number | null, valueSizes?: string | null }} from
 * @returns {StoredFields}
 */
export const storedIn = (from) => ({
  strategy: from.strategy,
  quantity: from.quantity,
  prefix: from.prefix,
  sets: from.sets,
  extraSets: from.extraSets,
  placement: from.placement,
  taggedItems: from.taggedItems,
  buckets: from.buckets,
  ttlS: from.ttlS,
  ttlLeastS: from.ttlLeastS ?? null,
  valueBytes: from.valueBytes,
  valueSizes: from.valueSizes ?? null,
  payload: from.payload,
  seed: from.seed,
  stamp: from.stamp,
  once: from.once,
})

/**
 * Those that settings ask for.
 * @param {Omit<StoredFields, 'sets' | 'extraSets' | 'taggedItems' | 'buckets'> & { sortedSets: number, extraSortedSets?: number }} settings
 */
export const storedBy = (settings) => {
  const { strategy, prefix, placement, sortedSets, extraSortedSets = 0 } = settings
  return storedIn({
    ...settings,
    sets: setNames(prefix, sortedSets, placement),
    extraSets: extraSetNames(prefix, extraSortedSets),
    taggedItems: strategyNamed(strategy).play.oneSlot && placement === 'spread',
    buckets: bucketsOf(settings),
  })
}
