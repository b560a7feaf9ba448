// The parts of the cost of an item, from the numbers of run.json.

/** @import { RunDocument, WriteRun } from './document.js' */

/** @param {RunDocument} run @returns {Partial<WriteRun['server']>} */
const serverOf = (run) => ('server' in run ? (run.server ?? {}) : {})

/** Seconds of CPU that the nodes of a role used in the window. @param {RunDocument} run @param {'master' | 'replica'} role */
const cpuSeconds = ({ nodes, measured_s: measuredS }, role) =>
  nodes
    .filter((node) => node.role === role)
    .reduce((sum, { cpu_pct: pct }) => sum + ((pct ?? 0) / 100) * (measuredS ?? 0), 0)

/** Seconds of CPU that the nodes of a role would have used while idle. @param {RunDocument} run @param {'master' | 'replica'} role */
const idleSeconds = (run, role) => {
  const { nodes, measured_s: measuredS } = run
  const { idle } = serverOf(run)
  if (!idle || 'why' in idle) return null
  return nodes
    .filter((node) => node.role === role)
    .reduce((sum, { address }) => sum + ((idle.by_node[address] ?? 0) / 100) * (measuredS ?? 0), 0)
}

/** Microseconds of CPU per item. Executing and the idle cost are parts of the masters'. @param {RunDocument} run */
export const costParts = (run) => {
  const all = serverOf(run).cpu_us_per_item ?? null
  const masters = cpuSeconds(run, 'master')
  const replicas = cpuSeconds(run, 'replica')
  const commands = commandCosts(run)
  const idle = idleSeconds(run, 'master')
  const costOf = (/** @type {number} */ seconds) =>
    all === null || masters + replicas === 0 ? null : (all * seconds) / (masters + replicas)
  return {
    masters: costOf(masters),
    mastersIdle: idle === null ? null : costOf(Math.min(idle, masters)),
    replicas: replicas > 0 ? costOf(replicas) : null,
    executing: commands.length > 0 ? commands.reduce((sum, { us }) => sum + us, 0) : null,
    client: run.client?.cpu_us_per_item ?? null,
  }
}

/** Items that the servers stored in the window, of all writers. @param {RunDocument} run */
const itemsStored = (run) => {
  const perItem = serverOf(run).cpu_us_per_item
  return perItem ? ((cpuSeconds(run, 'master') + cpuSeconds(run, 'replica')) * 1e6) / perItem : null
}

/**
 * The strategy's commands by what they cost an item, the dearest first.
 * @param {RunDocument} run
 * @returns {{ name: string, us: number, usPerCall: number, calls: number }[]}
 */
export const commandCosts = (run) => {
  const items = itemsStored(run)
  if (!items) return []
  return Object.entries(serverOf(run).commands ?? {})
    .filter(([, { calls }]) => calls > 0)
    .map(([name, { calls, usec }]) => ({
      name: name.toUpperCase(),
      us: usec / items,
      usPerCall: usec / calls,
      calls,
    }))
    .sort((a, b) => b.us - a.us)
}
