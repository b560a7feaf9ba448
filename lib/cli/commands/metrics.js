// `millrace metrics`: the names by which limits, comparisons and experiments know what was measured.
import { others } from '../../measures/index.js'
import { METRICS } from '../../result/metrics.js'

/** @import { Command } from '../commands.js' */

const units = {
  us: 'time',
  ms: 'time',
  s: 'time',
  pct: '%',
  bytes: 'bytes',
  mb: 'bytes',
  count: 'count',
  rate: 'per second',
  ratio: 'ratio',
}

/** @type {Command} */
export const command = {
  about: {
    does: 'Prints the metrics that a limit may name, one a line: name, unit, meaning.',
    examples: [['those of latencies', '| grep latency']],
    more: `A limit is a metric, < or >, and a number with its unit: --threshold 'latency.p99<20ms', --slo '${others.p99}<2ms'. latency.p99 is short for latency.intended.p99, the latency from the due time, how late the load generator sent included; latency.service.p99 is from the send.`,
  },
  options: [],
  work: async () => {
    const widest = Math.max(...METRICS.map(({ name }) => name.length))
    for (const { name, unit, title } of METRICS)
      process.stdout.write(`${name.padEnd(widest)}  ${units[unit].padEnd(10)}  ${title}\n`)
    return 0
  },
}
