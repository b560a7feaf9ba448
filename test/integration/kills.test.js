// Killed by -9 at any moment, a run has a result that is true, or one sentence; what it started is gone within two seconds.
// `node scripts/kills.js` plays 60 seeds.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { playKill } from '../helpers/kill-play.js'

describe('killed by -9', { concurrency: 2 }, () => {
  // One of each place: a server, a cluster, local servers, a fleet and workers.
  for (const seed of [1, 2, 3, 4, 5])
    test(`seed ${seed}`, async (t) => {
      const { line, broken } = await playKill(t, seed)
      assert.deepEqual(broken, [], line)
    })
})
