// Structures of a minute are counted when their minute is over: what is asked is that of the minute before.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPlanOf } from '../../lib/loads/fetches/plan.js'
import { countersOf, uniquenessOf } from '../../lib/probes/uniqueness.js'
import { strategyOf } from '../../lib/workloads/bound-strategy.js'
import { announcedPlan, samplePlan, settingsOf } from '../helpers/sample-plan.js'
import { valuesOf } from '../helpers/table.js'

const minute = 29_833_333
const nowMs = minute * 60_000 + 59_999

const asksOf = (/** @type {string} */ line) => {
  const facts = { announced: null, agents: [1], cluster: false, masters: 1 }
  const reader = strategyOf(readPlanOf(settingsOf(line, 'consumer'), facts)).reader()
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
  const keys = [minute, minute - 1].map((one) => `p:latest-ids:${one}`)
  const asks = ['number SCARD', 'ids SMEMBERS'].flatMap((ask) => keys.map((key) => `${ask} ${key}`))
  assert.deepEqual(asksOf('--ss --prefix p:')(nowMs), asks)
})

/** A plan of 1,000 items that began so long ago. @param {Parameters<typeof samplePlan>[0]} settings @param {number} agoMs */
const announcedFor = (settings, agoMs) =>
  announcedPlan({ quantity: 1000, ...settings }, { startedMs: nowMs - agoMs, renewedMs: nowMs })

test('--count: SCARD and PFCOUNT are asked of the minute before, and held against their plans', async () => {
  const asked = /** @type {string[]} */ ([])
  /** @type {Record<string, number>} */
  const counts = { SCARD: 1000, PFCOUNT: 1010, ZCARD: 1200, ZCOUNT: 1000 }
  const count = uniquenessOf({
    counters: countersOf(samplePlan()),
    announcements: ['sorted-set', 'set', 'list-hll'].map((strategy) => announcedFor({ strategy }, 180_000)),
    ask: async (args) => {
      asked.push(args.join(' '))
      return counts[args[0]] ?? 0
    },
    now: () => nowMs,
  })
  await count.sample()
  assert.ok(asked.includes(`SCARD latest-ids:${minute - 1}`), String(asked))
  assert.ok(asked.includes(`PFCOUNT latest-ids-count:${minute - 1}`), String(asked))
  const found = valuesOf(count.rows(), 'structure', 'truth', 'error_pct').join(' ')
  assert.equal(found, 'ZCARD 1000 20 ZCOUNT 1000 0 LLEN 1000 -100 PFCOUNT 1000 1 SCARD 1000 0')
})

test('--count: a structure that is empty when its plan fills it is no exact count', async () => {
  const time = { ms: nowMs }
  /** @type {Record<string, number | null>} */
  const counts = { SCARD: 0 }
  const { sample, rows } = uniquenessOf({
    counters: countersOf(samplePlan({ ttlS: 3 })),
    announcements: [announcedFor({ strategy: 'set' }, 30_000)],
    ask: async ([name]) => (name in counts ? counts[name] : 0),
    now: () => time.ms,
  })
  // The writer began in this minute: nothing is there of the one before, nor of what nobody writes.
  await sample()
  assert.deepEqual(rows(), [])
  time.ms += 60_000
  for (const [i, set] of [1000, 0, null, 500].entries()) {
    Object.assign(counts, { SCARD: set, ZCARD: [50, 0, null, 70][i] })
    await sample()
  }
  const found = valuesOf(rows(), 'structure', 'samples', 'empty', 'last', 'error_pct', 'error_pct_worst')
  assert.deepEqual(found, ['ZCARD', 3, 1, 70, null, null, 'SCARD', 3, 1, 500, -50, -100])
})

test('--count: nothing is owed of a plan that has ended and whose items have expired', async () => {
  for (const [i, endedMsAgo] of [1000, 3001].entries()) {
    const { sample, rows } = uniquenessOf({
      counters: countersOf(samplePlan({ ttlS: 3 })),
      announcements: [{ ...announcedFor({ ttlS: 3 }, nowMs), renewedMs: nowMs - endedMsAgo, ended: true }],
      ask: async () => 0,
      now: () => nowMs,
    })
    await sample()
    assert.equal(rows().length, [2, 0][i])
  }
})
