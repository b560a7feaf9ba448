import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metricsOf } from '../../lib/report/metrics.js'
import { sampleRecord } from '../helpers/sample-record.js'

/** @param {string} text @param {string} start of the line @returns {number} */
const value = (text, start) => {
  const line = text.split('\n').find((candidate) => candidate.startsWith(start))
  assert.ok(line, start)
  return Number(line.slice(line.lastIndexOf(' ')))
}

test('seconds of a writer add up: counters, histograms, and the nodes of the last one', async () => {
  const { seconds } = sampleRecord()
  const { registry, take } = metricsOf({ run: 'a"\\b', kind: 'producer', nominal: 1000 })
  for (const second of seconds) take(second)
  const text = await registry.metrics()
  assert.equal(value(text, 'millrace_items_total{outcome="acked"'), 8000)
  assert.equal(value(text, 'millrace_latency_seconds_count{from="intended"'), 7000)
  assert.equal(value(text, 'millrace_latency_seconds_bucket{le="+Inf",from="intended"'), 7000)
  // The middle of the sample is 8 ms, evenly spread up to 16: 10 ms are above three fifths.
  const below = value(text, 'millrace_latency_seconds_bucket{le="0.01",from="intended"') / 7000
  assert.ok(Math.abs(below - 0.62) < 0.03, String(below))
  const mean = value(text, 'millrace_latency_seconds_sum{from="intended"') / 7000
  assert.ok(Math.abs(mean - 0.0081) < 0.0003, String(mean))
  assert.equal(
    value(text, 'millrace_node_engine_cpu_ratio{node="127.0.0.1:40002",shard="1",role="replica"'),
    0.27,
  )
  assert.equal(value(text, 'millrace_rate_nominal{run="a\\"\\\\b"}'), 1000)
})

test('a node that is silent, or gone, has no figures', async () => {
  const { seconds } = sampleRecord()
  const { registry, take } = metricsOf({ run: 'a', kind: 'producer', nominal: null })
  take(seconds[2])
  assert.match(await registry.metrics(), /millrace_node_memory_bytes\{node="127\.0\.0\.1:40001"/)
  take(seconds[3])
  assert.doesNotMatch(await registry.metrics(), /millrace_node_memory_bytes\{node="127\.0\.0\.1:40001"/)
})

test('seconds of a consumer', async () => {
  const [, second] = sampleRecord().seconds
  const { registry, take } = metricsOf({ run: 'a', kind: 'consumer', nominal: null })
  const counts = {
    count: 2,
    failed: 1,
    overrun: 0,
    items: 20,
    values: 20,
    nils: 0,
    bytes: 2560,
    duplicates: 0,
  }
  const line = {
    at_ms: 1000,
    over_ms: 1000,
    phase: '',
    fetches: counts,
    items_per_s: 20,
    duration_us: second.bystander_us,
  }
  take(line)
  take(line)
  const text = await registry.metrics()
  assert.equal(value(text, 'millrace_fetches_total{outcome="whole"'), 4)
  assert.equal(value(text, 'millrace_fetches_total{outcome="failed"'), 2)
  assert.equal(value(text, 'millrace_read_total{outcome="items"'), 40)
  assert.equal(value(text, 'millrace_read_bytes_total'), 5120)
  assert.equal(value(text, 'millrace_rate_achieved'), 20)
  assert.ok(value(text, 'millrace_fetch_seconds_count{part="whole"') > 0)
})

test('seconds of workers', async () => {
  const [, second] = sampleRecord().seconds
  const { registry, take } = metricsOf({ run: 'a', kind: 'consumer', nominal: null })
  const line = { at_ms: 1000, over_ms: 1000, phase: '', jobs: { taken: 9, done: 8 } }
  for (const one of [line, line]) take(/** @type {any} */ ({ ...one, waiting_us: second.bystander_us }))
  const text = await registry.metrics()
  assert.equal(value(text, 'millrace_jobs_total{outcome="done"'), 16)
  assert.equal(value(text, 'millrace_jobs_total{outcome="duplicates"'), 0)
  assert.ok(value(text, 'millrace_job_seconds_count{part="waiting"') > 0)
})

test('counters are there from the start at 0, and a rate that nobody asked for is not', async () => {
  const text = (/** @type {'producer' | 'consumer'} */ kind) =>
    metricsOf({ run: 'a', kind, nominal: null }).registry.metrics()
  const [writer, reader] = [await text('producer'), await text('consumer')]
  for (const outcome of ['acked', 'failed', 'uncertain', 'dropped', 'unsettled'])
    assert.equal(value(writer, `millrace_items_total{outcome="${outcome}"`), 0)
  assert.equal(value(reader, 'millrace_fetches_total{outcome="failed"'), 0)
  assert.equal(value(reader, 'millrace_read_total{outcome="nils"'), 0)
  for (const each of [writer, reader]) assert.doesNotMatch(each, /millrace_rate_nominal/)
})
