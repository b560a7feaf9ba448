// How far the replicas are behind their masters, as a consumer sees it once a second: a line has us, run.json ms.
import { timesField } from './fields.js'
import { histogram, measure, percentileMetrics, percentiles, percentilesIn, timesText } from './measure.js'

/**
 * @import { TargetNode } from '../servers/topology.js'
 */

const everyMs = 1000
const giveUpMs = 10_000

/**
 * How long what a master has written takes to its replicas, seen from outside: the master says how far it is, and the
 * replica is asked until it is there. The way of the questions is in the figure, so it is never quite 0.
 * @param {object} needs
 * @param {() => readonly TargetNode[]} needs.nodes
 * @param {(address: string) => Promise<string>} needs.replication INFO replication of a node
 * @param {() => number} needs.clock
 * @param {(replica: string, delayMs: number) => void} needs.record
 */
const replicationDelay = ({ nodes, replication, clock, record }) => {
  let stopped = false
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  /** @type {Set<string>} a question is open */
  const asking = new Set()

  const offsetIn = (/** @type {string} */ text, /** @type {string} */ field) =>
    Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN)

  const probe = async (/** @type {TargetNode} */ { address, masterAddress }) => {
    const text = await replication(masterAddress ?? '')
    const fromMs = clock()
    const wanted = offsetIn(text, 'master_repl_offset')
    if (Number.isNaN(wanted)) return
    for (;;) {
      const there = offsetIn(await replication(address), 'slave_repl_offset')
      const delayMs = clock() - fromMs
      if (stopped || Number.isNaN(there) || delayMs > giveUpMs) return
      if (there >= wanted) return record(address, delayMs)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }

  return {
    start() {
      timer = setInterval(() => {
        for (const node of nodes()) {
          if (node.role !== 'replica' || asking.has(node.address)) continue
          asking.add(node.address)
          probe(node)
            .catch(() => {})
            .finally(() => asking.delete(node.address))
        }
      }, everyMs)
    },
    stop() {
      stopped = true
      clearInterval(timer)
    },
  }
}

export const replication = measure({
  name: 'replication',
  needed: ['replication_ms'],
  of: ['readers'],
  record: { replication_us: timesField() },
  by: 'one',
  async open({ target, clock }) {
    const { series } = await import('../probes/latency.js')
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
      second: () => ({ replication_us: delays.endSecond() }),
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
})
