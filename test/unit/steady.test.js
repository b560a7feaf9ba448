import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSteady } from '../../lib/run/steady.js'
import { measuringWindow } from '../../lib/run/window.js'
import { samplePlan } from '../helpers/sample-plan.js'

/** @param {number} p99Us @param {number} [cpuPct] @param {number} [achieved] */
const line = (p99Us, cpuPct = 20, achieved = 10_000) => ({
  achieved,
  latency_us: { intended: { p50: p99Us / 3, p99: p99Us } },
  client: { cpu_pct: cpuPct },
  nodes: [{ cpu_pct: cpuPct }],
})

test('a run is steady when three seconds after the first agree in rate, latency and CPU', () => {
  const calm = [3000, 3200, 2800].map((p99) => line(p99))
  assert.equal(isSteady([line(3000), ...calm]), true)
  assert.equal(isSteady(calm), false, 'the first second is never one of them')
  assert.equal(isSteady([line(300_000), line(240_000), ...calm]), true)
  assert.equal(isSteady([line(3000), line(240_000), line(9000), line(3000)]), false)
  assert.equal(isSteady([line(1), ...calm.slice(1), line(3000, 60)]), false)
  assert.equal(isSteady([line(1), ...calm.slice(1), line(3000, 20, 6000)]), false)
  assert.equal(
    isSteady([line(1), line(100), line(30), line(60)]),
    true,
    'tens of microseconds differ by nothing',
  )
})

/** A window in a made-up time. @param {object} plan */
const windowAt = (plan) => {
  let nowMs = 0
  const whole = { offered: 5000, acked: 5000, failed: 0, uncertain: 0, dropped: 0, unsettled: 0 }
  const window = measuringWindow(
    /** @type {any} */ ({
      plan: {
        rate: null,
        pacing: 'smooth',
        arrivals: 'constant',
        spacingMs: 300,
        nominalHz: 10_000,
        ...plan,
      },
      ledger: { whole },
      onOpen: () => {},
      sampler: { mark: async () => {} },
      elapsed: () => nowMs,
    }),
  )
  const at = (/** @type {number} */ ms, /** @type {object} */ second) => {
    nowMs = ms
    return window.settled(second)
  }
  return { window, at, whole }
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

test('--warm-up auto ends at a tick of a whole second after the run is steady, and says what it left out', () => {
  const { window, at } = windowAt({ warmUpMs: 10_000, settles: true })
  for (const [ms, p99] of [
    [970, 400_000],
    [1970, 90_000],
    [2970, 3000],
    [3970, 3100],
  ])
    assert.equal(at(ms, line(p99)), null)
  assert.equal(window.covers(5500), false)
  assert.match(
    String(at(4970, line(2900))),
    /^the warm-up of 6 s is left out: latency and CPU of 3 seconds agree$/,
  )
  assert.equal(window.fromMs(), 6000)
  assert.deepEqual([window.covers(5999), window.covers(6000)], [false, true])
  assert.equal(at(5970, line(2900)), null, 'it is said once')
  window.close()
})

test('one that is never steady ends at its longest, and a backlog that began in it is said', () => {
  const { window, at, whole } = windowAt({ warmUpMs: 4000, settles: true, durationMs: 8000 })
  whole.offered = 90_000
  for (const [ms, p99] of [
    [970, 400_000],
    [1970, 800_000],
  ])
    assert.equal(at(ms, line(p99)), null)
  assert.match(
    String(at(2970, line(1_200_000))),
    /^the warm-up of 4 s is left out: the run is too short to compare seconds, and 4 s are measured; 85000 items wait already$/,
  )
  assert.equal(window.fromMs(), 4000)
  window.close()
  const longer = windowAt({ warmUpMs: 5000, settles: true, durationMs: 10_000 })
  for (const ms of [970, 1970, 2970]) assert.equal(longer.at(ms, line(400 * ms)), null)
  assert.equal(
    longer.at(3970, line(300)),
    'the warm-up of 5 s is left out: latency and CPU do not agree yet',
    'half of it is not little',
  )
  longer.window.close()
  assert.equal(windowAt({ warmUpMs: 4000 }).at(970, line(1)), null, 'a stated time stays')
})

test('a run that is little longer than its warm-up says how little was measured', () => {
  const { window, at } = windowAt({ warmUpMs: 4200, settles: true, durationMs: 8400 })
  for (const ms of [970, 1970, 2970]) assert.equal(at(ms, line(300)), null)
  window.close()
  assert.equal(at(3970, line(300)), null, 'nothing is left out of a run that ended in its warm-up')
  const other = windowAt({ warmUpMs: 3000, settles: true, durationMs: 8000 })
  assert.equal(other.at(970, line(300)), null)
  assert.equal(
    other.at(1970, line(300)),
    'the warm-up of 3 s is left out: the run is too short to compare seconds, and 5 s are measured',
  )
  other.window.close()
})

test('where a tick takes a minute, the warm-up ends with it, and seconds are compared until then', () => {
  const { window, at } = windowAt({
    ...{ warmUpMs: 60_000, settles: true, spacingMs: 60_000, durationMs: 120_000 },
  })
  for (let second = 1; second < 4; second++) assert.equal(at(second * 1000 - 30, line(300)), null)
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
