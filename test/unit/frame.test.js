// What ends a run before its time, and that all of it is closed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frameOf } from '../../lib/run/frame.js'

/** What a run of workers has besides. */
const needs = /** @type {any} */ ({ plan: {} })
const never = new AbortController().signal

/** A run of nothing. @param {object} [more] */
const frameWith = (more = {}) => {
  const seen = {
    events: /** @type {string[]} */ ([]),
    warnings: /** @type {string[]} */ ([]),
    undone: /** @type {(() => unknown)[]} */ ([]),
    refuse: /** @type {(reason: string) => void} */ (() => {}),
    ...{ rows: /** @type {any[]} */ ([]), stops: 0, over: () => {} },
  }
  const endWith = (/** @type {(reason: string) => void} */ then) => (seen.refuse = then)
  const given = /** @type {any} */ ({
    target: {
      ...{ topology: { masters: ['a:1'], owners: null }, access: { db: 0 }, confirmed: { endWith } },
      ...{ nodes: () => [], info: async () => '# Server\r\nrun_id:1\r\n' },
      reporting: () => seen.rows.map(({ address }) => ({ address, shard: 0, role: 'master' })),
    },
    results: { interval: () => {}, event: (/** @type {any} */ { kind }) => seen.events.push(kind) },
    ...{ onEvent: () => {}, show: () => {}, say: () => {}, stop: never, stopNow: never },
    warn: (/** @type {any} */ { code, message, invalidates }) =>
      seen.warnings.push(`${code} ${invalidates} ${message}`),
    ...more,
  })
  const frame = frameOf(given, (step) => seen.undone.push(step))
  const over = new Promise((resolve) => (seen.over = () => resolve(undefined)))
  const stop = () => {
    seen.stops++
    seen.over()
  }
  const load = { elapsed: () => 1234, over, stop, settle: async () => true }
  return { frame, seen, load }
}

test('a server that may not be written to ends the run, also before its load is open', async () => {
  for (const isEarly of [false, true]) {
    const { frame, seen, load } = frameWith()
    if (isEarly) seen.refuse('b:1 is of others')
    frame.hang(load)
    if (!isEarly) seen.refuse('b:1 is of others')
    assert.equal(await frame.untilSettled(), true)
    assert.ok(seen.stops > 0 && frame.hasEnded())
    assert.deepEqual(seen.events, ['unconfirmed'])
    assert.deepEqual(seen.warnings, ['unconfirmed true the run was ended: b:1 is of others'])
  }
})

test('a guard ends the run once, and not while it drains', async () => {
  const { frame, seen, load } = frameWith({ guard: () => 'a:1 is full' })
  seen.rows = [{ address: 'a:1' }]
  frame.hang(load)
  await frame.sampler.sample()
  await frame.sampler.sample()
  assert.deepEqual(seen.warnings, ['guard true ended by --guard: a:1 is full'])
  assert.deepEqual(frame.journal.events, [{ at_ms: 1234, kind: 'guard', text: 'a:1 is full' }])

  const draining = frameWith({ guard: () => 'a:1 is full' })
  draining.frame.hang(draining.load)
  draining.seen.over()
  await draining.frame.untilSettled()
  await draining.frame.sampler.sample()
  assert.deepEqual(draining.seen.warnings, [])
  assert.equal(draining.frame.hasEnded(), false)
})

test('an interrupt ends the load, and what measures is stopped once and closed', async () => {
  const interrupt = new AbortController()
  const { frame, seen, load } = frameWith({ stop: interrupt.signal })
  frame.hang(load)
  const steps = /** @type {string[]} */ ([])
  const step = (/** @type {string} */ name) => () => void steps.push(name)
  const measure = { record: {}, open: () => ({ stop: step('stop'), close: step('close') }) }
  await frame.measure('workers', needs, [/** @type {any} */ (measure)])
  const settled = frame.untilSettled()
  interrupt.abort()
  assert.equal(await settled, true)
  assert.equal(seen.stops, 1)
  await frame.endSeconds()
  for (const undo of seen.undone.reverse()) await undo()
  assert.deepEqual(steps, ['stop', 'close'])
})

test('seconds end with a run that fails, whatever failed', async (t) => {
  const { frame, seen, load } = frameWith()
  await frame.measure('workers', needs, [])
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let moments = 0
  const moment = () => ({ atMs: ++moments, epochMs: 0, overS: 0 })
  frame.hang(load)
  frame.begin(/** @type {any} */ ({ time: { look: async () => [] }, moment }), () => {})
  t.mock.timers.tick(2000)
  const before = moments
  assert.ok(before > 1)
  for (const step of seen.undone.toReversed()) await step()
  t.mock.timers.tick(5000)
  assert.equal(moments, before)
})
