import assert from 'node:assert/strict'
import test from 'node:test'
import * as hdr from 'hdr-histogram-js'
import { latencyOf, series } from '../../lib/measure/latency.js'
import { seeded } from '../helpers/random.js'

/** @typedef {import('../../lib/measure/latency.js').Times} Percentiles */

const shares = /** @type {const} */ ({ p50: 0.5, p90: 0.9, p99: 0.99, p999: 0.999, max: 1 })

/** @param {Percentiles | null} told @param {number[]} values */
const assertPercentiles = (told, values) => {
  const sorted = Float64Array.from(values).sort()
  assert.ok(told)
  for (const [name, share] of Object.entries(shares)) {
    const real = sorted[Math.max(0, Math.ceil(share * sorted.length - 1e-9) - 1)]
    const us = told[/** @type {keyof typeof shares} */ (name)]
    assert.ok(Math.abs(us - real) <= Math.max(0.5, real * 0.001), `${name}: ${us} instead of ${real}`)
  }
}

/** @param {import('node:test').TestContext} t */
const seriesFor = (t) => {
  const one = series()
  t.after(() => one.close())
  return one
}

/** From a few microseconds to a minute. @param {number} seed @param {number} count */
const latencies = (seed, count) => {
  const random = seeded(seed)
  return Array.from({ length: count }, () => Math.round(10 ** (0.5 + random.next() * 7.2)))
}

test('percentiles to a thousandth, as against the sorted values', (t) => {
  for (const [seed, count] of [
    [1, 1],
    [2, 10],
    [3, 20_000],
  ]) {
    const one = seriesFor(t)
    const values = latencies(seed, count)
    for (const us of values) one.record(us)
    const second = one.turn()
    assertPercentiles(second, values)
    assert.equal(second?.count, count)
    assertPercentiles(one.whole(), values)
  }
})

test('a weight counts as so many values', (t) => {
  const one = seriesFor(t)
  const random = seeded(9)
  /** @type {number[]} */
  const values = []
  for (const us of latencies(4, 300)) {
    const weight = random.below(500)
    one.record(us, weight)
    for (let i = 0; i < weight; i++) values.push(us)
  }
  assert.equal(one.turn()?.count, values.length)
  assertPercentiles(one.whole(), values)
})

test('a turn ends the second, and the whole goes on', (t) => {
  const one = seriesFor(t)
  const seconds = [latencies(5, 500), latencies(6, 700)]
  for (const values of seconds) {
    for (const us of values) one.record(us)
    const second = one.turn()
    assert.equal(second?.count, values.length)
    assertPercentiles(/** @type {Percentiles} */ (second), values)
    assert.equal(one.turn(), null, 'a second without an answer')
  }
  assertPercentiles(one.whole(), seconds.flat())
})

test('the whole holds what no turn has ended yet, once', (t) => {
  const one = seriesFor(t)
  const values = latencies(10, 400)
  for (const us of values) one.record(us)
  one.turn()
  one.record(77)
  assertPercentiles(one.whole(), [...values, 77])
  assertPercentiles(one.whole(), [...values, 77])
})

test('nothing recorded has no percentiles', (t) => {
  const one = seriesFor(t)
  assert.deepEqual([one.turn(), one.whole()], [null, null])
})

test('less than a microsecond, or before its due moment, is told as one', (t) => {
  const one = seriesFor(t)
  for (const us of [-5, 0, 0.2]) one.record(us)
  one.turn()
  assert.deepEqual(one.whole(), { p50: 1, p90: 1, p99: 1, p999: 1, max: 1, mean: 1, count: 3 })
})

/** @param {hdr.Histogram} histogram */
const bucketsOf = (histogram) => hdr.encodeIntoCompressedBase64(histogram)

/** @param {hdr.Histogram} histogram @returns {Percentiles} */
const percentilesOf = (histogram) => ({
  p50: histogram.getValueAtPercentile(50),
  p90: histogram.getValueAtPercentile(90),
  p99: histogram.getValueAtPercentile(99),
  p999: histogram.getValueAtPercentile(99.9),
  max: histogram.maxValue,
})

test('encoded histograms merge to the histogram of both', (t) => {
  const [one, other, both] = [seriesFor(t), seriesFor(t), seriesFor(t)]
  const [mine, theirs] = [latencies(7, 3000), latencies(8, 2000)]
  for (const us of mine) one.record(us)
  for (const us of theirs) other.record(us, 3)
  for (const us of mine) both.record(us)
  for (const us of theirs) both.record(us, 3)
  const merged = hdr.decodeFromCompressedBase64(/** @type {string} */ (one.turn()?.hdr))
  merged.add(hdr.decodeFromCompressedBase64(/** @type {string} */ (other.turn()?.hdr)))
  const whole = hdr.decodeFromCompressedBase64(/** @type {string} */ (both.turn()?.hdr))
  assert.equal(merged.totalCount, 9000)
  assert.equal(bucketsOf(merged), bucketsOf(whole))
  assertPercentiles(percentilesOf(merged), [...mine, ...theirs, ...theirs, ...theirs])
})

test('seconds merge to the whole of the run', (t) => {
  const one = seriesFor(t)
  const merged = hdr.build({ bitBucketSize: 64, numberOfSignificantValueDigits: 3 })
  const seconds = [1, 2, 3, 4, 5].map((seed) => latencies(seed, 400))
  for (const values of seconds) {
    for (const us of values) one.record(us)
    merged.add(hdr.decodeFromCompressedBase64(/** @type {string} */ (one.turn()?.hdr)))
  }
  assert.equal(merged.totalCount, 2000)
  assertPercentiles(percentilesOf(merged), seconds.flat())
  assertPercentiles(one.whole(), seconds.flat())
})

test('from the due moment and from the send, weighted by items', (t) => {
  const latency = latencyOf()
  t.after(latency.close)
  latency.record(1000, 1002.5, 1004, 7)
  for (const [{ turn }, us] of /** @type {const} */ ([
    [latency.intended, 4000],
    [latency.service, 1500],
  ])) {
    const second = turn()
    assertPercentiles(second, [us])
    assert.equal(second?.count, 7)
  }
})

test('no percentile lies above the highest latency', (t) => {
  const one = series()
  t.after(one.close)
  for (let us = 286_000; us < 286_400; us += 7) one.record(us)
  const found = one.whole()
  assert.ok(found)
  for (const us of [found.p50, found.p90, found.p99, found.p999])
    assert.ok(us <= found.max, `${us} > ${found.max}`)
})
