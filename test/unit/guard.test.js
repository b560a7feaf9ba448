import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guardOf } from '../../lib/run/run.js'

/** @import { NodeRow } from '../../lib/probes/node-sampler.js' */

const row = (/** @type {Partial<NodeRow>} */ figures) => ({
  ...{ address: 'a:1', shard: 1, role: /** @type {const} */ ('master'), at_ms: 0 },
  ...{ memory_bytes: 10, memory_limit_bytes: 100, evicted: 0, ...figures },
})
const all = { evicted: 10, memoryPct: 80, lagBytes: 1000 }

test('nothing is said while no limit is passed', () => {
  const guard = guardOf(all)
  const at = row({ evicted: 10, memory_bytes: 80, lag_bytes: 1000 })
  assert.equal(guard([at]), null)
  assert.equal(guard([row({}), row({ address: 'b:1', evicted: null })]), null)
})

test('evictions of a node are added up, whichever node passes first', () => {
  const guard = guardOf(all)
  assert.equal(guard([row({ evicted: 6 }), row({ address: 'b:1', evicted: 6 })]), null)
  const second = guard([row({}), row({ address: 'b:1', evicted: 5 })])
  assert.match(String(second), /^b:1 evicted 11 keys \(evicted>10\); raise maxmemory/)
})

test('memory and lag', () => {
  const full = guardOf(all)([row({ memory_bytes: 81 })])
  assert.match(String(full), /^a:1 uses 81\.0 % of its memory, 100 B \(memory>80%\)/)
  const behind = guardOf(all)([row({}), row({ address: 'r:1', role: 'replica', lag_bytes: 1001 })])
  assert.match(String(behind), /^r:1 is 1\.00 kB behind its master \(lag>1\.00 kB\)/)
})

test('a node that says nothing is not judged, and off judges nothing', () => {
  const silent = { address: 'a:1', shard: 1, role: /** @type {const} */ ('master'), at_ms: 0, gap: 'silent' }
  assert.equal(guardOf(all)([/** @type {any} */ (silent)]), null)
  const off = guardOf({ evicted: null, memoryPct: null, lagBytes: null })
  assert.equal(off([row({ evicted: 1e6, memory_bytes: 100, lag_bytes: 1e9 })]), null)
})
