// Replicas that their masters name and the cluster's map does not have yet, as for some seconds in a cluster that was just
// made: without them their part of the CPU would be missing.
import { several } from '../base/units.js'

const waitMs = 10_000
const everyMs = 250

/**
 * Asks for the topology until it has the replicas that the masters name, for ten seconds at most.
 * @param {object} cluster
 * @param {() => readonly { role: string, masterAddress?: string }[]} cluster.nodes of the topology
 * @param {() => readonly string[]} cluster.masters
 * @param {(master: string) => Promise<number>} cluster.named how many replicas a master names
 * @param {() => Promise<unknown>} cluster.refresh
 * @param {object} needs
 * @param {(line: string) => void} needs.say
 * @param {(ms: number) => Promise<unknown>} needs.sleep
 * @param {() => number} needs.clock ms
 */
export const untilReplicasAreKnown = async ({ nodes, masters, named, refresh }, { say, sleep, clock }) => {
  const startMs = clock()
  const missing = async () => {
    const counts = await Promise.all(
      masters().map(async (master) => {
        const known = nodes().filter(
          ({ role, masterAddress }) => role === 'replica' && masterAddress === master,
        )
        return Math.max(0, (await named(master)) - known.length)
      }),
    )
    return counts.reduce((sum, n) => sum + n, 0)
  }
  for (let isSaid = false; ; isSaid = true) {
    const count = await missing()
    if (count === 0) return
    const what = `${several(count, 'replica')} that INFO of the masters ${count === 1 ? 'names is' : 'name are'} not in the cluster's map`
    if (clock() - startMs >= waitMs) return say(`${what} after ${waitMs / 1000} s: their CPU is not measured`)
    if (!isSaid) say(`${what} yet: waiting up to ${waitMs / 1000} s`)
    await sleep(everyMs)
    await refresh().catch(() => {})
  }
}
