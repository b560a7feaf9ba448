import assert from 'node:assert/strict'
import { test } from 'node:test'
import { patienceOf } from '../../lib/transport/patience.js'

test('what was begun is kept for --max-behind after a disturbance, and not otherwise', () => {
  let now = 1000
  const patience = patienceOf({ plan: { maxBehindMs: 5000 }, clock: () => now })
  assert.equal(patience.giveUpBefore(), 1000, 'a server that is only slow: whatever is overtaken')
  now = 20_000
  patience.disturbed()
  now = 24_000
  assert.equal(patience.giveUpBefore(), 19_000, 'after a pause: what is older than --max-behind')
  now = 25_001
  assert.equal(patience.giveUpBefore(), 25_001, 'the pause has had its time')
})
