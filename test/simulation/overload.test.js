import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seedTests } from '../helpers/seed-tests.js'
import { playLargeBatches } from './overload.js'

seedTests('overload', 1, 12)

const usual = { masters: 1, connections: 1, totalAgents: 1 }
for (const change of [{}, { connections: 3 }, { totalAgents: 4 }, { masters: 3 }])
  test(`a batch of several seconds of work is begun in portions: ${JSON.stringify(change)}`, async () => {
    const { broken, share, longestMs, times } = await playLargeBatches({ seed: 7, ...usual, ...change })
    assert.deepEqual(broken, [])
    assert.ok(share > 0.95, `${share.toFixed(2)} of what --rate max stores`)
    assert.ok(longestMs < 1500, `an item takes ${longestMs.toFixed()} ms`)
    assert.ok(Math.max(...times) - Math.min(...times) <= 1, 'every item is written as often')
  })
