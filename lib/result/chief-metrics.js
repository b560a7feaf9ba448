// The metrics that come first: on top of a report, with a verdict in a comparison, and in the table of every experiment.
import { ofReading, others } from '../measures/index.js'
import { grossCost, netCost } from '../measures/server.js'

/** On top of the report of a run, by its kind. */
export const highlightsOf = Object.freeze({
  producer: [
    ...[grossCost, 'server.memory_bytes_per_item', 'server.net_bytes_per_item', 'hottest_master.cpu_pct'],
    ...[others.p99, 'latency.intended.p99', 'rate.achieved'],
  ],
  workers: [
    ...['rate.achieved', 'latency.intended.p50', 'latency.intended.p99', 'server.cpu_us_per_job'],
    ...['jobs.account.lost', 'hottest_master.cpu_pct'],
  ],
  consumer: [...ofReading.flatMap(({ highlights = [] }) => highlights), 'replica.cpu_pct'],
})

/**
 * For a comparison: the first metric of a line that both sides have counts. Every other metric is shown without a verdict: of twenty
 * metrics one differs by chance.
 */
export const comparedMetrics = Object.freeze([
  [netCost, grossCost],
  ['server.memory_bytes_per_item'],
  ['server.net_bytes_per_item'],
  ['hottest_master.cpu_pct'],
  [others.p99],
  ['rate.achieved'],
  ...[['cache.hit_pct'], ['cache.source_per_s']],
  ...ofReading.flatMap(({ compared = [] }) => compared.map((name) => [name])),
])

/** Columns of every experiment's table. The latency of another application is what averages over a minute cannot show. */
export const commonColumns = Object.freeze([
  ...['rate.nominal', 'rate.achieved', 'master.cpu_pct', 'replica.cpu_pct', netCost, grossCost],
  ...['latency.intended.p99', others.p99, others.max],
])

/** Those of them that are drawn of every experiment, beside what others feel; the net cost where it is known. */
export const drawnOfAll = Object.freeze(['master.cpu_pct', netCost, grossCost])
export const drawnBeside = Object.freeze([others.p99])

/** What a turn of an experiment came to, in a line of progress. */
export const turnMetrics = Object.freeze({
  rate: 'rate.achieved',
  cpu: 'master.cpu_pct',
  ofOthers: others.p99,
})
