// The metrics of a run for OpenTelemetry, as OTLP over HTTP: converted from the registry that Prometheus reads.

import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics'

/**
 * @import { ResourceMetrics } from '@opentelemetry/sdk-metrics'
 *
 * @typedef {{ value: number, labels: Record<string, string | number>, metricName?: string }} Value
 * @typedef {{ name: string, help: string, type: string, values: Value[] }} Metric as prom-client gives it
 * @typedef {[seconds: number, nanoseconds: number]} HrTime
 */

const path = '/v1/metrics'
const timeoutMs = 5000

/** @param {number} epochMs @returns {HrTime} */
const hrTime = (epochMs) => [Math.floor(epochMs / 1000), Math.round((epochMs % 1000) * 1e6)]

const units = /** @type {const} */ ([
  ['_bytes', 'By'],
  ['_seconds', 's'],
  ['_ratio', '1'],
])

/** @param {string} name */
const unitOf = (name) => units.find(([ending]) => name.replace(/_total$/, '').endsWith(ending))?.[1] ?? ''

/** The run is the resource. @param {Value['labels']} labels @returns {Record<string, string>} */
const attributesOf = ({ run: _, le: __, ...labels }) =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]))

/** Prometheus' buckets are cumulative, those of OTLP are not. @param {Value[]} values */
const histogramsOf = (values) => {
  /** @type {Map<string, { attributes: Record<string, string>, bounds: number[], below: number[], sum: number, count: number }>} */
  const series = new Map()
  for (const { labels, value, metricName = '' } of values) {
    const attributes = attributesOf(labels)
    const key = JSON.stringify(attributes)
    const own = series.get(key) ?? { attributes, bounds: [], below: [], sum: 0, count: 0 }
    series.set(key, own)
    if (metricName.endsWith('_sum')) own.sum = value
    else if (metricName.endsWith('_count')) own.count = value
    else if (labels.le !== '+Inf') {
      own.bounds.push(Number(labels.le))
      own.below.push(value)
    }
  }
  return [...series.values()].map(({ attributes, bounds, below, sum, count }) => ({
    attributes,
    value: {
      buckets: { boundaries: bounds, counts: [...below, count].map((n, at) => n - (below[at - 1] ?? 0)) },
      sum,
      count,
    },
  }))
}

/** @param {Metric} metric @param {{ startTime: HrTime, endTime: HrTime }} span */
const metricData = ({ name, help, type, values }, span) => {
  const points =
    type === 'histogram'
      ? histogramsOf(values)
      : values.map(({ value, labels }) => ({ value, attributes: attributesOf(labels) }))
  const dataPointType = { counter: DataPointType.SUM, histogram: DataPointType.HISTOGRAM }[type]
  return {
    descriptor: { name: name.replace(/_total$/, ''), description: help, unit: unitOf(name), valueType: 1 },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: dataPointType ?? DataPointType.GAUGE,
    ...(type === 'counter' && { isMonotonic: true }),
    dataPoints: points.map((point) => ({ ...point, ...span })),
  }
}

/**
 * @param {object} needs
 * @param {string} needs.url of a collector; without a path it gets that of the protocol
 * @param {string} needs.run
 * @param {string} needs.version of Millrace
 * @param {() => Promise<Metric[]>} needs.metrics
 * @param {() => number} needs.epochMs
 */
export const otlpOf = ({ url, run, version, metrics, epochMs }) => {
  const address = new URL(url)
  if (address.pathname === '/') address.pathname = path
  const exporter = new OTLPMetricExporter({ url: address.href, timeoutMillis: timeoutMs })
  const resource = resourceFromAttributes({
    'service.name': 'millrace',
    'service.version': version,
    'service.instance.id': run,
  })
  const startTime = hrTime(epochMs())
  return {
    /** Sends what the metrics are now. @returns {Promise<Error | null>} why they were not taken */
    async send() {
      const span = { startTime, endTime: hrTime(epochMs()) }
      const data = (await metrics()).map((metric) => metricData(metric, span))
      const scopeMetrics = [{ scope: { name: 'millrace', version }, metrics: data.filter(hasPoints) }]
      return new Promise((resolve) => {
        exporter.export(
          /** @type {ResourceMetrics} */ (/** @type {unknown} */ ({ resource, scopeMetrics })),
          ({ error }) => resolve(error ?? null),
        )
      })
    },
    close: () => exporter.shutdown(),
  }
}

/** @param {{ dataPoints: unknown[] }} metric */
const hasPoints = ({ dataPoints }) => dataPoints.length > 0
