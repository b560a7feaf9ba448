// What the servers use before the first write: background work, replication, our PINGs and INFO, and on a live target other
// applications. It continues during the run, and belongs to no item.
import { addCommands, finite } from './node-figures.js'

/**
 * @import { CommandUse } from '../wire/info.js'
 * @import { NodeRow } from './node-sampler.js'
 *
 * @typedef {object} Idle percent of one core, over all nodes together
 * @property {number} cpu_pct
 * @property {number} uncertainty_pct half of what the samples differ by, a tenth of their mean at least
 * @property {number} probes_pct of it our PINGs and INFO, as far as commands are timed: executing them
 * @property {number} samples
 * @property {number | null} [net_bytes_per_s] of the masters, in and out, without our INFO, which
 *   grows with the commands that were run: our PINGs, replication, other clients
 * @property {Record<string, number>} by_node cpu_pct of each
 *
 * @typedef {{ why: string, net_bytes_per_s?: number | null }} Unknown the idle cost was not measured, or is not known; what is on
 *   the network may be known all the same
 */

const wanted = 3
const mostSamples = 6
// Scheduling alone moves an idle server by a tenth, from one run to the next as well; half of the difference may be
// twice as much of the mean.
const moves = 0.1
const agreement = 2 * moves
const floorPct = 0.05
const ours = ['ping', 'info']

/** @param {readonly NodeRow[]} rows @returns {number | null} null: a node gave no figures, or only an upper bound */
const totalPct = (rows) =>
  rows.some((row) => typeof row.cpu_pct !== 'number' || row.cpu_upper_bound)
    ? null
    : rows.reduce((sum, row) => sum + Number(row.cpu_pct), 0)

const bytesOf = (/** @type {NodeRow} */ { net_in_bytes: read, net_out_bytes: sent }) =>
  Number(read ?? Number.NaN) + Number(sent ?? Number.NaN)

/** Bytes a second of the masters, each over the time between its own answers. @param {readonly NodeRow[][]} seconds */
const netBytesOf = (seconds) => {
  /** @type {Map<string, { bytes: number, overMs: number }>} */
  const masters = new Map()
  for (const row of seconds.flat().filter(({ role }) => role === 'master')) {
    const sum = masters.get(row.address) ?? { bytes: 0, overMs: 0 }
    const bytes = row.over_ms === undefined ? 0 : bytesOf(row) - (row.info_bytes ?? 0)
    masters.set(row.address, { bytes: sum.bytes + bytes, overMs: sum.overMs + (row.over_ms ?? 0) })
  }
  return finite([...masters.values()].reduce((sum, { bytes, overMs }) => sum + (bytes / overMs) * 1000, 0))
}

/** The mean of samples that agree. @param {readonly NodeRow[][]} seconds @returns {Idle | null} null: they do not */
export const agreed = (seconds) => {
  const found = seconds.map(totalPct).filter((pct) => pct !== null)
  if (found.length < seconds.length) return null
  const mean = found.reduce((sum, pct) => sum + pct, 0) / found.length
  const half = (Math.max(...found) - Math.min(...found)) / 2
  if (half > Math.max(mean * agreement, floorPct)) return null

  /** @type {Record<string, CommandUse>} */
  const commands = {}
  /** @type {Record<string, number>} */
  const byNode = {}
  let overMs = 0
  for (const row of seconds.flat()) {
    byNode[row.address] = (byNode[row.address] ?? 0) + Number(row.cpu_pct) / seconds.length
    addCommands(commands, row.commands ?? {})
    overMs += (row.over_ms ?? 0) / seconds[0].length
  }
  const probesUs = ours.reduce((sum, name) => sum + (commands[name]?.usec ?? 0), 0)
  return {
    cpu_pct: mean,
    uncertainty_pct: Math.max(half, mean * moves),
    probes_pct: probesUs / overMs / 10,
    samples: seconds.length,
    net_bytes_per_s: netBytesOf(seconds),
    by_node: byNode,
  }
}

