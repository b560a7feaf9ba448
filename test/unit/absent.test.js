// What is missing of the requests that boxes of a cache share at a rate.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { absentOf } from '../../lib/fleet/merged.js'
import { noCounts } from '../../lib/probes/ledger.js'

/** 1,000 requests a second of four writers, of which 2 s are a warm-up. @param {object} [other] */
const planOf = (other) => ({
  ...{ flow: 'clients', nominalHz: 1000, totalAgents: 4, durationMs: 10_000, warmUpMs: 2000 },
  ...{ schedule: 'even', chunks: 1, spacingMs: 1000, quantity: 500, ...other },
  agents: [1, 2, 3, 4].map((agent) => ({ agent, first: 1, count: 500 })),
})

/** @param {number} agent @param {number} acked @param {{ measured?: number, isLost?: boolean, fromMs?: number }} [other] */
const boxOf = (agent, acked, { measured = 0.8 * acked, isLost = false, fromMs = 0 } = {}) => {
  const whole = { ...noCounts(), offered: acked, acked }
  const window = { ...noCounts(), offered: measured, acked: measured }
  return { sums: { agents: [{ ...whole, agent }], whole, measured: window }, isLost, fromMs }
}
const whole = [boxOf(1, 2500), boxOf(2, 2500), boxOf(3, 2500)]

/** @param {object[]} boxes @param {object} [plan] @param {number} [runMs] */
const found = (boxes, plan = {}, runMs = 10_000) => {
  const known = /** @type {any} */ ({ plan: planOf(plan), ticks: 0, runMs, boxes })
  const { agents, absent, share } = absentOf(known)
  return { offered: agents.map(({ planned }) => planned), absent, share }
}

test('nothing is absent where all boxes were there, whatever was drawn for each', () => {
  const { offered, absent, share } = found([...whole, boxOf(4, 2481)], { schedule: 'uneven' })
  assert.deepEqual({ offered, absent, share }, { offered: [2500, 2500, 2500, 2481], absent: 0, share: 0 })
})

test('of a box that was lost, was late, or never came, its part of the rate is absent, and of the window its share of all', () => {
  const offered = Array(4).fill(2500)
  const lost = boxOf(4, 1250, { measured: 750, isLost: true })
  assert.deepEqual(found([...whole, lost]), { offered, absent: 1250, share: 1250 / 8000 })
  const late = boxOf(4, 1250, { measured: 1250, fromMs: 5000 })
  assert.deepEqual(found([...whole, late]), { offered, absent: 1250, share: 750 / 8000 })
  assert.deepEqual(found(whole), { offered, absent: 2500, share: 0.25 })
})

test('what is settled after the end was due before it', () => {
  const lost = boxOf(4, 1250, { isLost: true })
  assert.equal(found([...whole, lost], {}, 14_000).absent, 1250)
  assert.equal(found([...whole, lost], { durationMs: null }, 14_000).absent, 2250)
})

test('more than a rate has on the average is no less than nothing', () => {
  const lost = boxOf(4, 2600, { isLost: true })
  assert.deepEqual(found([...whole, lost]), { offered: [2500, 2500, 2500, 2600], absent: 0, share: 0 })
})
