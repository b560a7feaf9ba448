import assert from 'node:assert/strict'
import test from 'node:test'
import * as hdr from 'hdr-histogram-js'
import { histogramSum, isHistogram, latencyOf, mergedPercentiles, series } from '../../lib/probes/latency.js'
import { seeded } from '../helpers/random.js'

/** @import { Times as Percentiles } from '../../lib/probes/latency.js' */
/** @import { TestContext } from 'node:test' */
/** @typedef {ReturnType<typeof series>} Series */

const shares = /** @type {const} */ ({ p50: 0.5, p90: 0.9, p99: 0.99, p999: 0.999, max: 1 })

/** @param {Partial<Percentiles> | null} told @param {number[]} values */
const assertPercentiles = (told, values) => {
  const sorted = Float64Array.from(values).sort()
  for (const [name, share] of Object.entries(shares)) {
    const real = sorted[Math.max(0, Math.ceil(share * sorted.length - 1e-9) - 1)]
    const us = Number(told?.[/** @type {keyof typeof shares} */ (name)])
    assert.ok(Math.abs(us - real) <= Math.max(0.5, real * 0.001), `${name}: ${us} instead of ${real}`)
  }
}

/** A series of these values. @param {TestContext} t @param {number[]} [values] @param {number} [weight] */
const seriesFor = (t, values = [], weight) => {
  const one = series()
  t.after(one.close)
  for (const us of values) one.record(us, weight)
  return one
}

/** From a few microseconds to a minute. @param {number} seed @param {number} count */
const latencies = (seed, count) => {
  const random = seeded(seed)
  return Array.from({ length: count }, () => Math.round(10 ** (0.5 + random.next() * 7.2)))
}

test('percentiles to a thousandth, as against the sorted values', (t) => {
  for (const [i, count] of [1, 10, 20_000].entries()) {
    const values = latencies(i + 1, count)
    const one = seriesFor(t, values)
    const second = one.endSecond()
    assertPercentiles(second, values)
    assert.equal(second?.count, count)
    assertPercentiles(one.whole(), values)
  }
})

test('a weight counts as so many values', (t) => {
  const one = seriesFor(t)
  const random = seeded(9)
  const values = /** @type {number[]} */ ([])
  for (const us of latencies(4, 300)) {
    const weight = random.below(500)
    one.record(us, weight)
    for (let i = 0; i < weight; i++) values.push(us)
  }
  assert.equal(one.endSecond()?.count, values.length)
  assertPercentiles(one.whole(), values)
})

test('nothing recorded has no percentiles', (t) => {
  const one = seriesFor(t)
  assert.deepEqual([one.endSecond(), one.whole()], [null, null])
})

test('less than a microsecond, or before its due moment, is told as one', (t) => {
  const one = seriesFor(t, [-5, 0, 0.2])
  one.endSecond()
  assert.deepEqual(one.whole(), { p50: 1, p90: 1, p99: 1, p999: 1, max: 1, mean: 1, count: 3 })
})

const percentilesOf = (/** @type {hdr.Histogram} */ histogram) => {
  const [p50, p90, p99, p999] = [50, 90, 99, 99.9].map((percent) => histogram.getValueAtPercentile(percent))
  return { p50, p90, p99, p999, max: histogram.maxValue }
}

/** The histogram of a second. @param {any} second */
const histogramOf = (second) => hdr.decodeFromCompressedBase64(String(second?.hdr))

test('a turn ends the second, the whole goes on, and encoded seconds merge to it', (t) => {
  const one = seriesFor(t)
  const merged = hdr.build({ bitBucketSize: 64, numberOfSignificantValueDigits: 3 })
  const seconds = [1, 2, 3, 4, 5].map((seed) => latencies(seed, 400))
  for (const values of seconds) {
    for (const us of values) one.record(us)
    const second = one.endSecond()
    assert.equal(second?.count, 400)
    assertPercentiles(second, values)
    assert.equal(one.endSecond(), null, 'a second without an answer')
    merged.add(histogramOf(second))
  }
  assert.equal(merged.totalCount, 2000)
  assertPercentiles(percentilesOf(merged), seconds.flat())
  assertPercentiles(one.whole(), seconds.flat())
  // What no turn has ended yet is in the whole, once.
  one.record(77)
  for (let i = 0; i < 2; i++) assertPercentiles(one.whole(), [...seconds.flat(), 77])
})

test('the parts of a second, as threads say them, add up to it', (t) => {
  const values = [1, 2, 3].map((seed) => latencies(seed, 300))
  const sum = histogramSum()
  t.after(sum.close)
  for (const some of values) {
    const part = structuredClone(seriesFor(t, some).endPart())
    assert.deepEqual({ ...part, hdr: null }, { max: Math.max(...some), count: 300, samples: 300, hdr: null })
    sum.add(part?.hdr ?? assert.fail())
  }
  assertPercentiles(sum.percentiles(), values.flat())
  assert.equal(seriesFor(t).endPart(), null)
})

test('what the library has encoded is read, and nothing else', () => {
  const theirs = hdr.build({ bitBucketSize: 64, numberOfSignificantValueDigits: 3 })
  for (const us of latencies(9, 400)) theirs.recordValue(us)
  const text = hdr.encodeIntoCompressedBase64(theirs)
  assertPercentiles(mergedPercentiles([text]), latencies(9, 400))
  for (const other of ['', text.slice(0, 8), `AAAA${text.slice(4)}`, text.slice(0, -20)])
    assert.equal(isHistogram(other), false, other)
})

test('from the due moment and from the send, weighted by items', (t) => {
  const latency = latencyOf()
  t.after(latency.close)
  latency.record(1000, 1002.5, 1004, 7)
  for (const [{ endSecond }, us] of /** @type {[Series, number][]} */ ([
    [latency.intended, 4000],
    [latency.service, 1500],
  ])) {
    const second = endSecond()
    assertPercentiles(second, [us])
    assert.equal(second?.count, 7)
  }
})

test('no percentile lies above the highest latency', (t) => {
  const one = seriesFor(t)
  for (let us = 286_000; us < 286_400; us += 7) one.record(us)
  const { p50, p90, p99, p999, max } = /** @type {Percentiles} */ (one.whole())
  for (const us of [p50, p90, p99, p999]) assert.ok(us <= max, `${us} > ${max}`)
})
