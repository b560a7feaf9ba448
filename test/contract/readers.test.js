// Every reader once, by both drivers, on one server and on a cluster.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { strategyNamed, strategyNames } from '../../lib/workloads/index.js'
import { readerContract, sharedPlace } from '../helpers/reader-contract.js'

const cases = [
  { line: '--strategy sorted-set' },
  { line: '--actual-value' },
  { line: '--ws', cluster: false },
  { line: '--sk', cluster: false },
  { line: '--ws --ns 4 --spread' },
  { line: '--sk --ns 4 --spread' },
  { line: '--sl' },
  { line: '--slh' },
  { line: '--ss' },
  { line: '--strategy hash' },
  { line: '--strategy stream' },
]

test('every strategy has a reader', () => {
  for (const name of strategyNames('ticks')) assert.ok(strategyNamed(name).fetch, name)
})

// Each waits for its intervals to pass.
const at = { concurrency: 3 }

describe('on one server with a replica', at, () => {
  readerContract('server', false, cases, sharedPlace(false))
})

describe('on a cluster with replicas', at, () => {
  readerContract('cluster', true, cases, sharedPlace(true))
})