/**
 * Samples until three in a row agree in which nobody else was at work, six at most. It stops when other writers
 * of the run begin.
 * @param {object} needs
 * @param {() => Promise<NodeRow[]>} needs.sample
 * @param {(ms: number) => Promise<void>} needs.sleep
 * @param {(rows: readonly NodeRow[][]) => Promise<string | null>} needs.disturbed why what was seen is not idle
 * @param {number} [needs.lengthMs] of a sample
 * @param {(rows: readonly NodeRow[]) => string | null} [needs.others] who else was at work in a second; null: nobody
 * @returns {Promise<Idle | Unknown>}
 */
export const idleCost = async ({ sample, sleep, disturbed, others = () => null, lengthMs = 1000 }) => {
  await sample()
  /** @type {NodeRow[][]} */
  const seconds = []
  /** @type {(string | null)[]} */
  const seen = []
  while (seconds.length < mostSamples) {
    await sleep(lengthMs)
    const rows = await sample()
    seconds.push(rows)
    seen.push(others(rows))
    const why = await disturbed([rows])
    if (why !== null) return { why }
    const isAlone = seconds.length >= wanted && seen.slice(-wanted).every((who) => who === null)
    const idle = isAlone ? agreed(seconds.slice(-wanted)) : null
    if (idle) return idle
  }
  const who = seen.findLast((one) => one !== null)
  if (who) return { why: `${who} before the first write`, net_bytes_per_s: netBytesOf(seconds) }
  const pcts = seconds.map((rows) => totalPct(rows)?.toFixed(2) ?? 'none').join(', ')
  return {
    why: `before the first write the servers were not steady: ${pcts} % of a core in samples of ${lengthMs / 1000} s`,
    net_bytes_per_s: netBytesOf(seconds),
  }
}

/** What a node uses while idle, for as long as it was watched. @param {Idle} idle @returns {(node: { address: string, overS: number }) => number} s */
export const idleSecondsBy = ({ by_node: byNode }) => {
  const known = Object.values(byNode)
  const usual = known.reduce((sum, pct) => sum + pct, 0) / known.length
  return ({ address, overS }) => ((byNode[address] ?? usual) / 100) * overS
}

/**
 * What is left for the items when the idle cost goes on for as long as each node was watched.
 * @param {object} known
 * @param {number | null} known.cpuS
 * @param {number} known.items
 * @param {Idle | Unknown} known.idle
 * @param {readonly { address: string, overS: number }[]} known.nodes
 * @returns {{ net: number, uncertainty: number, fixed_share: number } | null} us an item; null also where the servers
 *   used more while idle, by more than the uncertainty
 */
export const netCostOf = ({ cpuS, items, idle, nodes }) => {
  if ('why' in idle || cpuS === null || cpuS <= 0 || items <= 0 || nodes.length === 0) return null
  const idleS = idleSecondsBy(idle)
  const fixedS = nodes.reduce((sum, node) => sum + idleS(node), 0)
  const overS = Math.max(...nodes.map((node) => node.overS))
  const net = ((cpuS - fixedS) * 1e6) / items
  const uncertainty = (idle.uncertainty_pct / 100) * overS * (1e6 / items)
  return net < -uncertainty ? null : { net: Math.max(0, net), uncertainty, fixed_share: fixedS / cpuS }
}

/**
 * Bytes an item on the network of the masters, when what is on it while idle goes on for as long as they were watched.
 * @param {object} known
 * @param {number | null} known.netBytes
 * @param {number} [known.infoBytes] of them our INFO
 * @param {number} known.items
 * @param {Idle | Unknown} known.idle
 * @param {number} known.overS
 */
export const netBytesBeside = ({ netBytes, infoBytes = 0, items, idle, overS }) => {
  if (netBytes === null || items <= 0) return null
  const { net_bytes_per_s: perS } = idle
  return typeof perS === 'number' ? Math.max(0, netBytes - infoBytes - perS * overS) / items : null
}
