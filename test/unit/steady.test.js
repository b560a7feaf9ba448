import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSteady } from '../../lib/run/steady.js'
import { windowOf } from '../../lib/run/window.js'

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
  const window = windowOf(
    /** @type {any} */ ({
      plan: {
        rate: null,
        pacing: 'smooth',
        arrivals: 'constant',
        spacingMs: 300,
        nominalHz: 10_000,
        ...plan,
      },
      ledger: { whole, commands: { itemsCarried: 0 } },
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
  const { window, at, whole } = windowAt({ warmUpMs: 4000, settles: true })
  whole.offered = 90_000
  for (const [ms, p99] of [
    [970, 400_000],
    [1970, 800_000],
  ])
    assert.equal(at(ms, line(p99)), null)
  assert.match(
    String(at(2970, line(1_200_000))),
    /^the warm-up of 4 s is left out: latency and CPU do not agree yet; 85000 items wait already$/,
  )
  assert.equal(window.fromMs(), 4000)
  window.close()
  assert.equal(windowAt({ warmUpMs: 4000 }).at(970, line(1)), null, 'a stated time stays')
})
