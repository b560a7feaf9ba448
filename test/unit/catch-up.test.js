import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catchUpOf } from '../../lib/transport/catch-up.js'

test('a tick waits about an interval for room, and for --max-behind after a disturbance', () => {
  let now = 1000
  const plan = { maxBehindMs: 5000, chunks: 10, spacingMs: 200 }
  const catchUp = catchUpOf({ plan, clock: () => now })
  assert.equal(catchUp.limitMs(false), 2000, 'a server that is only slow')
  assert.equal(catchUp.limitMs(true), 5000, 'a server that pauses')
  now = 5999
  assert.equal(catchUp.limitMs(false), 5000, 'what it left behind is caught up with')
  now = 6001
  assert.equal(catchUp.limitMs(false), 2000, 'the pause has had its time')
  catchUp.disturbed()
  assert.equal(catchUp.limitMs(false), 5000)
})

test('a pause is noticed before a tick of a short interval is given up, and no tick waits longer than --max-behind', () => {
  const clock = () => 0
  const short = catchUpOf({ plan: { maxBehindMs: 5000, chunks: 1, spacingMs: 20 }, clock })
  assert.equal(short.limitMs(false), 1000)
  const long = catchUpOf({ plan: { maxBehindMs: 2000, chunks: 1, spacingMs: 10_000 }, clock })
  assert.equal(long.limitMs(false), 2000)
})
