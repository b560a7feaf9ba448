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
// bursts), where masters ran little but writes that are replicated. Reads are not, nor is a write that changes nothing, and of
// a script only the effects are.
const ofMaster = { least: 0.55, most: 1.15 }
// Of what was replicated, at most so much more ran on the masters; of their time, scripts: leases run a few.
const mostUnreplicated = 0.1
// Replicas are sent these where an item expires.
const expiring = new Set(['del', 'unlink'])
// The run sends them beside idle servers too.
const probing = new Set(['ping', 'info', 'time'])

/** Seconds in which commands were executed. @param {WatchedNode['commands']} commands @param {(name: string) => boolean} isCounted */
const executingS = (commands, isCounted) =>
  Object.entries(commands).reduce((sum, [name, { usec }]) => sum + (isCounted(name) ? usec * 1e-6 : 0), 0)

/** @param {WatchedNode['commands']} commands @param {(name: string) => boolean} isCounted */
const callsOf = (commands, isCounted) =>
  Object.entries(commands).reduce((sum, [name, { calls }]) => sum + (isCounted(name) ? calls : 0), 0)

const isWrite = (/** @type {string} */ name) => isReplicated(name) && !expiring.has(name)
const isServed = (/** @type {string} */ name) => isRead(name) && !probing.has(name)

/** Whether a replica executed nearly all that a master of its shard did. @param {WatchedNode} replica @param {WatchedNode} master */
const areAlike = ({ commands: replicated }, { commands }) =>
  callsOf(commands, (name) => isWrite(name) || isServed(name)) <=
    callsOf(replicated, isWrite) * (1 + mostUnreplicated) &&
  executingS(commands, isScript) <= executingS(commands, isWrite) * mostUnreplicated

/**
 * @param {readonly WatchedNode[]} nodes
 * @param {(node: WatchedNode) => number} idleS what a node uses while idle, for as long as it was watched
 * @returns {Bounds | null} of all replicas; null: a node gave no figures, or a replica has no master here
 */
export const replicationIn = (nodes, idleS) => {
  /** @type {Map<number, number>} */
  const masters = new Map()
  let [leastS, mostS] = [0, 0]
  for (const node of nodes)
    if (node.role === 'master')
      masters.set(node.shard, (masters.get(node.shard) ?? 0) + Number(node.cpuS) - idleS(node))
  for (const node of nodes.filter(({ role }) => role === 'replica')) {
    const leftS = Number(node.cpuS) - idleS(node)
    const ofShard = nodes.filter(({ role, shard }) => role === 'master' && shard === node.shard)
    const leastShare = ofShard.every((master) => areAlike(node, master)) ? ofMaster.least : 0
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
