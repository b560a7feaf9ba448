// What goes wrong, as data: drawn from a seed, played at its moment, left out one by one when a failure is shrunk.
import { slotCount } from '../../lib/wire/slot.js'

/**
 * @import { Random } from '../helpers/random.js'
 * @import { Node, SimulatedCluster, Told } from './cluster.js'
 * @import { VirtualClock } from './clock.js'
 *
 * @typedef {{ kind: string, atMs: number, forMs: number, node: number, to: number, slots: [number, number], share: number, line: string, mode: 'before' | 'after' | 'torn' }} Fault
 *
 * @typedef {{ clock: VirtualClock, random: Random, cluster: SimulatedCluster, masters: number }} Stage
 * @typedef {Stage & Omit<Fault, 'node' | 'to'> & { node: Node, to: Node, untilMs: number, later: (then: () => void) => void }} Scene
 * later: when the fault is over
 */

const refusals = [
  'TRYAGAIN Multiple keys request during rehashing of slot',
  'CLUSTERDOWN Hash slot not served',
  'READONLY You cannot write against a read only replica.',
  'LOADING Redis is loading the dataset in memory',
  'BUSY Redis is busy running a script.',
  'MASTERDOWN Link with MASTER is down',
]
const fatal = [
  "OOM command not allowed when used memory > 'maxmemory'.",
  'MISCONF Redis is configured to save',
]
const clusterKinds = [
  'move',
  'move',
  'migrate',
  'migrate',
  'migrate',
  'map',
  'map',
  'misdirect',
  'handover',
  'handover',
  'occupied',
  'lead-astray',
]
const kinds = [
  'refuse',
  'refuse',
  'silence',
  'slow',
  'trickle',
  'cut',
  'cut',
  'cut',
  'down',
  'failover',
  'forget',
  'corrupt',
  'full',
  'fatal',
  'half-open',
  'overload',
  'overload',
]
const spanMs = 600
/** A run may end at these, before it goes on with a server that was not checked. */
export const mayEnd = new Set(['occupied', 'lead-astray', 'misdirect', 'map'])
const maps = ['stale', 'wrong', 'hole', 'fails', 'outside']
/** A node that executes about a fifteenth of what it could. */
const burdened = 1.01
/** Nobody of the cluster is there. */
export const outside = '127.0.0.1:6001'
// Long enough to be noticed, given up and repeated; or for a batch to wait while its next two are due.
const longMs = 7000
const long = new Set(['half-open', 'lead-astray', 'overload'])

/** Items may be lost to these even where steps are repeatable. */
export const lossy = new Set([
  'silence',
  'handover',
  'slow',
  'down',
  'failover',
  'fatal',
  'full',
  'half-open',
  'overload',
  'lead-astray',
])

/** @param {Random} random @param {{ cluster: boolean, masters: number, spares: number, fromMs: number, toMs: number }} where @returns {Fault[]} */
export const drawFaults = (random, { cluster, masters, spares, fromMs, toMs }) => {
  const list = cluster ? [...kinds, ...clusterKinds] : kinds
  // Close together in every other seed: then one begins before the last is over.
  const closeMs = random.chance(0.5) ? fromMs + random.below(toMs - fromMs - spanMs) : null
  return Array.from({ length: random.below(7) }, () => {
    const kind = random.pick(list)
    const first = random.below(slotCount - 1)
    const drawnMs = 50 + random.below(random.chance(0.2) ? 3000 : 900)
    const forMs = long.has(kind) ? longMs : drawnMs
    return {
      kind,
      atMs:
        closeMs === null
          ? fromMs + random.below(Math.max(1, toMs - fromMs - drawnMs))
          : closeMs + random.below(spanMs),
      forMs,
      node: random.below(masters),
      to: random.below(masters + spares),
      slots: /** @type {[number, number]} */ ([first, first + 1 + random.below(slotCount - first)]),
      share: random.pick([0.05, 0.3, 1]),
      line:
        kind === 'fatal' ? random.pick(fatal) : kind === 'map' ? random.pick(maps) : random.pick(refusals),
      mode: random.pick(/** @type {const} */ (['before', 'after', 'torn'])),
    }
  }).sort((a, b) => a.atMs - b.atMs)
}

/** @param {Fault} fault */
export const describeFault = ({ kind, atMs, forMs, node, to, slots, share, line, mode }) => {
  const texts = {
    move: `slots ${slots.join('-')} to ${to}`,
    migrate: `slots ${slots.join('-')} to ${to} in ${forMs} ms`,
    refuse: `${line.split(' ')[0]} to ${share} of node ${node}'s for ${forMs} ms`,
    fatal: `${line.split(' ')[0]} to ${share} of node ${node}'s for ${forMs} ms`,
    map: `${line} for ${forMs} ms`,
    misdirect: `${share} of node ${node}'s to ${to} for ${forMs} ms`,
    cut: `node ${node}, ${mode}`,
    failover: `node ${node}, ${mode}`,
    'half-open': `node ${node}, ${mode}`,
    occupied: 'the nodes without slots',
    'lead-astray': `node ${node}'s slots ${slots.join('-')} to ${outside}`,
  }
  const text = texts[/** @type {keyof typeof texts} */ (kind)] ?? `node ${node} for ${forMs} ms`
  return `${atMs} ms: ${kind} ${text}`
}

