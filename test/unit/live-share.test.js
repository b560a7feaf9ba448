import assert from 'node:assert/strict'
import { test } from 'node:test'
import { liveShareOf } from '../../lib/loads/fetches/verifying.js'
import { validityOf } from '../../lib/result/document.js'
import { hasDead, keptItems, leastAlive } from '../../lib/traffic/live-items.js'
import { announcedPlan, samplePlan } from '../helpers/sample-plan.js'
import { fieldsIn, rowsOf } from '../helpers/table.js'

const startMs = 1_790_000_000_000
const once = /** @type {const} */ ({ quantity: 2000, once: true, ttlS: 5 })

/** @param {Parameters<typeof samplePlan>[0]} settings @param {{ limit?: number, dated?: boolean, atMs?: number }} [options] */
const sharing = (settings, { limit = 0, dated = true, atMs = 60_000 } = {}) => {
  const announced = announcedPlan(settings, { startedMs: startMs })
  const share = liveShareOf({ announced, limit, dated, now: () => startMs + atMs })
  return {
    ...share,
    /** Three fetches, and a sign of life. @param {Partial<Parameters<typeof share.fetched>[0]>} fetched */
    found(fetched, live = true) {
      for (let i = 0; i < 3; i++)
        share.fetched({ ids: 0, values: 0, durationMs: 0, failedBy: {}, ...fetched })
      share.checked(live)
      return share.summary()
    },
  }
}

for (const [name, settings, dead, alive, kept] of rowsOf(`
rewritten in time -> quantity=1000 ttlS=3 -> false -> 1000 -> 1000
written once -> quantity=2000 once=true ttlS=5 -> true -> 10000 -> 12000
written once, in ten batches -> quantity=2000 once=true ttlS=5 chunks=10 -> true -> 10000 -> 10200
written once, for less than an interval -> quantity=2000 once=true ttlS=1 periodMs=4000 chunks=4 -> true -> 500 -> 2000
dead before it is rewritten -> quantity=1000 ttlS=1 periodMs=2500 chunks=5 -> true -> 400 -> 1000
`))
  test(`items alive by a plan: ${name}`, () => {
    const plan = samplePlan(fieldsIn(settings))
    assert.deepEqual([hasDead(plan), leastAlive(plan), keptItems(plan)].join(), [dead, alive, kept].join())
  })

test('what fetches find of them', () => {
  assert.deepEqual(sharing(once).found({ ids: 10_400 }), { fetches: 3, expected: 10_000, share: 1.04 })
  for (const [what, options, found, share] of /** @type {const} */ ([
    ['a fifth, where a stream was cut to one interval', {}, { ids: 2021 }, 0.2021],
    ['undated, those with a value', { dated: false }, { ids: 12_000, values: 9000 }, 0.9],
    ['not those that die while they are read', { dated: false }, { values: 9000, durationMs: 500 }, 1],
    ['as many as a fetch may have', { limit: 100 }, { ids: 100 }, 1],
  ]))
    assert.equal(sharing(once, options).found(found)?.share, share, what)
})

test('nothing is known before they can all be there, of a plan that has ended, or without a rate', () => {
  assert.equal(sharing(once, { atMs: 5900 }).found({ ids: 1 }), null)
  assert.equal(sharing(once).found({ ids: 1 }, false), null)
  assert.equal(sharing(once).found({ ids: 1, failedBy: { CLOSED: 1 } }), null)
  assert.equal(sharing({ ...once, rate: 'max' }).found({ ids: 1 }), null)
  assert.equal(sharing(once, { limit: 100, dated: false }).found({ values: 1 }), null)
})

test('a consumer that finds fewer is not valid, and says of how many', () => {
  const run = (/** @type {number} */ share) =>
    validityOf(
      /** @type {any} */ ({
        ...{ kind: 'consumer', client: { busy_pct: 1 }, clocks: [], nodes: [], duration_s: 9 },
        fetches: { count: 9, failed: 0, overrun: 0, items: 9, failed_by: {}, numbers: {} },
        live: { fetches: 9, expected: 10_000, share },
        plan: { flow: 'fetches', strategy: 'stream', ttlS: 5 },
      }),
    )
  assert.equal(run(0.95).valid, true)
  const { valid, warnings } = run(0.2021)
  assert.equal(valid, false)
  assert.match(warnings[0].message, /^fetches found about 20\.2 % of the 10,000 items that are alive/)
})
