import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serviceOf } from '../../scripts/faults/clients.js'

test('seconds without service are the lengths of intervals, and an item after the fault is going on', () => {
  let atMs = 0
  const interval = (/** @type {number} */ acked, lengthMs = 1000, phase = 'measuring') => {
    atMs += lengthMs
    return { epoch_ms: 1e12 + atMs, at_ms: atMs, phase, items: { acked } }
  }
  const before = [interval(0), interval(200), interval(0), interval(0, 2400)]
  const all = [...before, interval(190, 1400), interval(230), interval(0, 900, 'draining')]
  assert.deepEqual(serviceOf(all, 1e12 + 2000, 200), { withoutS: 3.4, shortS: 4.8, goesOn: true })
  assert.deepEqual(serviceOf(before, 1e12 + 2000, 200), { withoutS: 3.4, shortS: 3.4, goesOn: false })
})