/** @param {Fault} fault @param {{ clock: import('./clock.js').VirtualClock, random: Random, cluster: SimulatedCluster, masters: number }} stage */
export const playFault = (fault, { clock, random, cluster, masters }) => {
  const { kind, forMs, to, slots, share, line, mode } = fault
  const node = cluster.nodes[fault.node]
  const untilMs = clock.now() + forMs
  const later = (/** @type {() => void} */ then) => clock.after(forMs, then, true)
  switch (kind) {
    case 'move':
      if (cluster.nodes[to].up && !cluster.nodes[to].replica) cluster.move(slots, to)
      return
    case 'migrate':
      if (cluster.nodes[to].up && !cluster.nodes[to].replica) cluster.migrate(slots, to, forMs)
      return
    case 'refuse':
    case 'fatal':
      node.refusals.push({ line, share, untilMs })
      return
    case 'misdirect':
      node.misdirections.push({ to: to === fault.node ? outside : cluster.nodes[to].address, share, untilMs })
      return
    case 'silence':
      node.silentUntilMs = Math.max(node.silentUntilMs, untilMs)
      return
    // Its slots go while it owes replies, and the others tell: what it owes must not be passed.
    case 'handover':
      if (!cluster.nodes[to].up || cluster.nodes[to].replica || to === fault.node) return
      node.silentUntilMs = Math.max(node.silentUntilMs, clock.now() + forMs + 400)
      cluster.move(slots, to)
      for (const other of cluster.nodes) if (other !== node) cluster.cut(other, mode)
      return
    case 'slow':
    case 'overload':
    case 'burden':
      node.slowness =
        kind === 'burden'
          ? burdened
          : kind === 'slow'
            ? random.pick([50, 500, 5000])
            : random.pick([1000, 3000, 6000])
      later(() => {
        node.slowness = 1
      })
      return
    case 'trickle':
      node.trickling = true
      later(() => {
        node.trickling = false
      })
      return
    case 'cut':
      cluster.cut(node, mode)
      return
    case 'full':
      node.full = true
      cluster.cut(node, mode)
      later(() => {
        node.full = false
      })
      return
    case 'down':
      cluster.cut(node, mode)
      node.up = false
      node.scripts.clear()
      later(() => cluster.start(node))
      return
    case 'failover': {
      const heir = cluster.nodes.find(
        (each) => each.index >= masters && each.up && !each.replica && !cluster.owns(each),
      )
      if (!heir || !cluster.owns(node)) return
      // Frozen rather than dead: it wakes up as a replica.
      if (mode === 'before') node.silentUntilMs = untilMs
      else {
        cluster.cut(node, mode)
        node.up = false
        later(() => cluster.start(node))
      }
      clock.after(forMs / 2, () => cluster.replace(node, heir), true)
      return
    }
    case 'forget':
      for (const each of cluster.nodes) each.scripts.clear()
      return
    case 'half-open':
      cluster.forgetConnections(node, mode)
      return
    // Somebody else's keys are found when one of them becomes a master.
    case 'occupied':
      for (const each of cluster.nodes) if (!cluster.owns(each)) each.foreign = true
      return
    // For longer than a run goes on with: it is to end, and nothing is to go there.
    case 'lead-astray':
      node.misdirections.push({ to: outside, share: 1, untilMs: clock.now() + forMs })
      return
    case 'corrupt':
      node.corrupt = true
      return
    case 'map': {
      const old = cluster.topology()
      /** @type {Record<string, SimulatedCluster['lies'][number]>} */
      const lies = {
        stale: () => old,
        wrong: (told) => ({
          ...told,
          owners:
            told.owners?.map((owner, slot) =>
              slot >= slots[0] && slot < slots[1] ? (owner + 1) % told.masters.length : owner,
            ) ?? null,
        }),
        hole: (told) => ({
          ...told,
          owners:
            told.owners?.map((owner, slot) => (slot >= slots[0] && slot < slots[1] ? 0xffff : owner)) ?? null,
        }),
        fails: () => null,
        outside: (told) => ({
          ...told,
          masters: [...told.masters, outside],
          owners:
            told.owners?.map((owner, slot) =>
              slot >= slots[0] && slot < slots[1] ? told.masters.length : owner,
            ) ?? null,
        }),
      }
      const lie = lies[line]
      cluster.lies.push(lie)
      later(() => {
        cluster.lies.splice(cluster.lies.indexOf(lie), 1)
      })
    }
  }
}
