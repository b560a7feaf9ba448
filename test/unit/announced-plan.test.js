import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sharedByWriters } from '../../lib/fleet/shared-plan.js'
import {
  announcedHash,
  announcementOf,
  differingFields,
  leaseMs,
  rivalsOf,
  samePlan,
} from '../../lib/plan/announcement.js'
import { rivalRefusal } from '../../lib/servers/announcements.js'
import { announcedPlan, samplePlan } from '../helpers/sample-plan.js'

const nowMs = 1_790_000_000_000
/** @param {Parameters<typeof samplePlan>[0]} [settings] @param {object} [change] */
const announced = (settings, change) =>
  announcedPlan(settings, { startedMs: nowMs - 60_000, renewedMs: nowMs - 1000, ...change })
const ours = announcementOf(samplePlan(), 'other version')

describe('plans that are being written under one prefix', () => {
  test('boxes of one load share the same plan, of whatever version they are', () => {
    assert.ok(samePlan(announced(), ours))
    assert.equal(announcedHash(announced()), announcedHash(ours))
    assert.deepEqual(rivalsOf(ours, [announced()], nowMs), [])
  })

  test('boxes of a fleet are of one version: of another one the seconds hold something else', () => {
    const plan = samplePlan()
    const settings = /** @type {any} */ ({ stagger: false, thresholds: [] })
    const [older, newer, same] = ['0.1.0', '0.2.0', '0.2.0'].map((version) =>
      sharedByWriters(settings, plan, announcementOf(plan, version)),
    )
    assert.equal(newer.digest, same.digest)
    assert.notEqual(newer.digest, older.digest)
    assert.equal(newer.differing(older.text), 'Millrace 0.1.0 (here 0.2.0)')
  })

  /** @type {[string, Parameters<typeof samplePlan>[0], RegExp][]} */
  const others = [
    ['another strategy', { strategy: 'actual-value' }, /^--strategy actual-value \(here sorted-set\)$/],
    ['another number of agents', { totalAgents: 3 }, /^-t 3 \(here 1\)/],
    ['each item once, for longer', { once: true, ttlS: 600 }, /^--once, --ttl 600 \(here 3\)$/],
  ]
  for (const [name, settings, words] of others)
    test(name, () => {
      const rival = announced(settings)
      assert.deepEqual(rivalsOf(ours, [announced(), rival], nowMs), [rival])
      assert.notEqual(announcedHash(rival), announcedHash(ours))
      assert.match(differingFields(rival, ours), words)
    })

  test('one that has ended, or was silent for as long as a lease lasts, is none', () => {
    const settings = { quantity: 77 }
    assert.deepEqual(rivalsOf(ours, [announced(settings, { ended: true })], nowMs), [])
    assert.deepEqual(rivalsOf(ours, [announced(settings, { renewedMs: nowMs - leaseMs })], nowMs), [])
    assert.equal(rivalsOf(ours, [announced(settings, { renewedMs: nowMs - leaseMs + 1 })], nowMs).length, 1)
  })

  test('the refusal names it, its age, and what to do', () => {
    const { message } = rivalRefusal('a:1', ours, announced({ ttlS: 600 }), nowMs)
    const expected =
      /^a:1: another plan is being written under no prefix: sorted-set of \S+ items, with --ttl 600 \(here 3\), begun 60 s ago, last sign of life 1 s ago; end it, .* --prefix$/
    assert.match(message, expected)
    const killed = rivalRefusal('a:1', ours, announced({ ttlS: 600 }, { renewedMs: nowMs - 12_000 }), nowMs)
    assert.match(killed.message, /; if it was killed, wait 18 s$/)
  })
})
