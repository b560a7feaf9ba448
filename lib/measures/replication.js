// How far the replicas are behind their masters, as a consumer sees it once a second: a line has us, run.json ms.
import { times } from './fields.js'
import { histogram, percentileMetrics, percentiles, percentilesIn, timesText } from './measure.js'

/** @import { Measure } from './measure.js' */

/** @type {Measure} */
export const replication = {
  name: 'replication',
  record: { replication_us: times() },
  by: 'one',
  async open({ target, clock }) {
    const [{ replicationDelay }, { series }] = await Promise.all([
      import('../measure/replication-delay.js'),
      import('../measure/latency.js'),
    ])
    const delays = series({ isFolded: true })
    const probe = replicationDelay({
      nodes: target.nodes,
      replication: async (address) => String(await target.control(address).call('INFO', 'replication')),
      clock,
      record: (_, delayMs) => delays.record(delayMs * 1000),
    })
    return {
      start: probe.start,
      stop: probe.stop,
      second: () => ({ replication_us: delays.turn() }),
      close: delays.close,
    }
  },
  summary: ({ window }) => ({ replication_ms: percentilesIn(window.replication_us, 1000) }),
  result: { replication_ms: { ...percentiles, type: 'object' } },
  metrics: percentileMetrics('replication_ms', 'replication delay', undefined, 'ms'),
  highlights: ['replication_ms.p99'],
  prometheus: [
    histogram(
      'replication_delay_seconds',
      'until a replica has what its master had written',
      'replication_us',
    ),
  ],
  times: [{ name: 'master to replica', path: 'replication_ms', unit: 'ms' }],
  answers: {
    reads({ replication_ms: found }) {
      const text = timesText(found, 1000)
      return { label: 'replicas', text: text && `behind their masters by ${text}` }
    },
  },
}
