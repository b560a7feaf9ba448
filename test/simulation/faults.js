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

/** As often as they are drawn. */
const kinds =
  'refuse refuse silence slow trickle cut cut cut down failover forget corrupt full fatal half-open overload overload'
const clusterKinds =
  'move move migrate migrate migrate map map misdirect handover handover occupied lead-astray'
/** Items may be lost to these even where steps are repeatable. */
const lossy = 'silence handover slow down failover fatal full half-open overload lead-astray'
/** A run may end at these, before it goes on with a server that was not checked. */
const ending = 'occupied lead-astray misdirect map'
/** Clients are sent to servers that do not own the slot. */
const misleading = 'misdirect map lead-astray'
// Long enough to be noticed, given up and repeated; or for a batch to wait while its next two are due.
const long = 'half-open lead-astray overload'
const longMs = 7000

const anyOf = (/** @type {string} */ names) => (/** @type {readonly Fault[]} */ faults) =>
  faults.some(({ kind }) => names.split(' ').includes(kind))
export const areLossy = anyOf(lossy)
export const mayEnd = anyOf(ending)
export const areMisleading = anyOf(misleading)

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
const spanMs = 600
/** Nobody of the cluster is there. */
const outside = '127.0.0.1:6001'

/** @param {Told} told @param {[number, number]} slots @param {(owner: number) => number} ownerOf */
const withOwners = (told, [from, end], ownerOf) => ({
  ...told,
  owners: told.owners?.map((owner, slot) => (slot >= from && slot < end ? ownerOf(owner) : owner)) ?? null,
})
/** What a node reports instead of the map. @type {Record<string, (told: Told, slots: [number, number], old: Told) => Told | null>} */
const maps = {
  stale: (_told, _slots, old) => old,
  wrong: (told, slots) => withOwners(told, slots, (owner) => (owner + 1) % told.masters.length),
  hole: (told, slots) => withOwners(told, slots, () => 0xffff),
  fails: () => null,
  outside: (told, slots) => ({
    ...withOwners(told, slots, () => told.masters.length),
    masters: [...told.masters, outside],
  }),
}

/** @param {Random} random @param {{ cluster: boolean, masters: number, spares: number, fromMs: number, toMs: number }} where @returns {Fault[]} */
export const drawFaults = (random, { cluster, masters, spares, fromMs, toMs }) => {
  const list = (cluster ? `${kinds} ${clusterKinds}` : kinds).split(' ')
  // Close together in every other seed: then one begins before the last is over.
  const closeMs = random.chance(0.5) ? fromMs + random.below(toMs - fromMs - spanMs) : null
  return Array.from({ length: random.below(7) }, () => {
    const kind = random.pick(list)
    const first = random.below(slotCount - 1)
    const drawnMs = 50 + random.below(random.chance(0.2) ? 3000 : 900)
    return {
      kind,
      atMs:
        closeMs === null
          ? fromMs + random.below(Math.max(1, toMs - fromMs - drawnMs))
          : closeMs + random.below(spanMs),
      forMs: long.split(' ').includes(kind) ? longMs : drawnMs,
      node: random.below(masters),
      to: random.below(masters + spares),
      slots: /** @type {[number, number]} */ ([first, first + 1 + random.below(slotCount - first)]),
      share: random.pick([0.05, 0.3, 1]),
      line: random.pick(kind === 'fatal' ? fatal : kind === 'map' ? Object.keys(maps) : refusals),
      mode: random.pick(/** @type {const} */ (['before', 'after', 'torn'])),
    }
  }).sort((a, b) => a.atMs - b.atMs)
}

/** @param {Fault} fault */
export const describeFault = ({ kind, atMs, forMs, node, to, slots, share, line, mode }) => {
  const range = slots.join('-')
  const how = `node ${node}, ${mode}`
  const refused = `${line.split(' ')[0]} to ${share} of node ${node}'s for ${forMs} ms`
  /** @type {Record<string, string>} */
  const texts = {
    ...{ move: `slots ${range} to ${to}`, migrate: `slots ${range} to ${to} in ${forMs} ms` },
    ...{ refuse: refused, fatal: refused, map: `${line} for ${forMs} ms` },
    misdirect: `${share} of node ${node}'s to ${to} for ${forMs} ms`,
    ...{ cut: how, failover: how, 'half-open': how },
    occupied: 'the nodes without slots',
    'lead-astray': `node ${node}'s slots ${range} to ${outside}`,
  }
  return `${atMs} ms: ${kind} ${texts[kind] ?? `node ${node} for ${forMs} ms`}`
}

