import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataLossOf } from '../../lib/run/data-loss.js'

/** @typedef {import('../../lib/measure/node-sampler.js').NodeRow} NodeRow */

/** A row of a node in its second answer. @param {string} address @param {Partial<NodeRow>} [change] @returns {NodeRow} */
const row = (address, change) => ({
  address,
  shard: Number(address.at(1)),
  role: address.startsWith('m') ? 'master' : 'replica',
  at_ms: 0,
  keys: 10_000,
  expired: 0,
  evicted: 0,
  ...change,
})
/** One that did not answer. @param {string} address @returns {NodeRow} */
const silent = (address) => row(address, { keys: undefined, expired: undefined, gap: 'silent' })

/** @param {string[]} masters @param {number[]} [parts] slots of each */
const topologyOf = (masters, parts) => {
  const owners = parts ? Uint16Array.from(parts.flatMap((n, i) => Array(n).fill(i))) : null
  return { masters, owners }
}

/** A second passes with each call. @param {ReturnType<typeof topologyOf>} topology @param {() => number} [created] */
const rig = (topology, created) => {
  let nowMs = 0
  const target = { topology }
  /** @type {string[]} */
  const notes = []
  /** @type {import('../../lib/measures/warnings.js').Warning[]} */
  const warnings = []
  const { asking, look, end } = dataLossOf({
    target,
    created,
    elapsed: () => nowMs,
    note: (kind, text) => notes.push(`${kind}: ${text}`),
    warn: (warning) => warnings.push(warning),
  })
  const seconds = (/** @type {number} */ n, /** @type {NodeRow[]} */ ...rows) => {
    for (let i = 0; i < n; i++) {
      nowMs += 1000
      asking()
      look(rows)
    }
  }
  return { target, notes, warnings, seconds, end }
}

test('keys that a master has not read from its disk yet are not gone, and those it has lost are', () => {
  const { seconds, notes } = rig(topologyOf(['m1']))
  seconds(3, row('m1'))
  seconds(8, row('m1', { keys: 200, loading: true }))
  seconds(5, row('m1'))
  assert.deepEqual(notes, [])
  seconds(8, row('m1', { keys: 200, loading: true }))
  seconds(5, row('m1', { keys: 9000 }))
  assert.deepEqual(notes, [
    'data-lost: 1,000 of 10,000 keys of the masters are gone (seen after 25.0 s) that neither expired nor were evicted',
  ])
})

test('a master that restarted, or whose keys were flushed, is told with its moment when it still serves', () => {
  const { seconds, notes, warnings } = rig(topologyOf(['m1']))
  seconds(3, row('m1'))
  seconds(1, row('m1', { restarted: true, gap: 'restarted', keys: 12, expired: undefined }))
  assert.equal(warnings.length, 0)
  seconds(1, row('m1', { keys: 400 }))
  assert.deepEqual(notes, ['data-lost: m1 restarted (seen after 4.0 s) and has 12 keys; it had 10,000'])
  const [{ code, invalidates, message }] = warnings
  assert.deepEqual([code, invalidates], ['data-lost', true])
  assert.match(message, /^m1 restarted .*: what was acknowledged before may be gone/)

  seconds(1, row('m1', { keys: 90, flushes: 1 }))
  seconds(3, row('m1', { keys: 500 }))
  assert.equal(notes.length, 2)
  assert.equal(
    notes[1],
    'data-lost: the keys of m1 were removed by FLUSHALL or FLUSHDB (seen after 6.0 s); it had 400',
  )
})

test('keys that are gone while the load makes more of them are reported', () => {
  let made = 0
  const { seconds, warnings } = rig(topologyOf(['m1']), () => made)
  /** @param {number} more @param {number} gone @param {Partial<NodeRow>} [change] */
  const second = (more, gone, change) => {
    made += more
    seconds(1, row('m1', { keys: 3 + made - gone, ...change }))
  }
  second(0, 0)
  for (let i = 0; i < 4; i++) second(5000, 0)
  second(5000, 2000, { expired: 2000 })
  second(5000, 2000)
  assert.equal(warnings.length, 0)
  // Somebody deletes 3,000 more.
  for (let i = 0; i < 3; i++) second(5000, 5000)
  assert.equal(warnings.length, 1)
  assert.match(String(warnings.at(0)?.message), /^3,000 of 43,003 keys of the masters are gone/)
})

test('where there were keys before, some may be written over', () => {
  let made = 0
  const { seconds, warnings } = rig(topologyOf(['m1']), () => made)
  for (let i = 0; i < 6; i++) {
    seconds(1, row('m1', { keys: 10_000 }))
    made += 5000
  }
  assert.equal(warnings.length, 0)
})

