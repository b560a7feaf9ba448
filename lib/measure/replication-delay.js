// How long what a master has written takes to its replicas, seen from outside: the master says how far it is, and
// the replica is asked until it is there. The way of the questions is in the figure, so it is never quite 0.

/** @import { TargetNode } from '../servers/topology.js' */

const everyMs = 1000
const giveUpMs = 10_000

/**
 * @param {object} needs
 * @param {() => readonly TargetNode[]} needs.nodes
 * @param {(address: string) => Promise<string>} needs.replication INFO replication of a node
 * @param {() => number} needs.clock
 * @param {(replica: string, delayMs: number) => void} needs.record
 */
export const replicationDelay = ({ nodes, replication, clock, record }) => {
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
