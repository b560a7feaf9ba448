// Events of the threads of a run: what all of them see is an event once, and again when it happens again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventsOfThreads } from '../../lib/threads/writing.js'

test('what several threads see is an event once, each time that it happens', () => {
  /** @type {string[]} */
  const events = []
  const onEvent = eventsOfThreads((kind, text) => events.push(`${kind}: ${text}`))
  const lost = (/** @type {number} */ number) => onEvent(number, 'connection', 'a lost')
  for (const number of [0, 2, 1]) lost(number)
  assert.deepEqual(events, ['connection: a lost'])
  for (const number of [2, 0]) lost(number)
  assert.equal(events.length, 2)
  // This thread saw it once so far.
  lost(1)
  assert.equal(events.length, 2)
  onEvent(1, 'connection', 'b lost')
  assert.deepEqual(events.slice(2), ['connection: b lost'])
})
