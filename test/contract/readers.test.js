// Every reader once, by both drivers, on one server and on a cluster.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { strategyNamed, strategyNames } from '../../lib/workloads/index.js'
import { readerContract, sharedPlace } from '../helpers/reader-contract.js'

const ofTicks = strategyNames('ticks').map(strategyNamed)
const cases = [
  // Those with variants need a server that has them: the integration tests take such ones.
  ...ofTicks
    .filter(({ variants }) => variants === null)
    .map(({ name, play: { oneSlot } }) => ({
      line: `--strategy ${name}`,
      ...(oneSlot && { cluster: false }),
    })),
  ...ofTicks
    .filter(({ play }) => play.oneSlot)
    .map(({ name }) => ({ line: `--strategy ${name} --ns 4 --spread` })),
]

test('every strategy that writes in ticks has a reader', () => {
  for (const { name, read } of ofTicks)
    assert.ok(read, `${name} has no read: declare how its items are read back (lib/workloads/declare.js)`)
})

// Each waits for its intervals to pass.
const at = { concurrency: 3 }

describe('on one server with a replica', at, () => {
  readerContract('server', false, cases, sharedPlace(false))
})

describe('on a cluster with replicas', at, () => {
  readerContract('cluster', true, cases, sharedPlace(true))
})
