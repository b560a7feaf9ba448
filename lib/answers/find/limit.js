// Which part limits the rate that was found, with its utilization: by how busy nodes, client and connections were while
// that rate was confirmed. Pure.
import { micros, percent } from '../../base/units.js'
import { nodeLimit } from '../../report/words.js'

/**
 * @import { CloudWatchSection } from '../../cloudwatch/fetch.js'
 * @import { SecondRecord } from '../../run/conductor.js'
 *
 * @typedef {{ part: 'node' | 'server' | 'replica' | 'client' | 'connections' | 'unknown', value: number | null, words: string }} Limit
 * @typedef {{ at_ms: number, nodes: readonly { address: string, role: string, engine_cpu_pct?: number | null, engine_cpu_s?: number | null, calls?: number | null }[] }} Line of intervals.ndjson
 */

// A part busier than this has no room for bursts.
const busyPct = 80

/** @param {readonly number[]} list */
export const medianOf = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0

/** Lines that lie within these seconds. @param {readonly Line[]} lines @param {readonly SecondRecord[]} seconds */
const linesIn = (lines, seconds) => {
  if (seconds.length === 0) return []
  const [fromMs, toMs] = [seconds[0].atMs + 1000, seconds[seconds.length - 1].atMs + 1000]
  return lines.filter(({ at_ms: atMs }) => atMs >= fromMs && atMs <= toMs)
}

/** The busiest node of a role, and the median of its main thread. @param {readonly Line[]} lines @param {string} role */
const busiest = (lines, role) => {
  /** @type {Map<string, number[]>} */
  const byNode = new Map()
  for (const { nodes } of lines)
    for (const { address, role: own, engine_cpu_pct: pct } of nodes)
      if (own === role && pct != null) byNode.set(address, [...(byNode.get(address) ?? []), pct])
  return [...byNode]
    .map(([address, pcts]) => ({ address, pct: medianOf(pcts) }))
    .sort((a, b) => b.pct - a.pct)[0]
}

/**
 * @param {object} about
 * @param {readonly SecondRecord[]} about.seconds those of the rate that was found
 * @param {readonly Line[]} about.lines
 * @param {{ connections: number, pipeline: number, areConsumers?: boolean } | null} about.clients
 * @param {CloudWatchSection | null} about.cloudwatch of the minutes of the search
 * @returns {Limit}
 */
export const limitOf = ({ seconds, lines, clients, cloudwatch }) => {
  const reached = cloudwatch && nodeLimit({ cloudwatch })
  // CloudWatch is of whole minutes, so that a part that was full in these seconds comes first.
  const and = reached ? `, and ${reached}` : ''
  const within = linesIn(lines, seconds)
  const master = busiest(within, 'master')
  const replica = busiest(within, 'replica')
  const clientPct = medianOf(seconds.map(({ client }) => client.busy_pct ?? 0))
  const achieved = medianOf(seconds.map((second) => second.achieved))
  const serviceUs = medianOf(seconds.map((second) => second.latency_us.service?.p50 ?? 0))
  const places = clients ? clients.connections * clients.pipeline : 0
  const placesPct = places > 0 ? (achieved * serviceUs) / 1e4 / places : 0
  if (master && master.pct >= busyPct)
    return {
      part: 'server',
      value: master.pct,
      words: `the main thread of ${master.address} is ${percent(master.pct)} busy${and}`,
    }
  if (replica && replica.pct >= busyPct)
    return {
      part: 'replica',
      value: replica.pct,
      words: `the main thread of the replica ${replica.address} is ${percent(replica.pct)} busy${and}`,
    }
  if (clientPct >= busyPct)
    return {
      part: 'client',
      value: clientPct,
      words: `the sending thread of the load generator is ${percent(clientPct)} busy${and}`,
    }
  // Packets that a node holds back keep connections in use, too.
  if (reached) return { part: 'node', value: null, words: reached }
  if (clients && placesPct >= busyPct)
    return {
      part: 'connections',
      value: placesPct,
      words: `${clients.areConsumers ? `the ${clients.connections} consumers` : `${clients.connections} connections with ${clients.pipeline} in flight`} are ${percent(placesPct)} in use`,
    }
  const seen = [
    ...(master ? [`the busiest main thread is ${percent(master.pct)} busy`] : []),
    `the load generator ${percent(clientPct)}`,
  ]
  return {
    part: 'unknown',
    value: null,
    words: `no measured part is full (${seen.join(', ')}): it may be the ${cloudwatch ? '' : 'network, the '}memory bandwidth or bursts`,
  }
}

// With fewer seconds or smaller differences, the speed of the servers is no explanation.
const leastFull = 8
const notablyFaster = 1.15

/** CPU of a command while a main thread was full: under a constant load this is the speed of the machine. @param {readonly Line[]} lines @param {readonly SecondRecord[]} seconds */
export const speedWords = (lines, seconds) => {
  const costsUs = linesIn(lines, seconds)
    .flatMap(({ nodes }) => nodes)
    .flatMap(({ role, engine_cpu_pct: pct, engine_cpu_s: cpuS, calls }) =>
      role === 'master' && pct != null && pct >= busyPct && cpuS && calls ? [(cpuS * 1e6) / calls] : [],
    )
    .sort((a, b) => a - b)
  const at = (/** @type {number} */ q) => costsUs[Math.round(q * (costsUs.length - 1))]
  if (costsUs.length < leastFull || at(0.9) / at(0.1) < notablyFaster) return null
  return `while a main thread was full, a command cost it ${micros(at(0.1))} to ${micros(at(0.9))} of CPU: the servers were slower at times, as when other processes use the same cores or memory, or the commands did more`
}
