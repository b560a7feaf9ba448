// Whether the masters keep what was written, by their own numbers once a second. Losses are a restart, a flush, a replica
// promoted without its data, and keys that are gone but neither expired nor were evicted. A replica promoted with its data,
// a slot that moves and a shard that leaves are none.
import { count } from '../base/units.js'

/**
 * @import { NodeRow } from '../probes/node-sampler.js'
 * @import { Warning } from '../measures/warnings.js'
 *
 * @typedef {{ masters: readonly string[], owners: Uint16Array | null }} Topology
 * @typedef {{ text: string, certain: boolean }} Loss certain: false where the keys may be other programs'
 *
 * @typedef {object} Suspicion
 * @property {string} address
 * @property {string} text
 */

// A smaller decrease may be keys that are moving from one master to another.
const leastKeys = 100
const lostShare = 0.05
// While slots move, a key may be counted on both sides for some seconds: only a larger decrease counts.
const settlingMs = 10_000
const settlingShare = 0.5
const samplesInARow = 3

/** @param {number} ms */
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`

/** @param {Topology} one @param {Topology} other */
const isSame = (one, other) =>
  one.masters.join() === other.masters.join() &&
  (one.owners === other.owners ||
    (one.owners?.every((owner, slot) => owner === other.owners?.[slot]) ?? other.owners === null))

/** @param {Loss} loss @returns {Warning} */
const lossWarning = ({ text, certain }) => ({
  code: 'data-lost',
  message: certain
    ? `${text}: what was acknowledged before may be gone; keep others from the servers, and repeat`
    : `${text}; as many were there before the run, so they may be those of other programs`,
  invalidates: certain,
})

/**
 * @param {object} needs
 * @param {{ readonly topology: Topology }} needs.target as it is known now
 * @param {boolean} [needs.removesKeys] the load removes keys itself, so a decrease means nothing
 * @param {() => number} [needs.created] new keys that the load has created so far
 * @param {() => number} needs.elapsed
 * @param {(kind: string, text: string) => void} needs.note at the moment
 * @param {(warning: Warning) => void} needs.warn
 */
export const dataLossOf = ({ target, removesKeys = false, created = () => 0, elapsed, note, warn }) => {
  const onLoss = (/** @type {Loss} */ loss) => {
    note('data-lost', loss.text)
    warn(lossWarning(loss))
  }
  /** @type {Map<string, number>} keys of each node, as last answered */
  const keysAt = new Map()
  /** @type {Map<number, { address: string, keys: number, removed: number }>} the master of each shard, as last answered;
   *   removed: keys that expired or were evicted since, at one that is promoted */
  const masterOf = new Map()
  /** @type {Suspicion[]} */
  let suspicions = []
  const sum = keySum({ elapsed, created, onLoss })

  /** Masters that serve slots and answered. @param {NodeRow[]} rows @param {Topology} now */
  const servingIn = (rows, { masters }) =>
    rows.filter((row) => row.keys !== undefined && row.role === 'master' && masters.includes(row.address))

  /** @param {NodeRow} row @returns {string | null} */
  const incidentIn = ({ address, shard, keys = 0, restarted, flushes }) => {
    const before = keysAt.get(address) ?? 0
    const at = seconds(elapsed())
    if (restarted)
      return `${address} restarted (seen after ${at}) and has ${count(keys)} keys; it had ${count(before)}`
    if (flushes)
      return `the keys of ${address} were removed by FLUSHALL or FLUSHDB (seen after ${at}); it had ${count(before)}`
    const was = masterOf.get(shard)
    if (!was || was.address === address) return null
    if (was.keys - was.removed - keys <= Math.max(leastKeys, was.keys / 2)) return null
    return `${address} became the master of its shard (seen after ${at}) with ${count(keys)} keys; ${was.address} had ${count(was.keys)}`
  }

  /** Reports incidents of masters that serve slots a moment later: one that leaves may be emptied. @param {Topology} now */
  const confirm = ({ masters }, /** @type {(suspicion: Suspicion) => boolean} */ isDue) => {
    const open = suspicions
    suspicions = []
    for (const suspicion of open) {
      if (!masters.includes(suspicion.address)) continue
      if (isDue(suspicion)) onLoss({ text: suspicion.text, certain: true })
      else suspicions.push(suspicion)
    }
  }

  return {
    /** Call before a sample: what was acknowledged until then is in its answers. */
    asking: sum.asking,
    /** @param {NodeRow[]} rows of one sample */
    check(rows) {
      const now = target.topology
      const serving = servingIn(rows, now)
      const answered = new Set(serving.map(({ address }) => address))
      const isReplica = (/** @type {NodeRow} */ { role, keys }) => role === 'replica' && keys !== undefined
      const replicas = new Set(rows.filter(isReplica).map(({ address }) => address))
      suspicions = suspicions.filter(({ address }) => !replicas.has(address))
      confirm(now, ({ address }) => answered.has(address))
      // A promoted replica is a master by its own word before the topology names it.
      for (const { address, shard, role, expired, evicted } of rows) {
        const was = masterOf.get(shard)
        if (was && role === 'master' && address !== was.address)
          was.removed += (expired ?? 0) + (evicted ?? 0)
      }
      const found = serving.flatMap((row) => {
        const text = incidentIn(row)
        return text === null ? [] : [{ address: row.address, text }]
      })
      suspicions.push(...found)
      if (!removesKeys) sum.check(rows, serving, now, found.length > 0)
      for (const { address, keys } of rows) if (keys !== undefined) keysAt.set(address, keys)
      for (const { address, shard, keys = 0 } of serving) masterOf.set(shard, { address, keys, removed: 0 })
    },
    /** The run is over: reports what is still open. */
    end: () => confirm(target.topology, () => true),
  }
}

/**
 * Compares the number of keys of all masters with the expected one: it decreases only by keys that expired or were
 * evicted, wherever they move, and increases by keys that the load creates.
 * @param {{ elapsed: () => number, created: () => number, onLoss: (loss: Loss) => void }} needs
 */
const keySum = ({ elapsed, created, onLoss }) => {
  /** @type {Topology | null} */
  let before = null
  let settledFromMs = Number.NEGATIVE_INFINITY
  /** @type {number | null} expected number of keys */
  let expected = null
  let keysBefore = 0
  let low = 0
  let lowFromMs = 0
  /** @type {number | null} lower limit of it, without the keys created since; null: keys may be overwritten */
  let least = null
  let made = 0 // keys created when the servers were asked

  /** @param {number} keys */
  const beginAnew = (keys) => {
    least = expected === null && keys < leastKeys ? keys : null
    expected = keys
    low = 0
  }
  const leave = (/** @type {number} */ keys) => {
    if (expected !== null) expected -= keys
    if (least !== null) least -= keys
  }

  return {
    asking() {
      made = created()
    },
    /** @param {NodeRow[]} rows @param {NodeRow[]} serving @param {Topology} now @param {boolean} hasIncident */
    check(rows, serving, now, hasIncident) {
      const nowMs = elapsed()
      const isChanged = before !== null && !isSame(before, now)
      before = now
      if (isChanged) settledFromMs = nowMs + settlingMs
      if (expected !== null)
        for (const { role, expired, evicted } of rows)
          if (role === 'master') leave((expired ?? 0) + (evicted ?? 0))
      if (serving.length < now.masters.length) return
      // Keys that are still being read from disk are not lost.
      if (!hasIncident && serving.some(({ loading }) => loading)) return
      const keys = serving.reduce((sum, { keys: some = 0 }) => sum + some, 0)
      if (expected === null) keysBefore = keys
      // After a first answer, and after counters were reset, the number of expired keys is unknown.
      const isKnown = serving.every(({ expired, evicted }) => expired != null && evicted != null)
      if (expected === null || hasIncident || !isKnown) return beginAnew(keys)
      const isSettling = nowMs < settledFromMs
      if (!isSettling && settledFromMs > 0) {
        settledFromMs = Number.NEGATIVE_INFINITY
        if (keys >= expected * settlingShare) return beginAnew(keys)
      }
      if (least !== null) expected = Math.max(expected, least + made)
      const gone = expected - keys
      if (gone <= Math.max(leastKeys, expected * (isSettling ? settlingShare : lostShare))) {
        expected = Math.max(expected, keys)
        low = 0
        return
      }
      if (low++ === 0) lowFromMs = nowMs
      if (low < samplesInARow) return
      onLoss({
        text: `${count(gone)} of ${count(expected)} keys of the masters are gone (seen after ${seconds(lowFromMs)}) that neither expired nor were evicted`,
        certain: gone > keysBefore,
      })
      beginAnew(keys)
    },
  }
}
