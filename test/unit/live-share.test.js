import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { liveShareOf } from '../../lib/measure/live-share.js'
import { announcementOf } from '../../lib/plan/announced-plan.js'
import { validityOf } from '../../lib/result/document.js'
import { hasDead, keptItems, leastAlive } from '../../lib/traffic/live-items.js'
import { samplePlan } from '../helpers/sample-plan.js'

const startMs = 1_790_000_000_000
const once = /** @type {const} */ ({ quantity: 2000, once: true, ttlS: 5 })

/** @param {Parameters<typeof samplePlan>[0]} settings @param {{ limit?: number, dated?: boolean, atMs?: number }} [options] */
const sharing = (settings, { limit = 0, dated = true, atMs = 60_000 } = {}) => {
  const announced = {
    ...announcementOf(samplePlan(settings), 'test'),
    startedMs: startMs,
    renewedMs: startMs,
    ended: false,
  }
  const share = liveShareOf({ announced, limit, dated, now: () => startMs + atMs })
  return {
    ...share,
    /** Three fetches, and a sign of life. @param {Partial<Parameters<typeof share.fetched>[0]>} fetched */
    found(fetched, live = true) {
      for (let i = 0; i < 3; i++)
        share.fetched({ ids: 0, values: 0, durationMs: 0, failedBy: {}, ...fetched })
      share.looked(live)
      return share.summary()
    },
  }
}

describe('items alive by a plan', () => {
  /** @type {[string, Parameters<typeof samplePlan>[0], { dead: boolean, alive: number, kept: number }][]} */
  const cases = [
    ['rewritten in time', { quantity: 1000, ttlS: 3 }, { dead: false, alive: 1000, kept: 1000 }],
    ['written once', once, { dead: true, alive: 10_000, kept: 12_000 }],
    ['written once, in ten batches', { ...once, chunks: 10 }, { dead: true, alive: 10_000, kept: 10_200 }],
    [
      'written once, for less than an interval',
      { ...once, ttlS: 1, periodMs: 4000, chunks: 4 },
      { dead: true, alive: 500, kept: 2000 },
    ],
    [
      'dead before it is rewritten',
      { quantity: 1000, ttlS: 1, periodMs: 2500, chunks: 5 },
      { dead: true, alive: 400, kept: 1000 },
    ],
  ]
  for (const [name, settings, { dead, alive, kept }] of cases)
    test(name, () => {
      const plan = samplePlan(settings)
      assert.deepEqual([hasDead(plan), leastAlive(plan), keptItems(plan)], [dead, alive, kept])
    })
})

describe('what fetches find of them', () => {
  test('all', () => {
    assert.deepEqual(sharing(once).found({ ids: 10_400 }), { fetches: 3, expected: 10_000, share: 1.04 })
  })
  test('a fifth, where a stream was cut to one interval', () => {
    assert.equal(sharing(once).found({ ids: 2021 })?.share, 0.2021)
  })
  test('undated, those with a value', () => {
    assert.equal(sharing(once, { dated: false }).found({ ids: 12_000, values: 9000 })?.share, 0.9)
  })
  test('not those that die while they are read', () => {
    assert.equal(sharing(once, { dated: false }).found({ values: 9000, durationMs: 500 })?.share, 1)
  })
  test('as many as a fetch may have', () => {
    assert.equal(sharing(once, { limit: 100 }).found({ ids: 100 })?.share, 1)
  })
  test('nothing is known before they can all be there, of a plan that has ended, or without a rate', () => {
    assert.equal(sharing(once, { atMs: 5900 }).found({ ids: 1 }), null)
    assert.equal(sharing(once).found({ ids: 1 }, false), null)
    assert.equal(sharing(once).found({ ids: 1, failedBy: { CLOSED: 1 } }), null)
    assert.equal(sharing({ ...once, rate: 'max' }).found({ ids: 1 }), null)
    assert.equal(sharing(once, { limit: 100, dated: false }).found({ values: 1 }), null)
  })
})

test('a consumer that finds fewer is not valid, and says of how many', () => {
  const run = (/** @type {number} */ share) =>
    validityOf(
      /** @type {any} */ ({
        kind: 'consumer',
        fetches: { count: 9, failed: 0, overrun: 0, items: 9, failed_by: {}, numbers: {} },
        live: { fetches: 9, expected: 10_000, share },
        plan: { strategy: 'stream', ttlS: 5 },
        client: { busy_pct: 1 },
        clocks: [],
        nodes: [],
        duration_s: 9,
      }),
    )
  assert.equal(run(0.95).valid, true)
  const { valid, warnings } = run(0.2021)
  assert.equal(valid, false)
  assert.match(warnings[0].message, /^fetches found about 20\.2 % of the 10,000 items that are alive/)
})