test('what happened in the last second of a run is told at its end', () => {
  const { seconds, warnings, end } = rig(topologyOf(['m1']))
  seconds(2, row('m1'))
  seconds(1, row('m1', { flushes: 1 }))
  end()
  assert.equal(warnings.length, 1)
})

test('a replica that restarts or is flushed has lost nothing', () => {
  const { seconds, warnings, end } = rig(topologyOf(['m1']))
  seconds(2, row('m1'), row('r1'))
  seconds(3, row('m1'), row('r1', { restarted: true, flushes: 1, keys: 0 }))
  end()
  assert.equal(warnings.length, 0)
})

test('a replica that is promoted has the data; the master before it may come back empty', () => {
  const { target, seconds, warnings, end } = rig(topologyOf(['m1', 'm2'], [8, 8]))
  seconds(3, row('m1'), row('r1'), row('m2'))
  seconds(2, silent('m1'), row('r1'), row('m2'))
  target.topology = topologyOf(['r1', 'm2'], [8, 8])
  const promoted = row('r1', { role: 'master', keys: 9900, expired: 60 })
  seconds(1, silent('m1'), promoted, row('m2'))
  const back = row('m1', { restarted: true, keys: 0 })
  seconds(1, back, promoted, row('m2'))
  seconds(14, row('m1', { role: 'replica', keys: 0 }), row('r1', { role: 'master', keys: 9840 }), row('m2'))
  end()
  assert.equal(warnings.length, 0)
})

test('a replica that is promoted without the data has lost it', () => {
  const { target, seconds, notes } = rig(topologyOf(['m1', 'm2'], [8, 8]))
  seconds(3, row('m1'), row('r1', { keys: 0 }), row('m2'))
  target.topology = topologyOf(['r1', 'm2'], [8, 8])
  seconds(2, silent('m1'), row('r1', { role: 'master', keys: 30 }), row('m2'))
  assert.deepEqual(notes, [
    'data-lost: r1 became the master of its shard (seen after 4.0 s) with 30 keys; m1 had 10,000',
  ])
})

test('slots that move, and keys that are counted on both sides meanwhile, are no loss', () => {
  const { target, seconds, warnings, end } = rig(topologyOf(['m1', 'm2'], [8, 8]))
  seconds(3, row('m1'), row('m2'))
  target.topology = topologyOf(['m1', 'm2'], [4, 12])
  seconds(4, row('m1'), row('m2', { keys: 15_000 }))
  seconds(20, row('m1', { keys: 5000 }), row('m2', { keys: 15_000 }))
  end()
  assert.equal(warnings.length, 0)
})

test('a shard that leaves is emptied and flushed, and nothing is lost', () => {
  const { target, seconds, warnings, end } = rig(topologyOf(['m1', 'm2'], [8, 8]))
  seconds(3, row('m1'), row('m2'))
  for (const part of [4, 0]) {
    target.topology = topologyOf(['m1', 'm2'], [16 - part, part])
    seconds(1, row('m1', { keys: 20_000 - 1250 * part }), row('m2', { keys: 1250 * part }))
  }
  seconds(1, row('m1', { keys: 20_000 }), row('m2', { keys: 0, flushes: 1 }))
  target.topology = topologyOf(['m1'], [16])
  seconds(20, row('m1', { keys: 20_000 }), silent('m2'))
  end()
  assert.equal(warnings.length, 0)
})

test('keys that expire or are evicted are gone by right, also while their master is silent', () => {
  const { seconds, warnings, end } = rig(topologyOf(['m1', 'm2'], [8, 8]))
  seconds(3, row('m1'), row('m2'))
  seconds(1, row('m1', { keys: 7000, expired: 3000 }), silent('m2'))
  seconds(1, row('m1', { keys: 5000, expired: 2000 }), row('m2', { keys: 2000, evicted: 8000 }))
  seconds(5, row('m1', { keys: 5000 }), row('m2', { keys: 2000 }))
  end()
  assert.equal(warnings.length, 0)
})

test('keys that vanish are lost when they stay away; those that were there before may be of others', () => {
  for (const [before, certain] of /** @type {const} */ ([
    [0, true],
    [10_000, false],
  ])) {
    const { seconds, warnings } = rig(topologyOf(['m1']))
    seconds(1, row('m1', { keys: before, expired: undefined, evicted: undefined }))
    seconds(3, row('m1'))
    seconds(2, row('m1', { keys: 2000 }))
    seconds(1, row('m1'))
    assert.equal(warnings.length, 0)
    seconds(4, row('m1', { keys: 2000 }))
    assert.equal(warnings.length, 1)
    assert.equal(warnings[0].invalidates, certain)
    assert.match(warnings[0].message, /^8,000 of 10,000 keys of the masters are gone \(seen after 8\.0 s\)/)
  }
})
