// --otlp: what a collector of OpenTelemetry receives, by OTLP over HTTP.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { runCommand } from '../helpers/command-here.js'
import { refusedHere } from '../helpers/here.js'
import { assertDone, at } from '../helpers/programs.js'
import { startServer } from '../helpers/servers.js'

/** @import { IncomingHttpHeaders } from 'node:http' */

/** A collector that keeps what it is sent. @param {{ after(fn: () => void): void }} t @param {number} [status] */
const startCollector = async (t, status = 200) => {
  /** @type {{ url: string | undefined, headers: IncomingHttpHeaders, body: any }[]} */
  const requests = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    requests.push({ url: request.url, headers: request.headers, body: JSON.parse(text) })
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { requests, address: `http://127.0.0.1:${/** @type {any} */ (server.address()).port}` }
}

/** @param {any[]} attributes */
const named = (attributes) => Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]))

test('the last request has every item by its outcome, latencies and nodes, and names the run', async (t) => {
  const { requests, address } = await startCollector(t)
  const server = await startServer(t)
  // The exporter reads it from the environment of its process.
  process.env.OTEL_EXPORTER_OTLP_HEADERS = 'x-team=feeds'
  t.after(() => delete process.env.OTEL_EXPORTER_OTLP_HEADERS)
  const line = `write -q 200 --duration 1s --run told --no-report --otlp ${address}`
  const ended = await runCommand(t, line, { env: at(server) })
  assertDone(ended)
  const { document } = ended
  const last = requests.at(-1)
  assert.ok(last)
  assert.equal(last.url, '/v1/metrics')
  assert.match(String(last.headers['content-type']), /^application\/json/)
  assert.equal(last.headers['x-team'], 'feeds')

  const [{ resource, scopeMetrics }] = last.body.resourceMetrics
  const about = named(resource.attributes)
  assert.equal(about['service.name'], 'millrace')
  assert.equal(about['service.instance.id'], 'told')
  /** @type {Map<string, any>} */
  const metrics = new Map(scopeMetrics[0].metrics.map((/** @type {any} */ metric) => [metric.name, metric]))
  const { sum } = metrics.get('millrace_items')
  assert.deepEqual([sum.isMonotonic, sum.aggregationTemporality], [true, 2])
  const outcomes = Object.fromEntries(
    sum.dataPoints.map((/** @type {any} */ point) => [named(point.attributes).outcome, point.asDouble]),
  )
  assert.equal(outcomes.acked, document.items.acked)
  assert.equal(outcomes.dropped, 0)
  assert.equal(metrics.get('millrace_rate_nominal').gauge.dataPoints[0].asDouble, 200)

  const latency = metrics.get('millrace_latency_seconds')
  assert.equal(latency.unit, 's')
  for (const { bucketCounts, explicitBounds, count } of latency.histogram.dataPoints) {
    assert.equal(bucketCounts.length, explicitBounds.length + 1)
    const all = bucketCounts
      .map(Number)
      .reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0)
    assert.equal(all, Number(count))
    assert.ok(bucketCounts.every((/** @type {any} */ n) => Number(n) >= 0))
  }
  const [node] = metrics.get('millrace_node_memory_bytes').gauge.dataPoints
  assert.equal(named(node.attributes).role, 'master')
  for (const { start, end } of [{ start: node.startTimeUnixNano, end: node.timeUnixNano }])
    assert.ok(BigInt(start) < BigInt(end))
})

test('a collector that refuses or is not there is a warning, and the run counts', async (t) => {
  const refusing = await startCollector(t, 400)
  const server = await startServer(t)
  for (const address of [refusing.address, 'http://127.0.0.1:9']) {
    const line = `write -q 100 -p 200 --intervals 2 --no-report --otlp ${address}`
    const ended = await runCommand(t, line, { env: at(server) })
    assertDone(ended)
    const { stderr } = ended
    const warnings = stderr.split('\n').filter((text) => text.includes('the metrics were not taken'))
    assert.equal(warnings.length, 1, stderr)
    assert.ok(warnings[0].includes(`--otlp ${address}`), stderr)
  }
})

test('an address with a password, or without a protocol, is refused', async () => {
  for (const address of ['collector:4318', 'http://me:secret@collector:4318']) {
    const { code, stderr } = await refusedHere(`write -q 100 --duration 1s --otlp ${address}`)
    assert.equal(code, 2, stderr)
    assert.match(stderr, /^--otlp.*must be an http:\/\/ or https:\/\/ address without a password/)
    assert.doesNotMatch(stderr, /secret/)
  }
})
