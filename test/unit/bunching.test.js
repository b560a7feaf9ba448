// Random arrivals that were sent in batches because the load generator was late: seen, and said in the first line.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writingOf } from '../../lib/loads/index.js'
import { partsOf } from '../../lib/loads/parts.js'
import { recordsOf } from '../../lib/loads/write-records.js'
import { arrivals, bunchesIn } from '../../lib/measures/arrivals.js'
import { folded, sumOfSources } from '../../lib/measures/fold.js'
import { lineOf } from '../../lib/measures/index.js'
import { ticksSection } from '../../lib/measures/ticks.js'
import { briefOf } from '../../lib/report/brief.js'
import { resultDocument } from '../../lib/result/document.js'
import { duesOf } from '../../lib/traffic/arrivals.js'
import { samplePlan } from '../helpers/sample-plan.js'
import { sampleParts } from '../helpers/sample-run.js'

/** @import { TestContext } from 'node:test' */

/** Twenty seconds of single items whose timer wakes each so many milliseconds, as run.json has them. */
const sentBy = (
  /** @type {TestContext} */ t,
  /** @type {number} */ wakesMs,
  /** @type {number} */ items = 1,
) => {
  const records = recordsOf(samplePlan({ arrivals: 'poisson', pacing: 'smooth' }))
  t.after(records.close)
  const due = duesOf({ arrivals: 'poisson', spacingMs: 1000 / 300, seed: 7 })
  const lines = /** @type {any[]} */ ([])
  for (let i = 0; due(i) < 20_000; i++) {
    if (due(i) > (lines.length + 1) * 1000) lines.push(lineOf(records.arrivalsOfSecond()))
    const firstMs = Math.ceil(due(i) / wakesMs) * wakesMs
    records.begun(
      /** @type {any} */ ({ index: i, dueMs: due(i), firstMs, account: { measured: true, count: items } }),
    )
  }
  const own = folded(arrivals.record, lines)
  const find = (/** @type {any} */ window) => arrivals.summary(/** @type {any} */ ({ window }))
  assert.deepEqual(find(sumOfSources(arrivals.record, [own, own])), find(own))
  const found = find(own)
  const [dueOne, sentOne] = Object.values(found)
  return { due_dispersion: Number(dueOne), sent_dispersion: Number(sentOne) }
}

test('what is sent within a millisecond of its due time is as random as its plan', (t) => {
  const ticks = sentBy(t, 1)
  assert.ok(ticks.due_dispersion > 0.9 && ticks.due_dispersion < 1.1, JSON.stringify(ticks))
  assert.equal(bunchesIn({ ticks }), null)
})

test('batches of three count as three at once', (t) => {
  const ticks = sentBy(t, 1, 3)
  assert.ok(ticks.due_dispersion > 2.7 && ticks.due_dispersion < 3.3, JSON.stringify(ticks))
  assert.equal(bunchesIn({ ticks }), null)
})

test('a timer that wakes each 30 ms sends what is due in it at once: the first line says how many', (t) => {
  const found = sentBy(t, 30)
  // 9 are due in 30 ms, of which two bins have none: the variance of 0, 0 and 9 and more, by 3.
  assert.ok(found.sent_dispersion > 6 && found.sent_dispersion < 8, JSON.stringify(found))
  const run = resultDocument(sampleParts())
  const words = /sent in batches of 6\.\d+|sent in batches of 7\.\d+/
  const ticks = { ...run.ticks, ...found }
  const head = briefOf(
    { ...run, valid: true, warnings: [], thresholds: [], ticks },
    { shown: () => '', why: () => '' },
  ).head
  assert.match(head.text, words)
  assert.match(head.text, /not one by one/)
  const [reason] = ticksSection.reasons({ ...run, ticks })
  assert.deepEqual([reason.code, reason.invalidates], ['in-batches', false])
  assert.match(reason.message, /the load generator was late/)
  assert.deepEqual(ticksSection.reasons(run), [])
})

test('threads share batches and schedules, so what one of them sends at once says nothing', (t) => {
  const plan = samplePlan(
    { arrivals: 'poisson', pacing: 'smooth', totalAgents: 2, threads: 2 },
    { agents: [1, 2] },
  )
  const found = partsOf(plan, writingOf(plan).sharing).map((part) => {
    const records = recordsOf(part)
    t.after(records.close)
    records.sent(0, 10)
    return records.arrivalsOfSecond()
  })
  assert.deepEqual(found, [{}, {}])
  const whole = recordsOf(plan)
  t.after(whole.close)
  const window = folded(arrivals.record, [lineOf(whole.arrivalsOfSecond())])
  const none = arrivals.summary(/** @type {any} */ ({ window }))
  assert.deepEqual(Object.values(none), [null, null])
})

test('too few arrivals say nothing', () => {
  const few = { bins: 100, items: 3000, squares: 1e9 }
  const { 'ticks.sent_dispersion': sent } = arrivals.summary(
    /** @type {any} */ ({ window: { 'arrivals.due': few, 'arrivals.sent': few } }),
  )
  assert.equal(sent, null)
})
