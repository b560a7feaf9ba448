import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metricsOf } from '../../lib/report/metrics.js'
import { sampleRecord } from '../helpers/sample-record.js'

/** The number of a metric. @param {string} text @param {string} start of its line, without the prefix of all @returns {number} */
const valueIn = (text, start) => {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`millrace_${start}`))
  assert.ok(line, start)
  return Number(line.slice(line.lastIndexOf(' ')))
}

/** What is printed after these seconds. @param {'producer' | 'consumer'} kind @param {readonly any[]} seconds @param {{ run?: string, nominal?: number | null }} [about] */
const printedOf = (kind, seconds, { run = 'a', nominal = null } = {}) => {
  const { registry, take } = metricsOf({ run, kind, nominal })
  for (const second of seconds) take(second)
  return registry.metrics()
}

const { seconds } = sampleRecord()
const times = seconds[1].bystander_us

test('seconds of a writer add up: counters, histograms, and the nodes of the last one', async () => {
  const text = await printedOf('producer', seconds, { run: 'a"\\b', nominal: 1000 })
  assert.equal(valueIn(text, 'items_total{outcome="acked"'), 8000)
  assert.equal(valueIn(text, 'latency_seconds_count{from="intended"'), 7000)
  assert.equal(valueIn(text, 'latency_seconds_bucket{le="+Inf",from="intended"'), 7000)
  // The middle of the sample is 8 ms, evenly spread up to 16: 10 ms are above three fifths.
  const below = valueIn(text, 'latency_seconds_bucket{le="0.01",from="intended"') / 7000
  assert.ok(Math.abs(below - 0.62) < 0.03, String(below))
  const mean = valueIn(text, 'latency_seconds_sum{from="intended"') / 7000
  assert.ok(Math.abs(mean - 0.0081) < 0.0003, String(mean))
  const replica = 'node_engine_cpu_ratio{node="127.0.0.1:40002",shard="1",role="replica"'
  assert.equal(valueIn(text, replica), 0.27)
  assert.equal(valueIn(text, 'rate_nominal{run="a\\"\\\\b"}'), 1000)
})

test('a node that is silent, or gone, has no figures', async () => {
  const memory = /millrace_node_memory_bytes\{node="127\.0\.0\.1:40001"/
  assert.match(await printedOf('producer', [seconds[2]]), memory)
  assert.doesNotMatch(await printedOf('producer', [seconds[2], seconds[3]]), memory)
})

test('seconds of a consumer', async () => {
  const counted = { count: 2, failed: 1, overrun: 0, items: 20, values: 20 }
  const fetches = { ...counted, nils: 0, bytes: 2560, duplicates: 0 }
  const line = { at_ms: 1000, over_ms: 1000, phase: '', fetches, items_per_s: 20, duration_us: times }
  const text = await printedOf('consumer', [line, line])
  assert.equal(valueIn(text, 'fetches_total{outcome="whole"'), 4)
  assert.equal(valueIn(text, 'fetches_total{outcome="failed"'), 2)
  assert.equal(valueIn(text, 'read_total{outcome="items"'), 40)
  assert.equal(valueIn(text, 'read_bytes_total'), 5120)
  assert.equal(valueIn(text, 'rate_achieved'), 20)
  assert.ok(valueIn(text, 'fetch_seconds_count{part="whole"') > 0)
})

test('seconds of workers', async () => {
  const line = { at_ms: 1000, over_ms: 1000, phase: '', jobs: { taken: 9, done: 8 }, waiting_us: times }
  const text = await printedOf('consumer', [line, line])
  assert.equal(valueIn(text, 'jobs_total{outcome="done"'), 16)
  assert.equal(valueIn(text, 'jobs_total{outcome="duplicates"'), 0)
  assert.ok(valueIn(text, 'job_seconds_count{part="waiting"') > 0)
})

test('counters are there from the start at 0, and a rate that nobody asked for is not', async () => {
  const [writer, reader] = [await printedOf('producer', []), await printedOf('consumer', [])]
  for (const outcome of ['acked', 'failed', 'uncertain', 'dropped', 'unsettled'])
    assert.equal(valueIn(writer, `items_total{outcome="${outcome}"`), 0)
  assert.equal(valueIn(reader, 'fetches_total{outcome="failed"'), 0)
  assert.equal(valueIn(reader, 'read_total{outcome="nils"'), 0)
  for (const each of [writer, reader]) assert.doesNotMatch(each, /millrace_rate_nominal/)
})
