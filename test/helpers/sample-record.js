// Finished results as reports read them, for the tests of what is made of them.
import { series } from '../../lib/probes/latency.js'
import { noCounts } from '../../lib/probes/ledger.js'
import { resultDocument } from '../../lib/result/document.js'
import { runRecord } from '../../lib/result/record.js'
import { sampleParts } from './sample-run.js'

/** @import { RunRecord } from '../../lib/result/record.js' */
/** @import { ExperimentDocument } from '../../lib/result/experiment-document.js' */
/** @import { RunParts } from '../../lib/result/document.js' */

/** A second's latencies around a middle. @param {number} us */
const latencies = (us) => {
  const recorded = series()
  for (let at = 1; at <= 100; at++) recorded.record((us * at) / 50, 10)
  const second = recorded.endSecond()
  recorded.close()
  return second
}

/** Eight seconds of a run, the first of them warm-up; a node is silent in the fourth. @param {Partial<RunParts>} [change] @returns {RunRecord} */
export const sampleRecord = (change = {}) => {
  const events = [{ at_ms: 4200, kind: 'failover', text: 'shard 1 has a new master' }]
  const run = resultDocument(sampleParts({ warmUpS: 1, events, ...change }))
  const lines = Array.from({ length: 8 }, (_, second) => {
    const atMs = (second + 1) * 1000
    const warm = second === 0
    const latenciesOf = (/** @type {number} */ us) => (warm ? null : latencies(us))
    return {
      at_ms: atMs,
      phase: warm ? 'warm-up' : 'measuring',
      items: { ...noCounts(), offered: 1000, acked: 1000 },
      achieved: 1000,
      latency_us: { intended: latenciesOf(8000 + second), service: latenciesOf(900 + second) },
      bystander_us: latenciesOf(210),
      client: { cpu_pct: 6, busy_pct: 7, rss_mb: 210, loop_delay_ms_p99: 3, waiting_bytes: 0 },
      nodes: run.nodes.map(({ address, shard, role }, at) => {
        const place = { address, shard, role, at_ms: atMs }
        if (second === 3 && at === 0) return { ...place, gap: /** @type {const} */ ('silent') }
        const pct = 10 * (at + 1) + second
        return {
          ...{ ...place, over_ms: 1000, engine_cpu_pct: pct, cpu_pct: pct * 1.25, commands_per_s: 1000 },
          ...{ memory_bytes: 60e6, keys: 3000, clients: 4, commands: {} },
        }
      }),
    }
  })
  return runRecord(run, lines)
}

const figure = (/** @type {number} */ median, /** @type {number} */ spread) => {
  const samples = [median - spread, median, median + spread]
  return { median, low: median - 2 * spread, high: median + 2 * spread, samples }
}

/** @param {Partial<ExperimentDocument>} [change] @returns {ExperimentDocument} */
export const sampleExperiment = (change = {}) => ({
  ...{ schema: 1, kind: 'experiment', id: 'list', question: 'Is a list cheaper than a sorted set?' },
  ...{ setup: '20,000 items/s, 3 repeats of 10 s', started: '2026-11-21T07:30:05.000Z', duration_s: 90 },
  versions: { millrace: '0.1.0', node: '20.20.2', servers: ['7.0.15'] },
  columns: [
    { name: 'server.cpu_us_per_item' },
    { name: 'master.cpu_pct' },
    { name: 'latency.intended.p99', chart: false },
  ],
  rows: [
    {
      ...{ label: 'sorted set', factors: { strategy: 'sorted-set' } },
      figures: {
        'server.cpu_us_per_item': figure(4.8, 0.1),
        'master.cpu_pct': figure(12, 0.2),
        'latency.intended.p99': figure(9000, 300),
      },
      published: { 'master.cpu_pct': 44.5 },
      runs: ['cells/sorted-set/1'],
      marks: [],
    },
    {
      ...{ label: 'list', factors: { strategy: 'list' } },
      figures: { 'server.cpu_us_per_item': figure(3.1, 0.1), 'master.cpu_pct': figure(8, 0.2) },
      published: { 'master.cpu_pct': 36 },
      runs: ['cells/list/1'],
      marks: [{ code: 'client', text: 'the load generator was the limit' }],
    },
  ],
  ratios: [
    {
      label: 'list / sorted set',
      ...{ figure: 'server.cpu_us_per_item', numerator: 'list', denominator: 'sorted set' },
      ...{ ours: { ratio: 0.646, low: 0.61, high: 0.68 }, published: 0.81, contradicts: null },
    },
  ],
  ...{ phases: [], verdict: 'A list costs 35 % less.', warnings: [], ...change },
})
