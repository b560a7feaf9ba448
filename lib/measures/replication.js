// How far the replicas are behind their masters, as a consumer sees it once a second: a line has us, run.json ms.
import { timesField } from './fields.js'
import { histogram, measure, percentileMetrics, percentiles, percentilesIn, timesText } from './measure.js'

/**
 * @import { TargetNode } from '../servers/topology.js'
 */

const everyMs = 1000
// A replica that is far behind need not be asked each millisecond: a fiftieth of its delay, and a tenth of a second at most.
const part = 50
const longestPauseMs = 100

/** @param {string} text of INFO @param {string} name */
const fieldIn = (text, name) => new RegExp(`^${name}:(\\S+)`, 'm').exec(text)?.[1]

/**
 * @typedef {object} Delays
 * @property {(address: string) => Promise<string>} replication INFO replication of a node
 * @property {() => number} clock
 * @property {(replica: string, delayMs: number) => void} record
 *
 * @typedef {{ history: string | undefined, offset: number, fromMs: number }} Mark how far a master was, of which history, and when
 */

/**
 * One replica: it is asked until it has all that its master had at each mark. An offset is one of a history: that of a master
 * which began anew is lower, and says nothing of the replica of the one before.
 * @param {string} address
 * @param {Delays} needs
 */
const replicaOf = (address, { replication, clock, record }) => {
  /** @type {Mark[]} */
  let marks = []
  let isMarking = false
  let isAsking = false
  let hasAnswered = false
  let hasEnded = false

  const take = (/** @type {string} */ text) => {
    const offset = Number(fieldIn(text, 'slave_repl_offset') ?? Number.NaN)
    const histories = [fieldIn(text, 'master_replid'), fieldIn(text, 'master_replid2')]
    const hasMovedOn = histories[0] === marks.at(-1)?.history
    const nowMs = clock()
    // A replica no more.
    if (Number.isNaN(offset)) marks = []
    marks = marks.filter((mark) => {
      // What the former history had beyond the common one will not come.
      if (!histories.includes(mark.history)) return !hasMovedOn
      if (offset < mark.offset) return true
      record(address, nowMs - mark.fromMs)
      return false
    })
    const [oldest = { fromMs: nowMs }] = marks
    return Math.min(longestPauseMs, Math.max(1, (nowMs - oldest.fromMs) / part))
  }
  const ask = async () => {
    while (marks.length > 0) {
      const text = await replication(address)
      hasAnswered = true
      if (hasEnded) return
      const pauseMs = take(text)
      if (marks.length > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  const asking = async () => {
    if (isAsking) return
    isAsking = true
    await ask().catch(() => {
      // One that cannot be reached from here is not known to be behind.
      if (!hasAnswered) marks = []
    })
    isAsking = false
  }
  return {
    /** @param {string} master */
    async look(master) {
      if (isMarking) return
      isMarking = true
      const text = await replication(master).catch(() => '')
      isMarking = false
      const offset = Number(fieldIn(text, 'master_repl_offset') ?? Number.NaN)
      if (hasEnded) return
      if (!Number.isNaN(offset))
        marks.push({ history: fieldIn(text, 'master_replid'), offset, fromMs: clock() })
      asking()
    },
    /** It is asked no more: what it has not by now took at least so long. */
    end() {
      hasEnded = true
      for (const { fromMs } of marks) {
        const delayMs = clock() - fromMs
        if (delayMs >= everyMs) record(address, delayMs)
      }
      marks = []
    },
  }
}

/**
 * How long what a master has written takes to its replicas, seen from outside: each second the master says how far it is, and
 * the replica is asked until it is there, however long that takes. The way of the questions is in the figure, so it is never quite 0.
 * @param {Delays & { nodes: () => readonly TargetNode[] }} needs
 */
const replicationDelay = ({ nodes, ...needs }) => {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  /** @type {Map<string, ReturnType<typeof replicaOf>>} */
  const replicas = new Map()

  const look = () => {
    const listed = nodes().filter(({ role }) => role === 'replica')
    for (const [address, replica] of replicas) {
      if (listed.some((node) => node.address === address)) continue
      replica.end()
      replicas.delete(address)
    }
    for (const { address, masterAddress = '' } of listed) {
      const replica = replicas.get(address) ?? replicaOf(address, needs)
      replicas.set(address, replica)
      replica.look(masterAddress)
    }
  }
  return {
    start() {
      timer = setInterval(look, everyMs)
    },
    stop() {
      clearInterval(timer)
      for (const replica of replicas.values()) replica.end()
      replicas.clear()
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
