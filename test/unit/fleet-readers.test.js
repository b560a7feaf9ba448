import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readersOfFleet } from '../../lib/fleet/readers.js'

const plan = { consumers: 1, pacing: 'constant', periodMs: 1000 }

/** @param {number} n */
const cardOf = (n) =>
  /** @type {import('../../lib/fleet/gather.js').Card} */ ({
    ...{ id: `box-${n}`, kind: 'consumer', agents: [n], host: `host-${n}`, pid: n, version: '0', cores: 2 },
    ...{ offset_ms: 0, uncertainty_ms: 0.1, ready: true },
  })

/**
 * The last word of a box whose fetches had so many items each.
 * @param {readonly (readonly [items: number, fetches: number])[]} sizes
 * @param {Record<string, { mean: number, last: number }>} [numbers]
 */
const endOf = (sizes, numbers = {}) => {
  const count = sizes.reduce((sum, [, fetches]) => sum + fetches, 0)
  const items = sizes.reduce((sum, [each, fetches]) => sum + each * fetches, 0)
  return {
    sums: { fetches: { count, items }, failed_by: {}, verify: null },
    ...{
      from_ms: 0,
      end_ms: 1000,
      interrupted: false,
      client: {},
      fetches: { duration_ms: null, numbers },
      sizes,
    },
    ...{ replication_ms: null, verify: null, live: null, uniqueness: null, events: [], warnings: [] },
  }
}

const checkpoint = /** @type {import('../../lib/fleet/fold.js').Checkpoint} */ ({
  ...{ v: 1, last: '0-0', boxes: {}, sums: {}, open: {}, sampler: null, closed_to: 0 },
})

/** @param {Record<string, any>} ends */
const mergedOf = (ends) => readersOfFleet({ cards: [cardOf(1), cardOf(2)], ends, checkpoint, plan })?.fetches

test('the median of the items is that of all fetches, not one of the medians of the boxes', () => {
  const cases = /** @type {const} */ ([
    [[[100, 3]], [[300, 1]], 100],
    [[[100, 1]], [[300, 2]], 300],
    // 1 1 1 9 9 | 5 6 7 8 8: the medians are 1 and 7, and the median of all is 6.
    [
      [
        [1, 3],
        [9, 2],
      ],
      [
        [5, 1],
        [6, 1],
        [7, 1],
        [8, 2],
      ],
      6,
    ],
    [[[3000, 1]], [], 3000],
    [[], [], null],
  ])
  for (const [one, other, median] of cases)
    assert.equal(mergedOf({ 'box-1': endOf(one), 'box-2': endOf(other) })?.items_p50, median)
})

test('the median is unknown where a box was lost', () => {
  assert.equal(mergedOf({ 'box-1': endOf([[100, 3]]) })?.items_p50, null)
})

test('a number is the mean of all fetches, and what the box that ended last read', () => {
  const one = { ...endOf([[100, 3]], { cardinality: { mean: 10, last: 12 } }), end_ms: 2000 }
  const other = endOf([[100, 1]], { cardinality: { mean: 50, last: 60 }, segments: { mean: 2, last: 2 } })
  assert.deepEqual(mergedOf({ 'box-1': one, 'box-2': other })?.numbers, {
    cardinality: { mean: 20, last: 12 },
    segments: { mean: 2, last: 2 },
  })
  assert.deepEqual(mergedOf({ 'box-1': endOf([[100, 1]]) })?.numbers, {})
})
