// Structures of a minute are counted when their minute is over: what is asked is that of the minute before.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPlanOf } from '../../lib/loads/fetches/plan.js'
import { countersOf, uniquenessOf } from '../../lib/measure/uniqueness.js'
import { readSettings } from '../../lib/options/read-settings.js'
import { announcementOf } from '../../lib/plan/announced-plan.js'
import { strategyOf } from '../../lib/workloads/strategy-of-plan.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @typedef {import('../../settings.js').ReaderSettings} ReaderSettings */

const minute = 29_833_333
const nowMs = minute * 60_000 + 59_999

/** @param {string} line */
const asksOf = (line) => {
  const settings = /** @type {ReaderSettings} */ (
    readSettings({ program: 'consumer', argv: line.split(' '), env: {} })
  )
  const facts = { announced: null, agents: [1], cluster: false, masters: 1 }
  const reader = strategyOf(readPlanOf(settings, facts)).reader()
  return (/** @type {number} */ at) =>
    reader.asks({ nowMs: at }).map(({ kind, args }) => [kind, ...args].join(' '))
}

test('list-hll: PFCOUNT of the minute before, beside the list', () => {
  const asks = asksOf('--slh --prefix p:')
  const list = ['number LLEN p:latest-ids-list', 'ids LRANGE p:latest-ids-list 0 -1']
  assert.deepEqual(asks(nowMs), [...list, `number PFCOUNT p:latest-ids-count:${minute - 1}`])
  assert.deepEqual(asks(nowMs + 1), [...list, `number PFCOUNT p:latest-ids-count:${minute}`])
})

test('set: SCARD of this minute and the one before, and the members of both', () => {
  assert.deepEqual(asksOf('--ss --prefix p:')(nowMs), [
    `number SCARD p:latest-ids:${minute}`,
    `number SCARD p:latest-ids:${minute - 1}`,
    `ids SMEMBERS p:latest-ids:${minute}`,
    `ids SMEMBERS p:latest-ids:${minute - 1}`,
  ])
})

test('--count: SCARD and PFCOUNT are asked of the minute before, and held against their plans', async () => {
  const announcements = /** @type {const} */ (['sorted-set', 'set', 'list-hll']).map((strategy) => ({
    ...announcementOf(samplePlan({ strategy, quantity: 1000 }), 'test'),
    startedMs: nowMs - 180_000,
    renewedMs: nowMs,
    ended: false,
  }))
  /** @type {string[]} */
  const asked = []
  const counts = new Map([
    ['SCARD', 1000],
    ['PFCOUNT', 1010],
    ['ZCARD', 1200],
    ['ZCOUNT', 1000],
  ])
  const count = uniquenessOf({
    counters: countersOf(samplePlan()),
    announcements,
    ask: async (args) => {
      asked.push(args.join(' '))
      return counts.get(args[0]) ?? 0
    },
    now: () => nowMs,
  })
  await count.sample()
  assert.ok(asked.includes(`SCARD latest-ids:${minute - 1}`), String(asked))
  assert.ok(asked.includes(`PFCOUNT latest-ids-count:${minute - 1}`), String(asked))
  assert.deepEqual(
    count.rows().flatMap(({ structure, truth, error_pct: errorPct }) => [structure, truth, errorPct]),
    ['ZCARD', 1000, 20, 'ZCOUNT', 1000, 0, 'LLEN', 1000, -100, 'PFCOUNT', 1000, 1, 'SCARD', 1000, 0],
  )
})

test('--count: a structure that is empty when its plan fills it is no exact count', async () => {
  const announced = {
    ...announcementOf(samplePlan({ strategy: 'set', quantity: 1000 }), 'test'),
    startedMs: nowMs - 30_000,
    renewedMs: nowMs,
    ended: false,
  }
  const time = { ms: nowMs }
  /** @type {Record<string, number | null>} */
  const counts = { SCARD: 0 }
  const { sample, rows } = uniquenessOf({
    counters: countersOf(samplePlan({ ttlS: 3 })),
    announcements: [announced],
    ask: async ([name]) => (name in counts ? counts[name] : 0),
    now: () => time.ms,
  })
  // The writer began in this minute: nothing is there of the one before, nor of what nobody writes.
  await sample()
  assert.deepEqual(rows(), [])
  time.ms += 60_000
  counts.ZCARD = 50
  for (const [set, sorted] of [
    [1000, 50],
    [0, 0],
    [null, null],
    [500, 70],
  ]) {
    counts.SCARD = set
    counts.ZCARD = sorted
    await sample()
  }
  assert.deepEqual(
    rows().flatMap((row) => [
      row.structure,
      row.samples,
      row.empty,
      row.last,
      row.error_pct,
      row.error_pct_worst,
    ]),
    ['ZCARD', 3, 1, 70, null, null, 'SCARD', 3, 1, 500, -50, -100],
  )
})

test('--count: nothing is owed of a plan that has ended and whose items have expired', async () => {
  const announced = announcementOf(samplePlan({ quantity: 1000, ttlS: 3 }), 'test')
  for (const [endedMsAgo, seen] of [
    [1000, 2],
    [3001, 0],
  ]) {
    const { sample, rows } = uniquenessOf({
      counters: countersOf(samplePlan({ ttlS: 3 })),
      announcements: [{ ...announced, startedMs: 0, renewedMs: nowMs - endedMsAgo, ended: true }],
      ask: async () => 0,
      now: () => nowMs,
    })
    await sample()
    assert.equal(rows().length, seen)
  }
})
