import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readersOfFleet } from '../../lib/fleet/readers.js'

/** @import { BoxDescription } from '../../lib/fleet/gather.js' */
/** @import { Checkpoint } from '../../lib/fleet/fold.js' */

const plan = { consumers: 1, pacing: 'constant', periodMs: 1000 }

const descriptionOf = (/** @type {number} */ n) =>
  /** @type {BoxDescription} */ ({
    ...{ id: `box-${n}`, kind: 'consumer', agents: [n], host: `host-${n}`, pid: n, version: '0', cores: 2 },
    ...{ offset_ms: 0, uncertainty_ms: 0.1, ready: true },
  })

/**
 * What the seconds of a box come to, whose fetches had so many items each.
 * @param {Record<number, number>} sizes how many fetches had so many
 * @param {Record<string, { mean: number, last: number }>} [numbers]
 */
const measuredOf = (sizes, numbers = {}) => {
  const all = Object.entries(sizes)
  const count = all.reduce((sum, [, fetches]) => sum + fetches, 0)
  const of = (/** @type {(number: { mean: number, last: number }) => any} */ value) =>
    Object.fromEntries(Object.entries(numbers).map(([name, number]) => [name, value(number)]))
  return {
    'fetches.count': count,
    'fetches.items': all.reduce((sum, [each, fetches]) => sum + Number(each) * fetches, 0),
    'reading.sizes': sizes,
    'reading.numbers': of(({ mean }) => ({ sum: mean * count, count })),
    numbers: of(({ last }) => last),
  }
}

/** The last word of a box. @param {Parameters<typeof measuredOf>} of */
const endOf = (...of) => {
  const sums = measuredOf(...of)
  return {
    measured: { window: sums, whole: sums, facts: {} },
    ...{ from_ms: 0, end_ms: 1000, interrupted: false, fetches: {} },
    ...{ live: null, uniqueness: null, events: [], warnings: [] },
  }
}

const checkpoint = /** @type {Checkpoint} */ ({
  ...{ v: 1, last: '0-0', boxes: {}, sums: {}, open: {}, sampler: null, closed_to: 0 },
})

/** @param {Record<string, any>} ends @param {Record<string, any>} [boxes] @returns {any} */
const mergedOf = (ends, boxes = {}) =>
  readersOfFleet({
    ...{ descriptions: [descriptionOf(1), descriptionOf(2)], ends, plan },
    checkpoint: { ...checkpoint, boxes },
  })

test('the median of the items is that of all fetches, not one of the medians of the boxes', () => {
  const cases = /** @type {const} */ ([
    [{ 100: 3 }, { 300: 1 }, 100],
    [{ 100: 1 }, { 300: 2 }, 300],
    // 1 1 1 9 9 | 5 6 7 8 8: the medians are 1 and 7, and the median of all is 6.
    [{ 1: 3, 9: 2 }, { 5: 1, 6: 1, 7: 1, 8: 2 }, 6],
    [{ 3000: 1 }, {}, 3000],
    [{}, {}, null],
  ])
  for (const [one, other, median] of cases)
    assert.equal(mergedOf({ 'box-1': endOf(one), 'box-2': endOf(other) }).fetches.items_p50, median)
})

test('of a box that was lost, what its seconds come to counts', () => {
  const sums = measuredOf({ 300: 5 })
  const lost = { measured: { window: sums, whole: sums }, seq: 5, skipped: 0, from_ms: 0, at_ms: 2000 }
  const { fetches, rate } = mergedOf({ 'box-1': endOf({ 100: 3 }) }, { 'box-2': lost })
  assert.deepEqual([fetches.count, fetches.items, fetches.items_p50], [8, 1800, 300])
  assert.deepEqual([rate.nominal, rate.achieved, rate.items], [2, 4, 900])
})

test('a number is the mean of all fetches, and what was read last', () => {
  const one = endOf({ 100: 3 }, { cardinality: { mean: 10, last: 12 } })
  const other = endOf({ 100: 1 }, { cardinality: { mean: 50, last: 60 }, segments: { mean: 2, last: 2 } })
  assert.deepEqual(mergedOf({ 'box-1': other, 'box-2': one }).fetches.numbers, {
    cardinality: { mean: 20, last: 12 },
    segments: { mean: 2, last: 2 },
  })
  assert.deepEqual(mergedOf({ 'box-1': endOf({ 100: 1 }) }).fetches.numbers, {})
})
