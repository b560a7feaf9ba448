// The figures of a run as Prometheus asks for them: fed by the lines of intervals.ndjson, a second at a time.
import { Counter, Gauge, Registry } from 'prom-client'
import { at } from '../measures/fold.js'
import { MEASURES, ofReaders, ofWorkers, ofWriters } from '../measures/index.js'
import { eachRecorded } from '../probes/latency.js'

/**
 * @import { Histogram } from 'prom-client'
 * @import { NodeRow } from '../probes/node-sampler.js'
 * @import { Measure } from '../measures/contract.js'
 * @import { Line } from '../measures/fold.js'
 */

const boundsS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

/**
 * A histogram that takes whole seconds of others: prom-client's own takes one value at a time, and a second has
 * hundreds of thousands.
 * @param {Registry} registry
 * @param {{ name: string, help: string }} about
 */
const mergedHistogram = (registry, { name, help }) => {
  /** @type {Map<string, { labels: Record<string, string>, counts: number[], sum: number, count: number }>} */
  const series = new Map()
  const values = () =>
    [...series.values()].flatMap(({ labels, counts, sum, count }) => [
      ...boundsS.map((le, at) => ({
        metricName: `${name}_bucket`,
        labels: { le, ...labels },
        value: counts[at],
      })),
      { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ])
  const metric = {
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    get: async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: values() }),
    reset: () => series.clear(),
  }
  registry.registerMetric(/** @type {Histogram} */ (/** @type {unknown} */ (metric)))
  return {
    /** @param {Record<string, string>} labels @param {{ hdr: string } | null | undefined} second */
    add(labels, second) {
      if (!second) return
      const key = JSON.stringify(labels)
      const own = series.get(key) ?? { labels, counts: boundsS.map(() => 0), sum: 0, count: 0 }
      series.set(key, own)
      eachRecorded(second.hdr, (us, n) => {
        const s = us / 1e6
        own.sum += s * n
        own.count += n
        boundsS.forEach((bound, at) => {
          if (s <= bound) own.counts[at] += n
        })
      })
    },
  }
}

/**
 * What measures declare. One that several feed is made once. A counter that begins with its first event hides that event from
 * rate() and increase(): those of the kind begin with 0.
 * @param {Registry} registry
 * @param {readonly Measure[]} ofKind
 */
const measureMetrics = (registry, ofKind) => {
  /** @type {Record<string, ReturnType<typeof mergedHistogram>>} */
  const histograms = {}
  /** @type {Record<string, Counter>} */
  const counters = {}
  const begun = new Set(ofKind.flatMap(({ prometheus = [] }) => prometheus))
  const takers = MEASURES.flatMap(({ prometheus = [] }) => prometheus).map((row) => {
    const { name: own, help, type, path, scale = 1, labels = {}, by, of = '' } = row
    const name = `millrace_${own}`
    if (type === 'histogram') {
      histograms[name] ??= mergedHistogram(registry, { name, help })
      return (/** @type {Line} */ second) => histograms[name].add(labels, at(second, path))
    }
    const about = { name, help, labelNames: by ? [by] : Object.keys(labels), registers: [registry] }
    const gauge = type === 'gauge' ? new Gauge(about) : null
    if (!gauge) counters[name] ??= new Counter(about)
    if (!gauge && !by && begun.has(row)) counters[name].inc(labels, 0)
    if (by)
      return (/** @type {Line} */ second) => {
        for (const [key, value] of Object.entries(at(second, path) ?? {}))
          counters[name].inc({ [by]: key }, of ? value[of] : value)
      }
    return (/** @type {Line} */ second) => {
      const value = at(second, path)
      if (typeof value !== 'number') return
      if (gauge) gauge.set(value * scale)
      else if (value > 0) counters[name].inc(labels, value * scale)
    }
  })
  return (/** @type {Line} */ second) => {
    for (const take of takers) take(second)
  }
}

/** Gauges of every node; those of a node that left are removed. @param {Registry} registry */
const nodeGauges = (registry) => {
  const labelNames = ['node', 'shard', 'role']
  const gauge = (/** @type {string} */ name, /** @type {string} */ help) =>
    new Gauge({ name: `millrace_node_${name}`, help, labelNames, registers: [registry] })
  /** @type {[Gauge, (row: NodeRow) => number | null | undefined][]} */
  const gauges = [
    [
      gauge('engine_cpu_ratio', 'main thread, of one core'),
      (row) => row.engine_cpu_pct && row.engine_cpu_pct / 100,
    ],
    [gauge('cpu_ratio', 'all threads, of one core'), (row) => row.cpu_pct && row.cpu_pct / 100],
    [gauge('commands_per_second', 'commands a second'), (row) => row.commands_per_s],
    [gauge('memory_bytes', 'used_memory'), (row) => row.memory_bytes],
    [gauge('keys', 'keys in all databases'), (row) => row.keys],
    [gauge('clients', 'connections'), (row) => row.clients],
    [gauge('replication_lag_bytes', 'behind its master'), (row) => row.lag_bytes],
  ]
  return (/** @type {NodeRow[]} */ rows) => {
    for (const [gauge, figure] of gauges) {
      gauge.reset()
      for (const row of rows) {
        const value = figure(row)
        if (typeof value === 'number')
          gauge.set({ node: row.address, shard: String(row.shard), role: row.role }, value)
      }
    }
  }
}

const outcomes = ['offered', 'acked', 'failed', 'uncertain', 'dropped', 'unsettled']

/** @param {{ run: string, kind: 'producer' | 'consumer', nominal: number | null }} about */
export const metricsOf = ({ run, kind, nominal }) => {
  const registry = new Registry()
  registry.setDefaultLabels({ run })
  const gauge = (/** @type {string} */ name, /** @type {string} */ help) =>
    new Gauge({ name: `millrace_${name}`, help, registers: [registry] })
  const counter = (/** @type {string} */ name, /** @type {string} */ help) =>
    new Counter({ name: `millrace_${name}`, help, labelNames: ['outcome'], registers: [registry] })
  // Without a schedule there is no such rate, and 0 would look like one.
  if (nominal !== null) gauge('rate_nominal', 'items a second that the schedule asks for').set(nominal)
  const achieved = gauge('rate_achieved', 'items a second in the last second')
  const items = counter('items_total', 'items by outcome')
  const times = mergedHistogram(registry, {
    name: 'millrace_latency_seconds',
    help: 'of items or operations: from the due time, and from the first send',
  })
  const ofKind = kind === 'producer' ? ofWriters : [...ofReaders, ...ofWorkers]
  const takeMeasures = measureMetrics(registry, ofKind)
  const nodes = nodeGauges(registry)
  // A counter that begins with its first event hides that event from rate() and increase().
  if (kind === 'producer') for (const outcome of outcomes) items.inc({ outcome }, 0)
  return {
    registry,
    /** @param {Line} second */
    take(second) {
      for (const [outcome, n] of Object.entries(second.items ?? {})) if (n > 0) items.inc({ outcome }, n)
      const rate = second.achieved ?? second.items_per_s
      if (typeof rate === 'number') achieved.set(rate)
      times.add({ from: 'intended' }, second.latency_us?.intended)
      times.add({ from: 'send' }, second.latency_us?.service)
      takeMeasures(second)
      nodes(second.nodes ?? [])
    },
  }
}
