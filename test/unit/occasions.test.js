import assert from 'node:assert/strict'
import test from 'node:test'
import { deadWindows, occasionsOf } from '../../lib/drivers/occasions.js'
import { tickValues } from '../../lib/plan/tick-values.js'
import { since } from '../../lib/workloads/declare.js'
import { each, once } from '../../lib/workloads/step.js'
import { seeded } from '../helpers/random.js'

const ttlS = 3
const startMs = 1_790_000_000_000
const at = (/** @type {number} */ ms) => tickValues(startMs + ms, ttlS)
const span = (/** @type {import('../../lib/wire/encode.js').TickValues} */ values) =>
  /** @type {const} */ ([Number(values.since) - startMs, Number(values.floor) - startMs])

const args = () => ['PURGE', /** @type {any} */ (since.hole)]
const always = once(['k'], args)
const rarely = once(['k'], args, { everyMs: 10_000 })
const purge = once(['k'], args, { everyMs: 10_000, windows: true })

test('items are sent at every tick, and so is what has no period', () => {
  const { passes } = occasionsOf({ spacingMs: 1000 })
  for (const ms of [0, 1000, 1001]) {
    const values = at(ms)
    assert.deepEqual(
      passes(
        each(() => ['PING']),
        1,
        values,
      ),
      [values],
    )
    assert.deepEqual(passes(always, 1, values), [values])
  }
})

test('every ten seconds: at the first tick, then not before the time has passed', () => {
  const { passes } = occasionsOf({ spacingMs: 1000 })
  const sent = []
  for (let ms = 0; ms <= 45_000; ms += 700) if (passes(rarely, 1, at(ms)).length > 0) sent.push(ms)
  assert.deepEqual(sent, [0, 10_500, 20_300 + 700, 31_500, 42_000])
})

test('agents and steps do not disturb each other', () => {
  const { passes } = occasionsOf({ spacingMs: 1000 })
  const other = once(['k'], args, { everyMs: 10_000 })
  assert.equal(passes(rarely, 1, at(0)).length, 1)
  assert.equal(passes(rarely, 2, at(0)).length, 1)
  assert.equal(passes(other, 1, at(5000)).length, 1)
  assert.equal(passes(rarely, 1, at(9999)).length, 0)
  assert.equal(passes(rarely, 1, at(10_000)).length, 1)
})

test('no purge before the first period; then tick by tick what has died since', () => {
  const { passes } = occasionsOf({ spacingMs: 1000 })
  assert.deepEqual(passes(purge, 1, at(0)), [])
  assert.deepEqual(passes(purge, 1, at(9000)), [])
  const windows = passes(purge, 1, at(10_000)).map(span)
  assert.deepEqual(
    windows,
    Array.from({ length: 10 }, (_, i) => [i * 1000 - 3000, (i + 1) * 1000 - 3000]),
  )
})

test('windows follow each other without gap or overlap, none wider than a tick, up to the floor', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = seeded(seed)
    const spacingMs = random.pick([1, 5, 333.4, 1000, 60_000])
    const { passes } = occasionsOf({ spacingMs })
    let ms = 0
    let reached = -ttlS * 1000
    for (let tick = 0; tick < 40; tick++) {
      const values = at(ms)
      const windows = passes(purge, 1, values)
      for (const window of windows) {
        const [from, to] = span(window)
        assert.equal(from, reached, `seed ${seed}`)
        assert.ok(to > from && to - from <= Math.ceil(spacingMs), `seed ${seed}: ${to - from} ms wide`)
        assert.equal(window.score, values.score, 'the rest is the tick’s own')
        reached = to
      }
      if (windows.length > 0) assert.equal(reached, ms - ttlS * 1000, `seed ${seed}`)
      ms += random.pick([Math.ceil(spacingMs), 700, 11_000])
    }
    assert.ok(reached > 0)
  }
})

test('a window for nothing is none', () => {
  assert.deepEqual(deadWindows(5000, 5000, 1000, at(0)), [])
  assert.deepEqual(
    deadWindows(5000, 5001, 1000, at(0)).map(({ since: s, floor: f }) => [s, f]),
    [['5000', '5001']],
  )
})
