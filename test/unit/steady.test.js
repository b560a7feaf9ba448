import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestWarmUpMs } from '../../lib/loads/warm-up.js'
import { isSteady, measuringWindow } from '../../lib/run/window.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @param {number} p99Us @param {number} [cpuPct] @param {number} [achieved] */
const line = (p99Us, cpuPct = 20, achieved = 10_000) => {
  const latency_us = { intended: { p50: p99Us / 3, p99: p99Us } }
  return { achieved, latency_us, client: { cpu_pct: cpuPct }, nodes: [{ cpu_pct: cpuPct }] }
}

test('a run is steady when three seconds after the first agree in rate, latency and CPU', () => {
  const calm = [3000, 3200, 2800].map((p99) => line(p99))
  for (const [what, isOne, ...seconds] of /** @type {[string, boolean, ...ReturnType<typeof line>[]][]} */ ([
    ['three after the first', true, line(3000), ...calm],
    ['the first second is never one of them', false, ...calm],
    ['later ones', true, line(300_000), line(240_000), ...calm],
    ['latency', false, line(3000), line(240_000), line(9000), line(3000)],
    ['CPU', false, line(1), ...calm.slice(1), line(3000, 60)],
    ['rate', false, line(1), ...calm.slice(1), line(3000, 20, 6000)],
    ['tens of microseconds differ by nothing', true, line(1), line(100), line(30), line(60)],
  ]))
    assert.equal(isSteady(seconds), isOne, what)
})

/** A window in a made-up time. @param {any} plan */
const windowAt = (plan) => {
  let nowMs = 0
  const whole = { offered: 5000, acked: 5000, failed: 0, uncertain: 0, dropped: 0, unsettled: 0 }
  const even = { rate: null, pacing: 'smooth', schedule: 'even', spacingMs: 300, nominalHz: 10_000 }
  const known = {
    ledger: { whole },
    onOpen: () => {},
    sampler: { mark: async () => {} },
    elapsed: () => nowMs,
  }
  const window = measuringWindow(/** @type {any} */ ({ plan: { ...even, ...plan }, ...known }))
  const at = (/** @type {number} */ ms, /** @type {any} */ second) => {
    nowMs = ms
    return window.endWarmUp(second)
  }
  /** Nothing is said of seconds with these p99. @param {...number} p99s */
  const silent = (...p99s) => p99s.forEach((p99, i) => void assert.equal(at(970 + 1000 * i, line(p99)), null))
  return { window, at, silent, whole }
}

test('--warm-up auto of a fleet lasts its longest, so that all boxes measure the same seconds', () => {
  const planned = (/** @type {object} */ more) => {
    const { warmUpMs, settles } = samplePlan({ warmUpMs: 'auto', durationMs: 15_000, ...more })
    return { warmUpMs, settles }
  }
  assert.deepEqual(planned({}), { warmUpMs: 8000, settles: true })
  assert.deepEqual(planned({ control: 'redis://h' }), { warmUpMs: 8000, settles: undefined })
  assert.equal(planned({ control: 'redis://h', durationMs: 60_000 }).warmUpMs, 10_000)
})

test('--warm-up auto of a cache lasts whole seconds, half of the run at most', () => {
  const lasts = (/** @type {number} */ durationMs) =>
    longestWarmUpMs({
      ...{ warmUpMs: 'auto', durationMs, intervals: undefined, periodMs: 250, strategy: 'cache-aside' },
    })
  assert.deepEqual([15_000, 11_000, 12_500, 60_000, 1000].map(lasts), [7000, 5000, 6000, 30_000, 0])
})

test('--warm-up auto ends at a tick of a whole second after the run is steady, and says what it left out', () => {
  const { window, at, silent } = windowAt({ warmUpMs: 10_000, settles: true })
  silent(400_000, 90_000, 3000, 3100)
  assert.equal(window.covers(5500), false)
  const left = 'the warm-up of 6 s is left out: latency and CPU of 3 seconds agree'
  assert.equal(at(4970, line(2900)), left)
  assert.equal(window.fromMs(), 6000)
  assert.deepEqual([window.covers(5999), window.covers(6000)], [false, true])
  assert.equal(at(5970, line(2900)), null, 'it is said once')
  window.close()
})

test('one that is never steady ends at its longest, and a backlog that began in it is said', () => {
  const { window, at, silent, whole } = windowAt({ warmUpMs: 4000, settles: true, durationMs: 8000 })
  whole.offered = 90_000
  silent(400_000, 800_000)
  const left =
    'the warm-up of 4 s is left out: the run is too short to compare seconds, and 4 s are measured; 85000 items wait already'
  assert.equal(at(2970, line(1_200_000)), left)
  assert.equal(window.fromMs(), 4000)
  window.close()
  const longer = windowAt({ warmUpMs: 5000, settles: true, durationMs: 10_000 })
  longer.silent(388_000, 788_000, 1_188_000)
  const rest = 'the warm-up of 5 s is left out: latency and CPU still change'
  assert.equal(longer.at(3970, line(300)), rest, 'half of it is not little')
  longer.window.close()
  assert.equal(windowAt({ warmUpMs: 4000 }).at(970, line(1)), null, 'a stated time stays')
})

test('a run that is little longer than its warm-up says how little was measured', () => {
  const { window, at, silent } = windowAt({ warmUpMs: 4200, settles: true, durationMs: 8400 })
  silent(300, 300, 300)
  window.close()
  assert.equal(at(3970, line(300)), null, 'nothing is left out of a run that ended in its warm-up')
  const other = windowAt({ warmUpMs: 3000, settles: true, durationMs: 8000 })
  other.silent(300)
  const left = 'the warm-up of 3 s is left out: the run is too short to compare seconds, and 5 s are measured'
  assert.equal(other.at(1970, line(300)), left)
  other.window.close()
})

test('where a tick takes a minute, the warm-up ends with it, and seconds are compared until then', () => {
  const terms = { warmUpMs: 60_000, settles: true, spacingMs: 60_000, durationMs: 120_000 }
  const { window, at, silent } = windowAt(terms)
  silent(300, 300, 300)
  assert.match(String(at(3970, line(300))), /^the warm-up of 60 s is left out: latency and CPU of 3 seconds/)
  assert.equal(window.fromMs(), 60_000)
  window.close()
})

test('a second that is read late is said all the same', async () => {
  const late = windowAt({ warmUpMs: 30, settles: true, durationMs: 60 })
  late.window.start()
  await new Promise((resolve) => setTimeout(resolve, 30))
  assert.equal(late.window.phase(), 'measuring')
  assert.match(String(late.at(1100, line(300))), /^the warm-up of 30 ms is left out: the run is too short/)
  late.window.close()
})
