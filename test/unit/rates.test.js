import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rateLatency } from '../../charts/rate-latency.js'
import { evenTimeOf, meanRate, rampOf, rateAt, stepsOf, typedRates } from '../../lib/traffic/rates.js'

test('rates one after the other, with their times', () => {
  const [first, second] = stepsOf('10k@30s,20k@1m') ?? []
  assert.deepEqual(first, { fromMs: 0, toMs: 30_000, rateHz: 10_000 })
  assert.deepEqual(second, { fromMs: 30_000, toMs: 90_000, rateHz: 20_000 })
  assert.equal(stepsOf('500@2')?.[0].toMs, 2000)
  for (const bad of '10k@ @30s 10k@30s, 10k@0.5s max@3s 10k@3s@4s 0@3s -1@3s 10k@soon'.split(' '))
    assert.equal(stepsOf(bad), undefined, bad)
})

test('a ramp rises or falls in steps of a second, at most 300', () => {
  const rates = rampOf('10k..100k/10s')
  assert.ok(rates)
  assert.equal(rates.length, 10)
  assert.deepEqual([rates[0].rateHz, rates[9].rateHz, rates[9].toMs], [10_000, 100_000, 10_000])
  assert.deepEqual([rampOf('100k..10k/5m')?.length, rampOf('1k..2k/1h')?.length], [300, 300])
  for (const bad of '10k..100k 10k/5m 10k..10k/5m 10k..20k/1s 0..20k/5m 10k...20k/5m a..b/c'.split(' '))
    assert.equal(rampOf(bad), undefined, bad)
})

test('rates are typed as they were read', () => {
  assert.equal(typedRates(rampOf('10..13/3700ms')), '10@1233ms,12@1234ms,13@1233ms')
  assert.equal(typedRates(stepsOf('2k@3s')), '2000@3000ms')
})

const rates = stepsOf('1000@1s,3000@3s') ?? assert.fail()

test('the time in which all comes evenly goes faster where the rate is higher, and goes on behind the end', () => {
  const { evenOf, momentOf } = evenTimeOf(rates)
  assert.deepEqual([0, 500, 1000, 2000, 4000, 5000].map(evenOf), [0, 200, 400, 1600, 4000, 5200])
  for (const ms of [0, 500, 1000, 2000, 4000, 5000]) assert.ok(Math.abs(momentOf(evenOf(ms)) - ms) < 1e-9)
})

test('the mean is of what is due, also after a warm-up', () => {
  assert.equal(meanRate(rates), 2500)
  assert.ok(Math.abs(meanRate(rates, 500, 2000) - (500 * 1000 + 1000 * 3000) / 1500) < 1e-6)
  const found = [0, 999, 1000, 9999].map((ms) => rateAt(rates, ms))
  assert.deepEqual(found, [1000, 1000, 3000, 3000])
})

test('the page shows latency by rate, without seconds in which the rate changed', () => {
  const second = (/** @type {number} */ atMs) =>
    /** @type {any} */ ({ at_ms: atMs, latency_us: { intended: { p50: 300, p99: 2000, samples: 5000 } } })
  const record = /** @type {any} */ ({
    run: { plan: { rates: stepsOf('1000@2s,3000@2s') } },
    seconds: [1000, 2000, 2500, 4000].map(second),
  })
  const option = rateLatency.option(record)
  assert.deepEqual(option?.series[1].data.flat(), [1000, 2000, 1000, 2000, 3000, 2000])
  assert.equal(rateLatency.option({ ...record, run: { plan: {} } }), null)
})