/** @param {Scene} scene */
const refuse = ({ node, line, share, untilMs }) => void node.refusals.push({ line, share, untilMs })
const canTake = (/** @type {Node} */ node) => node.up && !node.replica
/** Until the fault is over. @param {(random: Random) => Partial<Node>} stateOf @param {Partial<Node>} after */
const altered =
  (stateOf, after) =>
  (/** @type {Scene} */ { node, random, later }) => {
    Object.assign(node, stateOf(random))
    later(() => void Object.assign(node, after))
  }
/** @param {(random: Random) => number} slownessOf */
const slowed = (slownessOf) => altered((random) => ({ slowness: slownessOf(random) }), { slowness: 1 })
const silence = (/** @type {Node} */ node, /** @type {number} */ untilMs) => {
  node.silentUntilMs = Math.max(node.silentUntilMs, untilMs)
}
const cut = (/** @type {Scene} */ { cluster, node, mode }) => cluster.cut(node, mode)
const kill = (/** @type {Scene} */ { cluster, node, mode, later }) => {
  cluster.cut(node, mode)
  node.up = false
  later(() => cluster.start(node))
}

/** @type {Record<string, (scene: Scene) => void>} */
const acts = {
  ...{ refuse, fatal: refuse, cut },
  silence: ({ node, untilMs }) => silence(node, untilMs),
  slow: slowed((random) => random.pick([50, 500, 5000])),
  overload: slowed((random) => random.pick([1000, 3000, 6000])),
  // A node that executes about a fifteenth of what it could.
  burden: slowed(() => 1.01),
  trickle: altered(() => ({ trickling: true }), { trickling: false }),
  full: (scene) => {
    altered(() => ({ full: true }), { full: false })(scene)
    cut(scene)
  },
  down: (scene) => {
    kill(scene)
    scene.node.scripts.clear()
  },
  failover: (scene) => {
    const { cluster, clock, node, forMs, untilMs, masters } = scene
    const heir = cluster.nodes.find((each) => each.index >= masters && canTake(each) && !cluster.owns(each))
    if (!heir || !cluster.owns(node)) return
    // Frozen rather than dead: it wakes up as a replica.
    if (scene.mode === 'before') node.silentUntilMs = untilMs
    else kill(scene)
    clock.after(forMs / 2, () => cluster.replace(node, heir), true)
  },
  forget: ({ cluster }) => {
    for (const each of cluster.nodes) each.scripts.clear()
  },
  corrupt: ({ node }) => {
    node.corrupt = true
  },
  'half-open': ({ cluster, node, mode }) => cluster.forgetConnections(node, mode),
  move: ({ cluster, slots, to }) => canTake(to) && cluster.move(slots, to.index),
  migrate: ({ cluster, slots, to, forMs }) => canTake(to) && cluster.migrate(slots, to.index, forMs),
  map: ({ cluster, slots, line, later }) => {
    const old = cluster.topology()
    const lie = (/** @type {Told} */ told) => maps[line](told, slots, old)
    cluster.lies.push(lie)
    later(() => void cluster.lies.splice(cluster.lies.indexOf(lie), 1))
  },
  misdirect: ({ node, to, share, untilMs }) =>
    void node.misdirections.push({ to: to === node ? outside : to.address, share, untilMs }),
  // Its slots go while it owes replies, and the others tell: what it owes must not be passed.
  handover: ({ cluster, node, to, slots, untilMs, mode }) => {
    if (!canTake(to) || to === node) return
    silence(node, untilMs + 400)
    cluster.move(slots, to.index)
    for (const other of cluster.nodes) if (other !== node) cluster.cut(other, mode)
  },
  // Keys of another application are found when one of them becomes a master.
  occupied: ({ cluster }) => {
    for (const each of cluster.nodes) if (!cluster.owns(each)) each.foreign = true
  },
  // For longer than a run goes on with: it is to end, and nothing is to go there.
  'lead-astray': ({ node, untilMs }) => void node.misdirections.push({ to: outside, share: 1, untilMs }),
}

export const playFault = (/** @type {Fault} */ fault, /** @type {Stage} */ stage) => {
  const { clock, cluster } = stage
  acts[fault.kind]({
    ...{ ...fault, ...stage, node: cluster.nodes[fault.node], to: cluster.nodes[fault.to] },
    untilMs: clock.now() + fault.forMs,
    later: (then) => clock.after(fault.forMs, then, true),
  })
}
