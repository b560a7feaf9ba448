// What of the CPU of replicas is replication, where they serve reads as well. It cannot be counted, so it is known within
// bounds: by what their masters used for the same items, by the time in which a replica executed what was replicated, and by
// what is left when the time in which it executed reads is taken off. Pure.
import { isRead } from '../wire/read-commands.js'
import { isReplicated, isScript } from './others.js'

/**
 * @import { CommandUse } from '../wire/info.js'
 *
 * @typedef {object} WatchedNode over the window
 * @property {string} address
 * @property {string} role
 * @property {number} shard
 * @property {number} overS
 * @property {number | null} cpuS
 * @property {Record<string, CommandUse>} commands that it executed
 *
 * @typedef {{ leastS: number, mostS: number }} Bounds
 */

// Of the CPU of their masters, idle excluded, replicas without reads used 0.72 to 0.99 (2,000 to 60,000 items/s, evenly and in
// bursts). Of a script only the effects are replicated.
const ofMaster = { least: 0.55, most: 1.15 }

/** Seconds in which commands were executed. @param {WatchedNode['commands']} commands @param {(name: string) => boolean} isCounted */
const executingS = (commands, isCounted) =>
  Object.entries(commands).reduce((sum, [name, { usec }]) => sum + (isCounted(name) ? usec * 1e-6 : 0), 0)

/**
 * @param {readonly WatchedNode[]} nodes
 * @param {(node: WatchedNode) => number} idleS what a node uses while idle, for as long as it was watched
 * @returns {Bounds | null} of all replicas; null: a node gave no figures, or a replica has no master here
 */
export const replicationIn = (nodes, idleS) => {
  /** @type {Map<number, number>} */
  const masters = new Map()
  let [leastS, mostS] = [0, 0]
  const areScripts = nodes.some(
    ({ role, commands }) => role === 'master' && Object.keys(commands).some(isScript),
  )
  const leastShare = areScripts ? 0 : ofMaster.least
  for (const node of nodes)
    if (node.role === 'master')
      masters.set(node.shard, (masters.get(node.shard) ?? 0) + Number(node.cpuS) - idleS(node))
  for (const node of nodes.filter(({ role }) => role === 'replica')) {
    const leftS = Number(node.cpuS) - idleS(node)
    const ofMasterS = Math.max(0, masters.get(node.shard) ?? Number.NaN)
    const executedS = executingS(node.commands, isReplicated)
    const ownLeastS = Math.max(0, Math.min(leftS, Math.max(executedS, leastShare * ofMasterS)))
    leastS += ownLeastS
    mostS += Math.max(
      ownLeastS,
      Math.min(leftS - executingS(node.commands, isRead), ofMaster.most * ofMasterS),
    )
  }
  return Number.isFinite(leastS + mostS) && nodes.every(({ cpuS }) => cpuS !== null)
    ? { leastS, mostS }
    : null
}
